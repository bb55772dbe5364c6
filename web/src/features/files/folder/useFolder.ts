import type { LetterFilter } from '@stowage/rules';
import { useCallback, useEffect, useReducer, useRef } from 'react';
import {
	emptySelection,
	type RowKey,
	reduceSelection,
	type Selection,
	type SelectionAction,
} from '../selection/selection.js';
import { type FolderMemory, recallFolder, rememberFolder, type Shelf, selectionOf } from './folderMemory.js';

interface FolderView {
	key: string;
	letter: LetterFilter;
	selection: Selection;
	/** Where the list was left. */
	scrollTop: number;
	/** A row that is to be brought into view once it is there. */
	revealed: RowKey | undefined;
}

type FolderAction =
	| { type: 'entered'; view: FolderView }
	| { type: 'filtered'; letter: LetterFilter }
	| { type: 'reveal'; key: RowKey | undefined }
	| { type: 'selection'; action: SelectionAction };

function reduce(view: FolderView, action: FolderAction): FolderView {
	switch (action.type) {
		case 'entered':
			return action.view;
		case 'filtered':
			return { ...view, letter: action.letter };
		case 'reveal':
			return { ...view, revealed: action.key };
		case 'selection':
			return { ...view, selection: reduceSelection(view.selection, action.action) };
	}
}

export interface Folder extends FolderView {
	select: (action: SelectionAction) => void;
	filter: (letter: LetterFilter) => void;
	/** Puts the cursor on a row and brings it into view, now or once it is there. */
	reveal: (key: RowKey) => void;
	onRevealed: () => void;
	onScroll: (scrollTop: number) => void;
}

export interface FolderEntry {
	/** Whether this is a way back or a reload: then the folder is as it was left. */
	isReturn: boolean;
	/** The row to begin at, as the folder that one came up from. */
	start: RowKey | undefined;
}

/** Selection, cursor, letter and scroll of the folder on screen. They survive a reload and going back. */
export function useFolder(key: string, entry: FolderEntry): Folder {
	const [view, dispatch] = useReducer(reduce, undefined, () => enter(key, entry));
	// Adjusted while rendering, so that no frame shows one folder with the selection of another.
	const current = view.key === key ? view : enter(key, entry);
	if (current !== view) dispatch({ type: 'entered', view: current });

	const left = useRef({ view: current, scrollTop: current.scrollTop });
	useEffect(() => {
		const { scrollTop } = left.current.view.key === current.key ? left.current : current;
		left.current = { view: current, scrollTop };
	}, [current]);

	useEffect(() => {
		const remember = () => {
			const { view: last, scrollTop } = left.current;
			const { letter, selection } = last;
			const memory: FolderMemory = { letter, scrollTop, selected: [...selection.selected], cursor: selection.cursor };
			const shelf = openShelf();
			if (shelf && last.key === key) rememberFolder(shelf, key, memory);
		};
		window.addEventListener('pagehide', remember);
		document.addEventListener('visibilitychange', remember);
		return () => {
			window.removeEventListener('pagehide', remember);
			document.removeEventListener('visibilitychange', remember);
			remember();
		};
	}, [key]);

	const select = useCallback((action: SelectionAction) => dispatch({ type: 'selection', action }), []);
	return {
		...current,
		select,
		filter: useCallback((letter: LetterFilter) => dispatch({ type: 'filtered', letter }), []),
		reveal: useCallback((target: RowKey) => {
			dispatch({ type: 'selection', action: { type: 'moved', to: { key: target, index: 0 } } });
			dispatch({ type: 'reveal', key: target });
		}, []),
		onRevealed: useCallback(() => dispatch({ type: 'reveal', key: undefined }), []),
		onScroll: useCallback(
			(scrollTop: number) => {
				if (left.current.view.key === key) left.current.scrollTop = scrollTop;
			},
			[key],
		),
	};
}

function enter(key: string, { isReturn, start }: FolderEntry): FolderView {
	const shelf = isReturn ? openShelf() : undefined;
	const memory = shelf && recallFolder(shelf, key);
	const cursor = start === undefined ? undefined : { key: start, index: 0 };
	return {
		key,
		letter: memory?.letter ?? 'ALL',
		selection: memory ? selectionOf(memory) : { ...emptySelection, cursor, anchor: start },
		scrollTop: memory?.scrollTop ?? 0,
		revealed: memory ? undefined : start,
	};
}

/** Asking for the storage already throws where a browser forbids it. */
function openShelf(): Shelf | undefined {
	try {
		return window.sessionStorage;
	} catch {
		return undefined;
	}
}
