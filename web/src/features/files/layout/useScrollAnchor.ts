import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { RowOrder } from '../selection/selection.js';
import { type Layout, lineOf, positionOf } from './layout.js';

/** How many entries are tried as the anchor. If all of them are gone, the scroll offset stays. */
const maxCandidates = 30;

/** An entry that was lower on screen before another layout is raised so far that also a tile is whole. */
const lowest = 160;

/** The rows of a folder as they are laid out. */
export interface Arranged {
	rows: RowOrder;
	layout: Layout;
}

export interface ScrollAnchorOptions {
	scroller: RefObject<HTMLElement | null>;
	rows: RowOrder | undefined;
	layout: Layout;
	folderKey: string;
	/** The scroll offset before this render: a shorter list has cut it already when its element is asked. */
	scrollTop: number;
	/** The entry with the cursor, which stays on screen if the layout changes while it is there. */
	cursor: number | undefined;
}

/** Keeps the entries on screen in their place when others are added or removed above them, and on screen when the layout changes. */
export function useScrollAnchor(options: ScrollAnchorOptions): void {
	const { scroller, rows, layout, folderKey, cursor } = options;
	const shown = useRef({ rows, layout, folderKey, cursor });
	useLayoutEffect(() => {
		const before = shown.current;
		shown.current = { rows, layout, folderKey, cursor };
		const element = scroller.current;
		if (!element || !rows || !before.rows || before.folderKey !== folderKey) return;
		if (before.rows === rows && before.layout === layout) return;
		const left = before.layout === layout ? element.scrollTop : options.scrollTop;
		const scrollTop = anchoredScroll(
			{ rows: before.rows, layout: before.layout },
			{ rows, layout },
			left,
			cursorOnScreen(before, left, element.clientHeight),
		);
		if (scrollTop !== element.scrollTop) element.scrollTop = scrollTop;
	}, [scroller, rows, layout, folderKey, cursor, options.scrollTop]);
}

function cursorOnScreen(
	{ layout, cursor }: { layout: Layout; cursor: number | undefined },
	scrollTop: number,
	height: number,
): number | undefined {
	if (cursor === undefined) return undefined;
	const { top } = positionOf(layout, cursor);
	return top + layout.height > scrollTop && top < scrollTop + height ? cursor : undefined;
}

/**
 * The scroll offset at which the first remaining entry on screen does not move; after another layout, at which that one, or
 * `preferred`, is on screen. A list at its top stays there.
 */
export function anchoredScroll(before: Arranged, after: Arranged, scrollTop: number, preferred?: number): number {
	if (scrollTop <= 0) return scrollTop;
	const hasNewLayout = before.layout !== after.layout;
	const atTop =
		Math.max(0, Math.floor((scrollTop - before.layout.padding) / before.layout.lineStep)) * before.layout.columns;
	const first = hasNewLayout ? (preferred ?? atTop) : atTop;
	for (let index = first; index < Math.min(first + maxCandidates, before.rows.count); index++) {
		const key = before.rows.keyAt(index) as string;
		const now = after.rows.keyAt(index) === key ? index : after.rows.indexOf(key);
		if (now === undefined) continue;
		if (!hasNewLayout) {
			return scrollTop + (lineOf(after.layout, now) - lineOf(before.layout, index)) * after.layout.lineStep;
		}
		const below = Math.min(lowest, Math.max(0, positionOf(before.layout, index).top - scrollTop));
		return Math.max(0, positionOf(after.layout, now).top - below);
	}
	return scrollTop;
}
