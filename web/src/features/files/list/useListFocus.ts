import { type FocusEvent, type RefObject, useCallback, useLayoutEffect, useRef } from 'react';
import type { ListedFolder } from '../folder/useFolderView.js';
import { cursorAt } from '../selection/selection.js';
import { rowIndexOf } from './useListPointer.js';

export interface ListFocus {
	/** The ref of the row with the cursor. */
	cursorRef: (row: HTMLElement | null) => void;
	/** The row with the cursor, or the list if it is empty. */
	cursorElement: () => HTMLElement | null;
	/** Moves the focus to the row with the cursor. */
	focusCursor: () => void;
	/** Moves the focus to the row at this index, to which the cursor is moved as well, and scrolls the page to it. */
	focusRow: (index: number) => void;
	handlers: { onFocus: (event: FocusEvent) => void; onBlur: (event: FocusEvent) => void };
}

/** Keeps the focus of the list on the row with the cursor, also when that is removed, arrives or becomes another. */
export function useListFocus(
	grid: RefObject<HTMLElement | null>,
	{ rows, select }: Pick<ListedFolder, 'rows' | 'select'>,
	cursor: number | undefined,
): ListFocus {
	const row = useRef<HTMLElement>(null);
	/** The row with the cursor is to get the focus as soon as it is rendered. */
	const isExpected = useRef(false);
	/** The focus was in the list when it was last anywhere. */
	const hadFocus = useRef(false);

	const cursorElement = useCallback(() => row.current ?? grid.current, [grid]);
	const focusCursor = useCallback(() => {
		isExpected.current = false;
		const target = cursorElement();
		if (target !== document.activeElement) target?.focus({ preventScroll: true });
	}, [cursorElement]);
	// Called when another row gets the cursor, or another element becomes that row.
	const cursorRef = useCallback(
		(element: HTMLElement | null) => {
			row.current = element;
			if (!element) return;
			// When the row with the focus is removed, the focus falls to the body.
			const isLost = hadFocus.current && document.activeElement === document.body;
			const isKeyed = isExpected.current;
			if (isKeyed || isLost || document.activeElement === grid.current) focusCursor();
			if (isKeyed) scrollPageTo(element);
		},
		[grid, focusCursor],
	);
	useLayoutEffect(() => {
		// No row is left that could take it.
		if (cursor === undefined && hadFocus.current && document.activeElement === document.body) focusCursor();
	}, [cursor, focusCursor]);

	return {
		cursorRef,
		cursorElement,
		focusCursor,
		focusRow: (index) => {
			if (index !== cursor) {
				isExpected.current = true;
				return;
			}
			focusCursor();
			scrollPageTo(row.current);
		},
		handlers: {
			onFocus(event) {
				hadFocus.current = true;
				const index = rowIndexOf(event.target);
				const at = rows && index !== undefined ? cursorAt(rows, index) : undefined;
				// A closing dialog returns it to where it was, but the dialog may have moved the cursor, such as to a new folder.
				if (at && index !== cursor && event.relatedTarget?.closest('[role=dialog]')) focusCursor();
				else if (at) select({ type: 'focused', at });
				else if (event.target === grid.current) row.current?.focus({ preventScroll: true });
			},
			onBlur(event) {
				// `relatedTarget` is null when the row is removed or the window loses the focus; the list keeps it then.
				if (event.relatedTarget instanceof Node && !event.currentTarget.contains(event.relatedTarget)) {
					hadFocus.current = false;
				}
			},
		},
	};
}

/** The list scrolls its rows itself, but in a low window, or below other parts of a page, it is partly outside of the window. */
function scrollPageTo(row: HTMLElement | null): void {
	row?.scrollIntoView({ block: 'nearest' });
}
