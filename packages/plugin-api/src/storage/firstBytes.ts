import type { OpenFile } from './storage.js';

/** The first bytes of a file: so many, or all of a shorter one. */
export async function firstBytes(file: Pick<OpenFile, 'item' | 'read'>, count: number): Promise<Buffer> {
	const end = Math.min(file.item.size, count) - 1;
	const chunks: Uint8Array[] = [];
	// A chunk is valid until the next one is read.
	if (end >= 0) for await (const chunk of file.read({ start: 0, end })) chunks.push(Uint8Array.from(chunk));
	return Buffer.concat(chunks);
}
