import { type PointerEvent as ReactPointerEvent, type RefObject, useCallback, useEffect, useRef } from 'react';
import type { Rows } from '../list/rows.js';
import { bandBetween, bandInterval, isBand, type Point, rowsInBand, scrollAtEdge } from './rubberBand.js';
import type { RowKey, SelectionAction } from './selection.js';

export interface RubberBandOptions {
	scroller: RefObject<HTMLElement | null>;
	/** The rectangle; it is moved by hand, since it moves with every frame. */
	band: RefObject<HTMLElement | null>;
	rows: Rows | undefined;
	rowHeight: number;
	selected: ReadonlySet<RowKey>;
	dispatch: (action: SelectionAction) => void;
}

export interface RubberBand {
	onPointerDown: (event: ReactPointerEvent<HTMLElement>) => void;
	/** Whether the click that comes now only ends a band. */
	endsBand: () => boolean;
}

/** Draws a band from empty space or a row's free area, selects what it covers and scrolls at the edges. */
export function useRubberBand(options: RubberBandOptions): RubberBand {
	const latest = useRef(options);
	useEffect(() => {
		latest.current = options;
	});
	const hasJustEnded = useRef(false);
	const stop = useRef<() => void>(undefined);
	useEffect(() => () => stop.current?.(), []);

	const onPointerDown = useCallback((event: ReactPointerEvent<HTMLElement>) => {
		const list = latest.current.scroller.current;
		if (!list || !startsBand(event, list)) return;
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
		let lastLook = 0;

		const draw = () => {
			const { band, rows, rowHeight, dispatch } = latest.current;
			const shape = bandBetween(start, toContent(pointer), list.clientWidth, list.scrollHeight);
			if (band.current) {
				band.current.hidden = false;
				band.current.style.transform = `translate(${shape.left}px, ${shape.top}px)`;
				band.current.style.width = `${shape.width}px`;
				band.current.style.height = `${shape.height}px`;
			}
			const now = performance.now();
			if (!rows || now - lastLook < bandInterval) return;
			lastLook = now;
			const { first, end } = rowsInBand(shape, rowHeight, rows.keys.length);
			dispatch({ type: 'banded', keys: rows.keys.slice(Math.max(rows.pinned, first), end), kept });
		};
		// One look a frame: it also goes on scrolling while the pointer rests at an edge.
		const follow = () => {
			list.scrollTop += scrollAtEdge(pointer.y, box.top, box.bottom);
			draw();
			frame = requestAnimationFrame(follow);
		};
		const move = (moved: PointerEvent) => {
			pointer = { x: moved.clientX, y: moved.clientY };
			if (isDrawn || !isBand(from, pointer)) return;
			isDrawn = true;
			follow();
		};
		const end = () => {
			stop.current?.();
			if (!isDrawn) return;
			lastLook = 0;
			draw();
			hide();
			hasJustEnded.current = true;
			// The click of this very gesture comes before any timer.
			setTimeout(() => {
				hasJustEnded.current = false;
			});
		};
		const hide = () => {
			const { band } = latest.current;
			if (band.current) band.current.hidden = true;
		};
		const giveUp = () => {
			stop.current?.();
			hide();
			if (isDrawn) latest.current.dispatch({ type: 'banded', keys: [], kept: before });
		};
		const key = (pressed: KeyboardEvent) => {
			if (pressed.key !== 'Escape' || !isDrawn) return;
			pressed.stopPropagation();
			giveUp();
		};
		stop.current = () => {
			cancelAnimationFrame(frame);
			window.removeEventListener('pointermove', move);
			window.removeEventListener('pointerup', end);
			window.removeEventListener('pointercancel', giveUp);
			window.removeEventListener('keydown', key, true);
			stop.current = undefined;
		};
		window.addEventListener('pointermove', move);
		window.addEventListener('pointerup', end);
		window.addEventListener('pointercancel', giveUp);
		window.addEventListener('keydown', key, true);
	}, []);

	const endsBand = useCallback(() => hasJustEnded.current, []);
	return { onPointerDown, endsBand };
}

/** A finger scrolls, a name is dragged, and the scroll bar is no part of the list. */
function startsBand(event: ReactPointerEvent<HTMLElement>, list: HTMLElement): boolean {
	if (event.pointerType === 'touch' || event.button !== 0 || !(event.target instanceof Element)) return false;
	if (event.target.closest('[draggable="true"], button')) return false;
	return event.clientX < list.getBoundingClientRect().left + list.clientWidth;
}
