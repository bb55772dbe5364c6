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
import type { FolderEntry } from '../folder/useFolder.js';
import { keyOf } from '../list/rows.js';
import { type BrowserLocation, homeHref, hrefOf, placeIn } from './location.js';

export interface Places {
	/** How one came here. */
	entry: FolderEntry;
	hrefOf: (directory: StoragePath) => string;
	go: (directory: StoragePath, area?: Area) => void;
	goHome: () => void;
	/** Begins above at the folder that one comes from. */
	goUp: () => void;
	search: (term: string) => void;
	sort: (column: SortColumn) => void;
}

/** Where one can go from a place in the browser. */
export function usePlaces(location: BrowserLocation, viewer: Viewer): Places {
	const navigate = useNavigate();
	const isReturn = useIsReturn();
	const { state } = useLocation();
	const start: unknown = state?.start;
	const { area, directory, search, sort } = location;
	return {
		entry: { isReturn, start: typeof start === 'string' ? start : undefined },
		hrefOf: (to) => hrefOf(placeIn(location, to)),
		go: (to, toArea) => void navigate(hrefOf(placeIn(location, to, toArea))),
		goHome: () => void navigate(homeHref(location)),
		goUp: () => {
			if (directory === rootPath) return;
			const owner = area === 'public' && viewer.kind === 'user' ? viewer.username : undefined;
			const from = keyOf({ path: directory, owner });
			void navigate(hrefOf(placeIn(location, parentPath(directory))), { state: { start: from } });
		},
		search: (term) => {
			if (term !== search) void navigate(hrefOf({ ...location, search: term }));
		},
		// In place of the entry in the history: Back leaves the folder, not the order.
		sort: (column) => void navigate(hrefOf({ ...location, sort: toggleSort(sort, column) }), { replace: true, state }),
	};
}

/** Whether this document has led from one place to another: only then is there a place in it to go back to. */
let hasMoved = false;

/** Whether one is here again, by going back or by a reload, and not on a way of one's own. */
function useIsReturn(): boolean {
	const type = useNavigationType();
	useEffect(() => {
		if (type !== 'POP') hasMoved = true;
	}, [type]);
	// The first page of a visit is a pop as well; the browser knows how it was come to.
	return type === 'POP' && (hasMoved || wasReloaded());
}

function wasReloaded(): boolean {
	const [navigation] = performance.getEntriesByType('navigation');
	return navigation instanceof PerformanceNavigationTiming && navigation.type !== 'navigate';
}
