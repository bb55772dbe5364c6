/** Whether bytes are a complete WebP file, by the length in its header: one that lost its end in a power cut is not. */
export function isWholeWebp(bytes: Uint8Array): boolean {
	if (bytes.length < 20) return false;
	const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const isWebp = view.toString('latin1', 0, 4) === 'RIFF' && view.toString('latin1', 8, 12) === 'WEBP';
	// A chunk of odd length is followed by a byte that some writers leave out at the end.
	return isWebp && Math.abs(view.readUInt32LE(4) + 8 - bytes.length) <= 1;
}
