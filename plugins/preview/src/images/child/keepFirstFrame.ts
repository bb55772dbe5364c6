import type { ImageFormat } from './imageFormat.js';

const frame = 'ANMF';

/**
 * Hides all frames of an animated WebP but the first, in place: for each of them the library goes through all before it (10 s for 40,000,
 * which 2 MB have). A frame is found wherever it may be: four bytes are hardly there by chance.
 */
export function keepFirstFrame(bytes: Buffer, format: ImageFormat): void {
	if (format !== 'webp') return;
	let at = bytes.indexOf(frame, 0, 'latin1');
	while (at !== -1) {
		at = bytes.indexOf(frame, at + frame.length, 'latin1');
		if (at !== -1) bytes.write('skip', at, 'latin1');
	}
}
