/** The number of frames of a GIF, up to `most`: as browsers read it, up to the first byte that begins no block. */
export function gifFrames(bytes: Uint8Array, most: number): number {
	const [extension, image, filling] = [0x21, 0x2c, 0];
	let frames = 0;
	for (let at = 13 + coloursAt(bytes, 10); at < bytes.length && frames < most; ) {
		const block = bytes[at];
		if (block === image) {
			frames++;
			// Behind its colours is the width of its codes.
			at = behindParts(bytes, at + 11 + coloursAt(bytes, at + 9));
		} else if (block === extension) at = behindParts(bytes, at + 2);
		else if (block === filling) at++;
		else break;
	}
	return frames;
}

/** The bytes of the table of colours that these flags announce. */
function coloursAt(bytes: Uint8Array, at: number): number {
	const flags = bytes[at] ?? 0;
	return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

/** Each part has its length before it; the last one has none. */
function behindParts(bytes: Uint8Array, start: number): number {
	let at = start;
	for (let length = bytes[at]; length !== undefined && length > 0; length = bytes[at]) at += 1 + length;
	return at + 1;
}
