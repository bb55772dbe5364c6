/** How far a pressed pointer moves, in pixels, before it draws a band instead of clicking. */
export const bandThreshold = 5;

/** Milliseconds between two updates of the selection by a moving band. */
export const bandUpdateInterval = 8;

/** The distance from the list's edge at which the band begins to scroll it, and the largest step in one frame. */
const scrollZone = 40;
const scrollStep = 24;

export interface Point {
	x: number;
	y: number;
}

export interface Band {
	left: number;
	top: number;
	width: number;
	height: number;
}

export function isBand(from: Point, to: Point): boolean {
	return Math.hypot(to.x - from.x, to.y - from.y) >= bandThreshold;
}

/** The rectangle between two points, clamped to an area of this size. */
export function bandBetween(from: Point, to: Point, width: number, height: number): Band {
	const left = clamp(Math.min(from.x, to.x), width);
	const top = clamp(Math.min(from.y, to.y), height);
	return {
		left,
		top,
		width: clamp(Math.max(from.x, to.x), width) - left,
		height: clamp(Math.max(from.y, to.y), height) - top,
	};
}

function clamp(value: number, most: number): number {
	return Math.min(most, Math.max(0, value));
}

/** The rows that a band touches, from `first` to before `end`. Rows are as wide as the list, so only the height counts. */
export function rowsInBand(band: Band, rowHeight: number, count: number): { first: number; end: number } {
	const first = Math.min(count, Math.max(0, Math.floor(band.top / rowHeight)));
	const end = Math.min(count, Math.ceil((band.top + band.height) / rowHeight));
	return { first, end: Math.max(first, end) };
}

/** The scroll step of one frame for a pointer at `y` in a list that reaches from `top` to `bottom` on screen. */
export function scrollAtEdge(y: number, top: number, bottom: number): number {
	const above = top + scrollZone - y;
	const below = y - (bottom - scrollZone);
	if (above > 0) return -Math.min(scrollStep, Math.ceil(above / 2));
	if (below > 0) return Math.min(scrollStep, Math.ceil(below / 2));
	return 0;
}
