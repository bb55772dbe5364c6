/** The zoom and position of a picture in its viewer (spec, section 4). */
export interface ImageView {
	/** 1 fits it into the viewer. */
	zoom: number;
	/** Degrees: 0, 90, 180 or 270. */
	rotation: number;
	/** How far its middle is from the viewer's, in pixels. */
	x: number;
	y: number;
}

export interface Point {
	x: number;
	y: number;
}

export const minZoom = 0.1;
export const maxZoom = 5;
export const buttonStep = 0.25;
export const wheelStep = 0.1;

export const fitted: ImageView = { zoom: 1, rotation: 0, x: 0, y: 0 };

const centre: Point = { x: 0, y: 0 };

/** Zooms so that the point, measured from the viewer's middle, stays in its place. */
export function zoomTo(view: ImageView, wanted: number, at: Point = centre): ImageView {
	const zoom = Math.min(maxZoom, Math.max(minZoom, Math.round(wanted * 100) / 100));
	if (zoom <= 1) return { ...view, zoom, x: 0, y: 0 };
	const ratio = zoom / view.zoom;
	return { ...view, zoom, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio };
}

/** Two fingers on a picture: how it was when they came, and how far they were from each other. */
export interface Pinch {
	view: ImageView;
	distance: number;
}

/** The picture with the two fingers at another distance. Of many small steps each would be too small for a change. */
export function pinchTo(begun: Pinch, distance: number, middle: Point): ImageView {
	return zoomTo(begun.view, begun.view.zoom * (distance / Math.max(1, begun.distance)), middle);
}

export function rotate(view: ImageView): ImageView {
	return { ...view, rotation: (view.rotation + 90) % 360, x: 0, y: 0 };
}

/** Moves an enlarged picture, no further than its edge comes to the viewer's middle. */
export function panBy(view: ImageView, by: Point, drawn: { width: number; height: number }): ImageView {
	if (view.zoom <= 1) return view;
	const isTurned = view.rotation % 180 !== 0;
	const maxX = ((isTurned ? drawn.height : drawn.width) * view.zoom) / 2;
	const maxY = ((isTurned ? drawn.width : drawn.height) * view.zoom) / 2;
	return { ...view, x: limit(view.x + by.x, maxX), y: limit(view.y + by.y, maxY) };
}

/** How far an arrow key moves an enlarged picture. */
const keyStep = 64;

/** An arrow leads to what lies there, so that the picture moves the other way. */
const arrows: Readonly<Record<string, Point>> = {
	ArrowLeft: { x: keyStep, y: 0 },
	ArrowRight: { x: -keyStep, y: 0 },
	ArrowUp: { x: 0, y: keyStep },
	ArrowDown: { x: 0, y: -keyStep },
};

/** The movement by a key; undefined for another key, and for a picture that is not enlarged. */
export function panOfKey(key: string, { zoom }: ImageView): Point | undefined {
	return zoom > 1 ? arrows[key] : undefined;
}

const limit = (value: number, most: number) => Math.min(most, Math.max(-most, value));
