const zoomStep = 1.25;
const maxScale = 5;
const minScale = 0.1;

/** The next larger or smaller scale of pages. */
export function scaleAfter(scale: number, to: 'in' | 'out'): number {
	return Math.min(maxScale, Math.max(minScale, to === 'in' ? scale * zoomStep : scale / zoomStep));
}
