import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { RowKey, RowOrder } from '../selection/selection.js';

export interface ScrollPositionOptions {
	scroller: RefObject<HTMLElement | null>;
	/** Undefined while they are loading. */
	rows: RowOrder | undefined;
	folderKey: string;
	/** The scroll offset at which the folder was left. */
	savedScrollTop: number;
	/** A row to scroll to once it is there. */
	revealed: RowKey | undefined;
	onRevealed: () => void;
	scrollTo: (index: number) => void;
}

/** Scrolls to where the folder was left when its rows are there, and to a row that is to be shown. */
export function useScrollPosition(options: ScrollPositionOptions): void {
	const { scroller, rows, folderKey, savedScrollTop, revealed, onRevealed, scrollTo } = options;
	/** The folder whose offset was restored. */
	const restored = useRef<string>(undefined);
	useLayoutEffect(() => {
		// Also for a folder that was left before its rows arrived.
		if (restored.current !== folderKey) restored.current = undefined;
		if (!rows || restored.current === folderKey) return;
		restored.current = folderKey;
		if (scroller.current) scroller.current.scrollTop = savedScrollTop;
	}, [scroller, rows, folderKey, savedScrollTop]);

	useLayoutEffect(() => {
		const index = revealed === undefined ? undefined : rows?.indexOf(revealed);
		if (index === undefined) return;
		scrollTo(index);
		onRevealed();
	}, [revealed, rows, scrollTo, onRevealed]);
}
