import type { ImageSource } from '../common/bytes/previewFile.js';

export interface Undrawn {
	/** What the picture was to be drawn from. */
	wanted: ImageSource['kind'];
	/** Whether its format is known. */
	isKnown: boolean;
	/** Whether the server has a renderer of pictures, or why that is not known. */
	renderer: 'there' | 'none' | 'loading' | 'unreachable';
}

/** What is said of a picture that neither the browser nor the server has drawn. */
export function undrawnState(undrawn: Undrawn): 'broken' | 'notAvailable' | 'loading' | 'unreachable' {
	const { wanted, isKnown, renderer } = undrawn;
	if (wanted === 'none') return 'broken';
	// Without a renderer nobody has tried to draw it, so nothing is known to be wrong with it.
	if (!isKnown || renderer === 'none') return 'notAvailable';
	return renderer === 'there' ? 'broken' : renderer;
}
