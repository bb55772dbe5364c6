import { type Layout, lineCount } from '../layout/layout.js';

/** How far a pressed pointer moves, in pixels, before it draws a marquee instead of clicking. */
export const dragThreshold = 5;

/** Milliseconds between two updates of the selection by a moving marquee. */
export const updateInterval = 8;

/** The distance from the list's edge at which the marquee begins to scroll it, and the largest step in one frame. */
const scrollZone = 40;
const scrollStep = 24;

export interface Point {
	x: number;
	y: number;
}

export interface Rect {
	left: number;
	top: number;
	width: number;
	height: number;
}

export function isDrag(from: Point, to: Point): boolean {
	return Math.hypot(to.x - from.x, to.y - from.y) >= dragThreshold;
}

/** The rectangle between two points, clamped to an area of this size. */
export function rectBetween(from: Point, to: Point, width: number, height: number): Rect {
	const left = clamp(Math.min(from.x, to.x), width);
	const top = clamp(Math.min(from.y, to.y), height);
	return {
		left,
		top,
		width: clamp(Math.max(from.x, to.x), width) - left,
		height: clamp(Math.max(from.y, to.y), height) - top,
	};
}

function clamp(value: number, limit: number): number {
	return Math.min(limit, Math.max(0, value));
}

/** The indexes from `first` to before `end`. */
export interface IndexRange {
	first: number;
	end: number;
}

/** The entries that a marquee touches: one range, or one for each line where it does not touch the whole line. */
export function rangesInRect(rect: Rect, layout: Layout, count: number): IndexRange[] {
	const { columns } = layout;
	const lines = touched(
		rect.top,
		rect.height,
		layout.padding,
		layout.lineStep,
		layout.height,
		lineCount(layout, count),
	);
	const across = touched(rect.left, rect.width, layout.padding, layout.columnStep, layout.width, columns);
	if (lines.first >= lines.end || across.first >= across.end) return [];
	const range = (first: number, end: number) => ({ first: Math.min(first, count), end: Math.min(end, count) });
	if (across.end - across.first === columns) return [range(lines.first * columns, lines.end * columns)];
	return Array.from({ length: lines.end - lines.first }, (_, step) => {
		const start = (lines.first + step) * columns;
		return range(start + across.first, start + across.end);
	});
}

/** Which of `count` things, each of `size` and one every `step`, a span of a line touches. */
function touched(from: number, length: number, padding: number, step: number, size: number, count: number): IndexRange {
	if (step === 0) return { first: 0, end: count };
	const first = Math.floor((from - padding) / step);
	// It may begin in the gap behind one.
	const isBehind = from - padding - first * step >= size;
	const end = Math.ceil((from + length - padding) / step);
	return { first: Math.max(0, isBehind ? first + 1 : first), end: Math.min(count, end) };
}

/** The scroll step of one frame for a pointer at `y` in a list that reaches from `top` to `bottom` on screen. */
export function scrollAtEdge(y: number, top: number, bottom: number): number {
	const above = top + scrollZone - y;
	const below = y - (bottom - scrollZone);
	if (above > 0) return -Math.min(scrollStep, Math.ceil(above / 2));
	if (below > 0) return Math.min(scrollStep, Math.ceil(below / 2));
	return 0;
}
