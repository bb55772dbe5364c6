import { Failure } from '@stowage/rules';
import type { Checksum } from '../checksum.js';

interface ChunkOptions {
	/** Bytes that may come. */
	most: number;
	checksum: Checksum | undefined;
	/** Called whenever bytes arrive. */
	onBytes(): void;
}

/** The body of an upload as a piece of its file. Fails with `tooLarge` at the first byte too many, and as the body does. */
export async function* readChunk(
	body: AsyncIterable<Uint8Array>,
	{ most, checksum, onBytes }: ChunkOptions,
): AsyncGenerator<Uint8Array, void> {
	let size = 0;
	for await (const chunk of body) {
		size += chunk.length;
		if (size > most) throw new Failure('tooLarge', 'More bytes came than the upload was said to have.');
		onBytes();
		checksum?.add(chunk);
		yield chunk;
	}
}
