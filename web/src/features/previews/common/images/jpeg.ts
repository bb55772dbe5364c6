import { maxSteps } from './steps.js';

/** The size in pixels; 0 where metadata have put it behind these first bytes, or behind too many markers. */
export function jpegSize(view: DataView): { width: number; height: number } {
	for (const { marker, at } of jpegSegments(view)) {
		if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
	}
	return { width: 0, height: 0 };
}

/** Whether a marker begins a frame (ITU-T T.81, table B.1), in which the size stands. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** The markers up to the first scan, with their places. Whatever a decoder would skip in a way of its own ends them. */
export function* jpegSegments(view: DataView): Generator<{ marker: number; at: number }> {
	let at = 2;
	for (let steps = 0; steps < maxSteps && at + 9 <= view.byteLength && view.getUint8(at) === 0xff; steps++) {
		const marker = view.getUint8(at + 1);
		if (marker === 0xff) {
			// A marker may be filled up.
			at++;
		} else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
			// It has no length.
			at += 2;
		} else {
			yield { marker, at };
			const length = view.getUint16(at + 2);
			if (marker < 0xc0 || (marker >= 0xd8 && marker <= 0xda) || length < 2) break;
			at += 2 + length;
		}
	}
}

/**
 * The bytes of a JPEG up to its end, which are all that a decoder reads: cameras put a film of seconds behind it. Its segments are gone
 * through as decoders do, in which such bytes may be anything.
 */
export function wholeJpeg(bytes: Uint8Array): Uint8Array {
	for (let at = 2; at + 3 < bytes.length; ) {
		const marker = bytes[at + 1] ?? 0;
		if (bytes[at] !== 0xff || marker === 0xff) at++;
		else if (marker === 0xd9) return bytes.subarray(0, at + 2);
		// What is no segment: a byte of the pixels, a marker without a length.
		else if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
		else at += 2 + Math.max(2, (bytes[at + 2] ?? 0) * 256 + (bytes[at + 3] ?? 0));
	}
	return bytes;
}
