import { describeImage, isIcon } from './imageFormat.js';
import { pixelsOfIconMetadata } from './metadata.js';
import { maxPixels, pixelsOf } from './pixels.js';

/** What a file says of the picture that it is, from which follows how it is drawn. */
export interface Picture {
	/** Undefined for what is no picture, and for one in a format that only browsers know. */
	type: string | undefined;
	/** Icons or cursors. */
	isIcon: boolean;
	/** How many it has, with those that its metadata and parts count for; infinite if that is not known. */
	pixels: number;
}

/**
 * What a picture is by its first bytes, or by all of one that `mayTakeLong`: of 50 MB that takes seconds, so that the page leaves it to
 * `readPicture`.
 */
export function pictureIn(bytes: Uint8Array): Picture {
	const { type } = describeImage(bytes);
	// An AVIF may begin like icons: it is as large as what is larger. What names no size may be endless.
	const pixels = type === undefined ? 0 : pixelsOf(bytes);
	const ofIcons = isIcon(bytes) ? pixelsOfIconMetadata(bytes, maxPixels) : 0;
	return { type, isIcon: isIcon(bytes), pixels: Math.max(pixels, ofIcons) };
}
