import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { RowOrder } from '../selection/selection.js';

/** Rows tried as the fixed point; when all of them have gone, the list stays at its offset. */
const tried = 30;

/** Keeps what one looks at in its place when rows come or go above it. */
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

/** Where to scroll so that the first row on screen that is still there does not move. A list at its top stays there. */
export function anchoredScroll(before: RowOrder, after: RowOrder, scrollTop: number, rowHeight: number): number {
	if (scrollTop <= 0) return scrollTop;
	const first = Math.floor(scrollTop / rowHeight);
	for (let index = first; index < Math.min(first + tried, before.keys.length); index++) {
		const key = before.keys[index] as string;
		const now = after.keys[index] === key ? index : after.indexOf(key);
		if (now !== undefined) return scrollTop + (now - index) * rowHeight;
	}
	return scrollTop;
}
