import { maxSteps } from './steps.js';

/** Programs write parts of 255 bytes, or of 126 where nothing is compressed. */
const leastPart = 64;

/**
 * The number of frames of a GIF, up to `most`: as browsers read it, up to the first byte that begins no block. Endless for one with more
 * blocks and parts than any program writes.
 */
export function gifFrames(bytes: Uint8Array, most: number): number {
	const [extension, image, filling] = [0x21, 0x2c, 0];
	const left = { steps: maxSteps + bytes.length / leastPart };
	let frames = 0;
	for (let at = 13 + coloursAt(bytes, 10); at < bytes.length && frames < most && left.steps-- > 0; ) {
		const block = bytes[at];
		if (block === image) {
			frames++;
			// Behind its colours is the width of its codes.
			at = behindParts(bytes, at + 11 + coloursAt(bytes, at + 9), left);
		} else if (block === extension) at = behindParts(bytes, at + 2, left);
		else if (block === filling) at++;
		else break;
	}
	return left.steps > 0 ? frames : Number.POSITIVE_INFINITY;
}

/**
 * A browser makes the picture as large as its first frame, if that is larger than it says. 0 where extensions have put that behind these
 * first bytes, or behind too many parts.
 */
export function gifSize(bytes: Uint8Array, view: DataView): { width: number; height: number } {
	if (bytes.length < 13) return { width: 0, height: 0 };
	const left = { steps: maxSteps };
	let at = 13 + coloursAt(bytes, 10);
	while (bytes[at] === 0x21 && left.steps-- > 0) at = behindParts(bytes, at + 2, left);
	if (at + 9 > bytes.length || bytes[at] !== 0x2c || left.steps <= 0) return { width: 0, height: 0 };
	const edge = (from: number) => view.getUint16(at + from, true) + view.getUint16(at + from + 4, true);
	return { width: Math.max(view.getUint16(6, true), edge(1)), height: Math.max(view.getUint16(8, true), edge(3)) };
}

/** The bytes of the table of colours that these flags announce. */
function coloursAt(bytes: Uint8Array, at: number): number {
	const flags = bytes[at] ?? 0;
	return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

/** The place behind a list of parts, each with its length before it; the last one has none. */
function behindParts(bytes: Uint8Array, start: number, left: { steps: number }): number {
	let at = start;
	for (let length = bytes[at]; length !== undefined && length > 0 && left.steps > 0; length = bytes[at]) {
		at += 1 + length;
		left.steps--;
	}
	return at + 1;
}
