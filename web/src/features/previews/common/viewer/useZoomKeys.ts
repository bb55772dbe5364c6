import { useKeys } from './useKeys.js';

/** The keys that a frame with pages leaves to `useZoomKeys`. */
export const zoomKeys = ['+', '=', '-'];

/** Zooms pages by the keys; undefined before there is anything to zoom. */
export function useZoomKeys(onZoom: ((to: 'in' | 'out') => void) | undefined): void {
	useKeys(({ key }) => {
		if (!onZoom || !zoomKeys.includes(key)) return false;
		onZoom(key === '-' ? 'out' : 'in');
		return true;
	});
}
