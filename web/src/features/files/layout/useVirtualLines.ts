import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useLayoutEffect } from 'react';
import type { View } from '../../../ui/useView.js';
import { type Layout, lineCount, lineOf, noticeRoom } from './layout.js';

/** Lines that are rendered beyond the edges, so that fast scrolling shows no gap. */
const overscan: Readonly<Record<View, number>> = { list: 6, grid: 1 };

export interface VirtualLines {
	/** The entries that are rendered, by their indexes. */
	rendered: readonly number[];
	/** Scrolls so far that this entry is on screen. */
	scrollTo: (index: number) => void;
	/** The scroll offset of the last render. */
	scrollTop: number;
}

/**
 * The lines on screen, and those near it. The entry with the cursor stays rendered when it is scrolled away, or the
 * focus would be lost. Of the scroller `covered` pixels at its lower edge are covered by notices.
 */
export function useVirtualLines(
	scroller: RefObject<HTMLElement | null>,
	view: View,
	layout: Layout,
	count: number,
	cursor: number | undefined,
	covered: number,
): VirtualLines {
	const virtualizer = useVirtualizer({
		count: lineCount(layout, count),
		getScrollElement: () => scroller.current,
		estimateSize: () => layout.lineStep,
		paddingStart: layout.padding,
		paddingEnd: layout.padding,
		scrollPaddingEnd: covered || noticeRoom(window.innerWidth),
		overscan: overscan[view],
	});
	// Before anything scrolls: the sizes of another layout are cached.
	useLayoutEffect(() => {
		if (layout.lineStep > 0) virtualizer.measure();
	}, [virtualizer, layout]);
	const scrollTo = useCallback(
		(index: number) => virtualizer.scrollToIndex(lineOf(layout, index), { align: 'auto' }),
		[virtualizer, layout],
	);
	const lines = virtualizer.getVirtualItems();
	const first = (lines[0]?.index ?? 0) * layout.columns;
	const end = Math.min(count, ((lines.at(-1)?.index ?? -1) + 1) * layout.columns);
	const rendered = Array.from({ length: Math.max(0, end - first) }, (_, step) => first + step);
	if (cursor !== undefined && cursor < count && (cursor < first || cursor >= end)) rendered.push(cursor);
	return { rendered, scrollTo, scrollTop: virtualizer.scrollOffset ?? 0 };
}
