import {
	type Area,
	parentPath,
	rootPath,
	type SortColumn,
	type StoragePath,
	toggleSort,
	type Viewer,
} from '@stowage/rules';
import { useEffect } from 'react';
import { useLocation, useNavigate, useNavigationType } from 'react-router';
import type { FolderArrival } from '../folder/useFolder.js';
import { keyOf } from '../list/rows.js';
import { type BrowserLocation, homeHref, hrefOf, toLocation } from './location.js';

export interface BrowserNavigation {
	/** The kind of navigation that led to this folder. */
	arrival: FolderArrival;
	hrefOf: (directory: StoragePath) => string;
	goTo: (directory: StoragePath, area?: Area) => void;
	goHome: () => void;
	/** The cursor begins at the folder that was left. */
	goUp: () => void;
	search: (term: string) => void;
	sort: (column: SortColumn) => void;
}

/** Navigation from a location in the browser to others. */
export function useBrowserNavigation(location: BrowserLocation, viewer: Viewer): BrowserNavigation {
	const navigate = useNavigate();
	const isReturn = useIsReturn();
	const { state } = useLocation();
	const start: unknown = state?.start;
	const { area, directory, search, sort } = location;
	return {
		arrival: { isReturn, startKey: typeof start === 'string' ? start : undefined },
		hrefOf: (to) => hrefOf(toLocation(location, to)),
		goTo: (to, toArea) => void navigate(hrefOf(toLocation(location, to, toArea))),
		goHome: () => void navigate(homeHref(location)),
		goUp: () => {
			if (directory === rootPath) return;
			const owner = area === 'public' && viewer.kind === 'user' ? viewer.username : undefined;
			const from = keyOf({ path: directory, owner });
			void navigate(hrefOf(toLocation(location, parentPath(directory))), { state: { start: from } });
		},
		search: (term) => {
			if (term !== search) void navigate(hrefOf({ ...location, search: term }));
		},
		// Replaces the entry in the history, so that Back leaves the folder instead of undoing the sort.
		sort: (column) => void navigate(hrefOf({ ...location, sort: toggleSort(sort, column) }), { replace: true, state }),
	};
}

/** Whether this document has navigated before: only then can a `POP` be a way back. */
let hasNavigated = false;

/** Whether the user came back to this location by the browser's Back or Forward or by a reload. */
function useIsReturn(): boolean {
	const type = useNavigationType();
	useEffect(() => {
		if (type !== 'POP') hasNavigated = true;
	}, [type]);
	// The first page of a visit is a `POP` as well.
	return type === 'POP' && (hasNavigated || wasReloaded());
}

function wasReloaded(): boolean {
	const [navigation] = performance.getEntriesByType('navigation');
	return navigation instanceof PerformanceNavigationTiming && navigation.type !== 'navigate';
}
