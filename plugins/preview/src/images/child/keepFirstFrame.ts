import type { ImageFormat } from './imageFormat.js';

const frame = 'ANMF';

/**
 * Leaves nothing of an animated WebP or GIF but its first frame, in place. Of a WebP the library goes for each frame through all before it
 * (10 s for 40,000, which 2 MB have), and of a GIF it keeps the whole picture once more for a frame that gives way to what was there
 * before (0.24 GB for 59 megapixels).
 */
export function keepFirstFrame(bytes: Buffer, format: ImageFormat): void {
	if (format === 'webp') hideFrames(bytes);
	if (format === 'gif') endBehindFirstFrame(bytes);
}

/** A frame is found wherever it may be: four bytes are hardly there by chance. */
function hideFrames(bytes: Buffer): void {
	let at = bytes.indexOf(frame, 0, 'latin1');
	while (at !== -1) {
		at = bytes.indexOf(frame, at + frame.length, 'latin1');
		if (at !== -1) bytes.write('skip', at, 'latin1');
	}
}

const [extension, image, trailer, graphicControl] = [0x21, 0x2c, 0x3b, 0xf9];

/** What comes after it is left alone where the frame is not whole, and what is to become of it when the next one comes is taken away. */
function endBehindFirstFrame(bytes: Buffer): void {
	let at = 13 + coloursAt(bytes, 10);
	for (; bytes[at] === extension; at = behindParts(bytes, at + 2)) {
		const isControl = bytes[at + 1] === graphicControl && bytes[at + 2] === 4 && at + 3 < bytes.length;
		// All but whether a colour is transparent.
		if (isControl) bytes.writeUInt8((bytes[at + 3] ?? 0) & 1, at + 3);
	}
	if (bytes[at] !== image) return;
	const end = behindParts(bytes, at + 11 + coloursAt(bytes, at + 9));
	if (end < bytes.length) bytes.writeUInt8(trailer, end);
}

/** The bytes of the table of colours that these flags announce. */
function coloursAt(bytes: Buffer, at: number): number {
	const flags = bytes[at] ?? 0;
	return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

/** The place behind a list of parts, each with its length before it; the last one has none. */
function behindParts(bytes: Buffer, start: number): number {
	let at = start;
	for (let length = bytes[at]; length !== undefined && length > 0; length = bytes[at]) at += 1 + length;
	return at + 1;
}
