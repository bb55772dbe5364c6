import type { Entry, LetterFilter } from '@stowage/rules';
import { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'react';
import { useLatest } from '../../../ui/useLatest.js';
import { keyOf } from '../list/rows.js';
import type { SelectionAction } from '../selection/selection.js';
import {
	arrive,
	enterFolder,
	type FolderAction,
	type FolderState,
	foldersToSave,
	reduceFolders,
	type Visit,
} from './folders.js';
import { type FolderStorage, readFolders, writeFolders } from './savedFolders.js';

export interface Folder extends FolderState {
	select: (action: SelectionAction) => void;
	filter: (letter: LetterFilter) => void;
	/** Selects an entry and scrolls to it, now or once it is in the list. */
	show: (entry: Entry) => void;
	onRevealed: () => void;
	onScroll: (scrollTop: number) => void;
}

/** Selection, cursor, letter filter and scroll offset of the folder on screen. They survive a reload and going back. */
export function useFolder({ key, user, isReturn, startKey, isStartSelected }: Visit): Folder {
	const visit = useMemo(
		() => ({ key, user, isReturn, startKey, isStartSelected }),
		[key, user, isReturn, startKey, isStartSelected],
	);
	const [state, dispatch] = useReducer(reduceFolders, visit, (first) => arrive(first, readFolders(folderStorage())));
	// Calculated, so that no frame shows one folder with the selection of another; the reducer follows.
	const folders = useMemo(() => enterFolder(state, visit), [state, visit]);
	useLayoutEffect(() => {
		if (folders !== state) dispatch({ type: 'entered', folders });
	}, [folders, state]);

	const latest = useLatest(folders);
	// No state, since nothing is rendered from it.
	const scrolled = useRef({ key, scrollTop: folders.current.scrollTop });
	useEffect(() => {
		scrolled.current = { key, scrollTop: latest.current.current.scrollTop };
		const save = () => {
			const left = foldersToSave(latest.current, { key, user }, scrolled.current.scrollTop);
			writeFolders(folderStorage(), left);
			return left;
		};
		window.addEventListener('pagehide', save);
		document.addEventListener('visibilitychange', save);
		return () => {
			window.removeEventListener('pagehide', save);
			document.removeEventListener('visibilitychange', save);
			dispatch({ type: 'left', left: save() });
		};
	}, [key, user]);

	const act = useCallback((action: FolderAction) => dispatch({ type: 'visited', visit, action }), [visit]);
	return {
		...folders.current,
		select: useCallback((action: SelectionAction) => act({ type: 'selection', action }), [act]),
		filter: useCallback((letter: LetterFilter) => act({ type: 'filtered', letter }), [act]),
		show: useCallback(
			(entry: Entry) => {
				// It is called when a call has ended, by which time another folder may be on screen.
				if (latest.current.current.key === visit.key) act({ type: 'shown', key: keyOf(entry), name: entry.name });
			},
			[act, visit],
		),
		onRevealed: useCallback(() => act({ type: 'revealed' }), [act]),
		onScroll: useCallback(
			(scrollTop: number) => {
				if (scrolled.current.key === key) scrolled.current = { key, scrollTop };
			},
			[key],
		),
	};
}

/** The browser's storage; undefined if the browser forbids it, which throws already when it is accessed. */
function folderStorage(): FolderStorage | undefined {
	try {
		return window.sessionStorage;
	} catch {
		return undefined;
	}
}
