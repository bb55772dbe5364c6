import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { RowOrder } from '../selection/selection.js';

/** How many rows are tried as the anchor. If all of them are gone, the scroll offset stays. */
const maxCandidates = 30;

/** Keeps the rows on screen in their place when rows are added or removed above them. */
export function useScrollAnchor(
	scroller: RefObject<HTMLElement | null>,
	rows: RowOrder | undefined,
	folderKey: string,
	rowHeight: number,
): void {
	const shown = useRef({ rows, folderKey });
	useLayoutEffect(() => {
		const before = shown.current;
		shown.current = { rows, folderKey };
		const element = scroller.current;
		if (!element || !rows || !before.rows || before.rows === rows || before.folderKey !== folderKey) return;
		const scrollTop = anchoredScroll(before.rows, rows, element.scrollTop, rowHeight);
		if (scrollTop !== element.scrollTop) element.scrollTop = scrollTop;
	}, [scroller, rows, folderKey, rowHeight]);
}

/** The scroll offset at which the first remaining row on screen does not move. A list at its top stays there. */
export function anchoredScroll(before: RowOrder, after: RowOrder, scrollTop: number, rowHeight: number): number {
	if (scrollTop <= 0) return scrollTop;
	const first = Math.floor(scrollTop / rowHeight);
	for (let index = first; index < Math.min(first + maxCandidates, before.keys.length); index++) {
		const key = before.keys[index] as string;
		const now = after.keys[index] === key ? index : after.indexOf(key);
		if (now !== undefined) return scrollTop + (now - index) * rowHeight;
	}
	return scrollTop;
}
