import {
	type Area,
	parentPath,
	rootPath,
	type SortColumn,
	type StoragePath,
	toggleSort,
	type Viewer,
} from '@stowage/rules';
import { useLocation, useNavigate } from 'react-router';
import { type BrowserLocation, homeHref, hrefOf, placeIn } from './location.js';
import { keyOf } from './rows.js';
import type { FolderEntry } from './useFolder.js';
import { useIsReturn } from './useIsReturn.js';

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
