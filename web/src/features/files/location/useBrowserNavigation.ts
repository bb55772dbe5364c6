import {
	type Area,
	parentPath,
	rootPath,
	type SortColumn,
	type StoragePath,
	toggleSort,
	type Viewer,
} from '@stowage/rules';
import { useLocation, useNavigate, useNavigationType } from 'react-router';
import type { Search } from '../../../api/listings/search.js';
import { useFirstLocation } from '../../../ui/firstLocation.js';
import type { Visit } from '../folder/folders.js';
import { keyOf } from '../list/rows.js';
import { type BrowserLocation, homeHref, hrefOf, toLocation } from './location.js';

export interface BrowserNavigation {
	/** The kind of navigation that led to this folder. */
	arrival: Omit<Visit, 'key'>;
	hrefOf: (directory: StoragePath) => string;
	goTo: (directory: StoragePath, area?: Area) => void;
	goHome: () => void;
	/** The cursor begins at the folder that was left. */
	goUp: () => void;
	/** Another term, other filters, or both. */
	search: (search: Partial<Search>) => void;
	sort: (column: SortColumn) => void;
}

/** Navigation from a location in the browser to others. */
export function useBrowserNavigation(location: BrowserLocation, viewer: Viewer): BrowserNavigation {
	const navigate = useNavigate();
	const isReturn = useIsReturn();
	const { state } = useLocation();
	const start: unknown = state?.start;
	const { area, directory, sort } = location;
	return {
		arrival: {
			isReturn,
			startKey: typeof start === 'string' ? start : undefined,
			isStartSelected: state?.isStartSelected === true,
		},
		hrefOf: (to) => hrefOf(toLocation(location, to)),
		goTo: (to, toArea) => void navigate(hrefOf(toLocation(location, to, toArea))),
		goHome: () => void navigate(homeHref(location)),
		goUp: () => {
			if (directory === rootPath) return;
			const owner = area === 'public' && viewer.kind === 'user' ? viewer.username : undefined;
			const from = keyOf({ path: directory, owner });
			void navigate(hrefOf(toLocation(location, parentPath(directory))), { state: { start: from } });
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
