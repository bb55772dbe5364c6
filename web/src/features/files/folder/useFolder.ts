import type { Entry, LetterFilter } from '@stowage/rules';
import { useCallback, useEffect, useReducer, useRef } from 'react';
import { keyOf } from '../list/rows.js';
import {
	emptySelection,
	type RowKey,
	reduceSelection,
	type Selection,
	type SelectionAction,
} from '../selection/selection.js';
import { type FolderStorage, loadFolder, type SavedFolder, saveFolder, selectionOf } from './savedFolder.js';

interface FolderState {
	key: string;
	letter: LetterFilter;
	selection: Selection;
	/** The scroll offset at which the list begins. */
	scrollTop: number;
	/** A row to scroll to once it is there. */
	revealed: RowKey | undefined;
}

type FolderAction =
	| { type: 'entered'; state: FolderState }
	| { type: 'filtered'; letter: LetterFilter }
	| { type: 'shown'; key: RowKey }
	| { type: 'revealed' }
	| { type: 'selection'; action: SelectionAction };

function reduce(state: FolderState, action: FolderAction): FolderState {
	switch (action.type) {
		case 'entered':
			return action.state;
		case 'filtered':
			return { ...state, letter: action.letter };
		case 'shown': {
			const selection = reduceSelection(state.selection, { type: 'only', at: { key: action.key, index: 0 } });
			return { ...state, selection, revealed: action.key };
		}
		case 'revealed':
			return { ...state, revealed: undefined };
		case 'selection':
			return { ...state, selection: reduceSelection(state.selection, action.action) };
	}
}

export interface Folder extends FolderState {
	select: (action: SelectionAction) => void;
	filter: (letter: LetterFilter) => void;
	/** Selects an entry and scrolls to it, now or once it is in the list. */
	show: (entry: Entry) => void;
	onRevealed: () => void;
	onScroll: (scrollTop: number) => void;
}

/** The kind of navigation that led to a folder. */
export interface FolderArrival {
	/** By Back, Forward or a reload: then the folder is as it was left. */
	isReturn: boolean;
	/** The row at which the cursor begins, such as the folder that was left upwards. */
	startKey: RowKey | undefined;
}

/** Selection, cursor, letter filter and scroll offset of the folder on screen. They survive a reload and going back. */
export function useFolder(key: string, arrival: FolderArrival): Folder {
	const [state, dispatch] = useReducer(reduce, undefined, () => enter(key, arrival));
	// Adjusted while rendering, so that no frame shows one folder with the selection of another.
	const current = state.key === key ? state : enter(key, arrival);
	if (current !== state) dispatch({ type: 'entered', state: current });

	const latest = useRef({ state: current, scrollTop: current.scrollTop });
	useEffect(() => {
		const { scrollTop } = latest.current.state.key === current.key ? latest.current : current;
		latest.current = { state: current, scrollTop };
	}, [current]);

	useEffect(() => {
		const save = () => {
			const { state: last, scrollTop } = latest.current;
			const { letter, selection } = last;
			const saved: SavedFolder = { letter, scrollTop, selected: [...selection.selected], cursor: selection.cursor };
			const storage = folderStorage();
			if (storage && last.key === key) saveFolder(storage, key, saved);
		};
		window.addEventListener('pagehide', save);
		document.addEventListener('visibilitychange', save);
		return () => {
			window.removeEventListener('pagehide', save);
			document.removeEventListener('visibilitychange', save);
			save();
		};
	}, [key]);

	return {
		...current,
		select: useCallback((action: SelectionAction) => dispatch({ type: 'selection', action }), []),
		filter: useCallback((letter: LetterFilter) => dispatch({ type: 'filtered', letter }), []),
		show: useCallback((entry: Entry) => dispatch({ type: 'shown', key: keyOf(entry) }), []),
		onRevealed: useCallback(() => dispatch({ type: 'revealed' }), []),
		onScroll: useCallback(
			(scrollTop: number) => {
				if (latest.current.state.key === key) latest.current.scrollTop = scrollTop;
			},
			[key],
		),
	};
}

function enter(key: string, { isReturn, startKey }: FolderArrival): FolderState {
	const storage = isReturn ? folderStorage() : undefined;
	const saved = storage && loadFolder(storage, key);
	const cursor = startKey === undefined ? undefined : { key: startKey, index: 0 };
	return {
		key,
		letter: saved?.letter ?? 'ALL',
		selection: saved ? selectionOf(saved) : { ...emptySelection, cursor, anchor: startKey },
		scrollTop: saved?.scrollTop ?? 0,
		revealed: saved ? undefined : startKey,
	};
}

/** Undefined if the browser forbids it, which throws already when it is accessed. */
function folderStorage(): FolderStorage | undefined {
	try {
		return window.sessionStorage;
	} catch {
		return undefined;
	}
}
