import { type PointerEvent as ReactPointerEvent, type RefObject, useCallback, useEffect, useRef } from 'react';
import { useLatest } from '../../../ui/useLatest.js';
import type { Layout } from '../layout/layout.js';
import type { Rows } from '../list/rows.js';
import { isDrag, type Point, rangesInRect, rectBetween, scrollAtEdge, updateInterval } from './marquee.js';
import type { RowKey, SelectionAction } from './selection.js';

export interface MarqueeOptions {
	scroller: RefObject<HTMLElement | null>;
	/** The rectangle. It moves with every frame, so its style is set directly. */
	marquee: RefObject<HTMLElement | null>;
	rows: Rows | undefined;
	layout: Layout;
	selected: ReadonlySet<RowKey>;
	dispatch: (action: SelectionAction) => void;
}

export interface Marquee {
	onPointerDown: (event: ReactPointerEvent<HTMLElement>) => void;
	/** Whether the current click ends a marquee. */
	suppressesClick: () => boolean;
}

/** Draws a marquee from empty space or a row's free area, selects the entries that it touches and scrolls at the edges. */
export function useMarquee(options: MarqueeOptions): Marquee {
	const latest = useLatest(options);
	const hasJustEnded = useRef(false);
	const stop = useRef<() => void>(undefined);
	useEffect(() => () => stop.current?.(), []);

	const onPointerDown = useCallback((event: ReactPointerEvent<HTMLElement>) => {
		const list = latest.current.scroller.current;
		if (!list || !startsMarquee(event, list)) return;
		const box = list.getBoundingClientRect();
		const toContent = ({ x, y }: Point): Point => ({ x: x - box.left, y: y - box.top + list.scrollTop });
		const from = { x: event.clientX, y: event.clientY };
		const start = toContent(from);
		const isAdding = event.ctrlKey || event.metaKey || event.shiftKey;
		const before = latest.current.selected;
		const kept: ReadonlySet<RowKey> = isAdding ? before : new Set();
		let pointer = from;
		let isDrawn = false;
		let frame = 0;
		let lastUpdate = 0;

		const draw = () => {
			const { marquee, rows, layout, dispatch } = latest.current;
			const shape = rectBetween(start, toContent(pointer), list.clientWidth, list.scrollHeight);
			if (marquee.current) {
				marquee.current.hidden = false;
				marquee.current.style.transform = `translate(${shape.left}px, ${shape.top}px)`;
				marquee.current.style.width = `${shape.width}px`;
				marquee.current.style.height = `${shape.height}px`;
			}
			const now = performance.now();
			if (!rows || now - lastUpdate < updateInterval) return;
			lastUpdate = now;
			const keys = rangesInRect(shape, layout, rows.count).flatMap(({ first, end }) =>
				rows.keys.slice(Math.max(rows.firstEntry, first), end),
			);
			dispatch({ type: 'marquee', keys, kept });
		};
		// In each frame, since scrolling continues while the pointer rests at an edge.
		const tick = () => {
			list.scrollTop += scrollAtEdge(pointer.y, box.top, box.bottom);
			draw();
			frame = requestAnimationFrame(tick);
		};
		const move = (moved: PointerEvent) => {
			pointer = { x: moved.clientX, y: moved.clientY };
			if (isDrawn || !isDrag(from, pointer)) return;
			isDrawn = true;
			tick();
		};
		const end = () => {
			stop.current?.();
			if (!isDrawn) return;
			lastUpdate = 0;
			draw();
			hide();
			hasJustEnded.current = true;
			// The click of this gesture comes before any timer.
			setTimeout(() => {
				hasJustEnded.current = false;
			});
		};
		const hide = () => {
			const { marquee } = latest.current;
			if (marquee.current) marquee.current.hidden = true;
		};
		const cancel = () => {
			stop.current?.();
			hide();
			if (isDrawn) latest.current.dispatch({ type: 'marquee', keys: [], kept: before });
		};
		const key = (pressed: KeyboardEvent) => {
			if (pressed.key !== 'Escape' || !isDrawn) return;
			pressed.stopPropagation();
			cancel();
		};
		stop.current = () => {
			cancelAnimationFrame(frame);
			window.removeEventListener('pointermove', move);
			window.removeEventListener('pointerup', end);
			window.removeEventListener('pointercancel', cancel);
			window.removeEventListener('keydown', key, true);
			stop.current = undefined;
		};
		window.addEventListener('pointermove', move);
		window.addEventListener('pointerup', end);
		window.addEventListener('pointercancel', cancel);
		window.addEventListener('keydown', key, true);
	}, []);

	const suppressesClick = useCallback(() => hasJustEnded.current, []);
	return { onPointerDown, suppressesClick };
}

/** Not by touch, which scrolls, nor on a name, which is dragged, nor on the scroll bar. */
function startsMarquee(event: ReactPointerEvent<HTMLElement>, list: HTMLElement): boolean {
	if (event.pointerType === 'touch' || event.button !== 0 || !(event.target instanceof Element)) return false;
	if (event.target.closest('[draggable="true"], button')) return false;
	return event.clientX < list.getBoundingClientRect().left + list.clientWidth;
}
