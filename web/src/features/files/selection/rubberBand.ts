/** How far a pressed pointer moves before it draws a band instead of clicking. */
export const bandThreshold = 5;

/** Milliseconds between two looks at what a moving band covers. */
export const bandInterval = 8;

/** How near the list's edge the band begins to scroll it, and how far at most in one frame. */
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

/** The rectangle between two points, kept inside an area of this size. */
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

/** The rows that a band touches: `first` included, `end` not. Rows reach from edge to edge, so only its height counts. */
export function rowsInBand(band: Band, rowHeight: number, count: number): { first: number; end: number } {
	const first = Math.min(count, Math.max(0, Math.floor(band.top / rowHeight)));
	const end = Math.min(count, Math.ceil((band.top + band.height) / rowHeight));
	return { first, end: Math.max(first, end) };
}

/** How far to scroll in one frame for a pointer at `y` in a list that is shown from `top` to `bottom`. */
export function scrollAtEdge(y: number, top: number, bottom: number): number {
	const above = top + scrollZone - y;
	const below = y - (bottom - scrollZone);
	if (above > 0) return -Math.min(scrollStep, Math.ceil(above / 2));
	if (below > 0) return Math.min(scrollStep, Math.ceil(below / 2));
	return 0;
}
