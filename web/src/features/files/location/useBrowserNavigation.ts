import {
	type Area,
	type Owner,
	parentPath,
	rootPath,
	type SortColumn,
	type StoragePath,
	toggleSort,
	type Viewer,
} from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate, useNavigationType } from 'react-router';
import { listingQuery } from '../../../api/listings/listingQuery.js';
import { noSearch, type Search } from '../../../api/listings/search.js';
import { useFileSource } from '../../../api/sources/FileSource.js';
import { useFirstLocation } from '../../../ui/firstLocation.js';
import type { Visit } from '../folder/folders.js';
import { keyOf } from '../list/rows.js';
import {
	type BrowserLocation,
	type FolderLocation,
	homeHref,
	hrefOf,
	type ShareLocation,
	shareHref,
	toLocation,
} from './location.js';

/** Leads from a folder to others of the same tree. */
export interface FolderNavigation {
	/** The kind of navigation that led to this folder. */
	arrival: Omit<Visit, 'key' | 'user'>;
	hrefOf: (directory: StoragePath) => string;
	goTo: (directory: StoragePath) => void;
	goHome: () => void;
	/** The cursor begins at the folder that was left. */
	goUp: () => void;
	/** Another term, other filters, or both. */
	search: (search: Partial<Search>) => void;
	sort: (column: SortColumn) => void;
}

export interface BrowserNavigation extends FolderNavigation {
	goTo: (directory: StoragePath, area?: Area) => void;
}

/** Navigation from a location in the browser to others. */
export function useBrowserNavigation(location: BrowserLocation, viewer: Viewer): BrowserNavigation {
	const navigate = useNavigate();
	const owner = location.area === 'public' && viewer.kind === 'user' ? viewer.username : undefined;
	const within = useFolderNavigation(location, { hrefOf, home: homeHref(location), owner });
	return {
		...within,
		goTo(to, toArea = location.area) {
			if (toArea === location.area) within.goTo(to);
			else void navigate(hrefOf(toLocation(location, to, toArea)));
		},
	};
}

/** Navigation within a share. */
export function useShareNavigation(location: ShareLocation): FolderNavigation {
	const home = shareHref({ ...location, directory: rootPath, ...noSearch });
	return useFolderNavigation(location, { hrefOf: shareHref, home, owner: undefined });
}

interface Addresses<L> {
	hrefOf: (location: L) => string;
	home: string;
	/** The owner that the folders around this one have in the list. */
	owner: Owner | undefined;
}

function useFolderNavigation<L extends FolderLocation>(location: L, addresses: Addresses<L>): FolderNavigation {
	const navigate = useNavigate();
	const isReturn = useIsReturn();
	const { state } = useLocation();
	const start: unknown = state?.start;
	const source = useFileSource();
	const queryClient = useQueryClient();
	const { hrefOf, home, owner } = addresses;
	const { directory, sort } = location;
	const hrefIn = (to: StoragePath) => hrefOf({ ...location, directory: to, ...noSearch });
	return {
		arrival: {
			isReturn,
			startKey: typeof start === 'string' ? start : undefined,
			isStartSelected: state?.isStartSelected === true,
		},
		hrefOf: hrefIn,
		goTo: (to) => {
			// It is on its way while the page of the folder is rendered.
			void queryClient.prefetchQuery(listingQuery(source, to, noSearch, sort));
			void navigate(hrefIn(to));
		},
		goHome: () => void navigate(home),
		goUp: () => {
			if (directory === rootPath) return;
			const from = keyOf({ path: directory, owner });
			void navigate(hrefIn(parentPath(directory)), { state: { start: from } });
		},
		search: (search) => {
			const to = hrefOf({ ...location, ...search });
			if (to !== hrefOf(location)) void navigate(to);
		},
		// Replaces the entry in the history, so that Back leaves the folder instead of undoing the sort.
		sort: (column) => void navigate(hrefOf({ ...location, sort: toggleSort(sort, column) }), { replace: true, state }),
	};
}

/** Whether the user came back to this location by the browser's Back or Forward or by a reload. */
export function useIsReturn(): boolean {
	const first = useFirstLocation();
	// The first location of a document is a `POP` as well.
	const hasNavigated = useLocation() !== first;
	return useNavigationType() === 'POP' && (hasNavigated || wasReloaded());
}

function wasReloaded(): boolean {
	const [navigation] = performance.getEntriesByType('navigation');
	return navigation instanceof PerformanceNavigationTiming && navigation.type !== 'navigate';
}
