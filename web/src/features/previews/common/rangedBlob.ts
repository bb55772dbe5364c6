import { readPart } from '../../../api/previews.js';

const blockBytes = 128 * 1024;

/** Bytes that are searched for tags; a file with later tags is shown without. */
const maxBytes = 16 * 1024 * 1024;

/** More than `maxBytes` would be read. */
export class ReadsTooMuch extends Error {}

/** A file of the server as a Blob, as far as a reader of tags needs one: bytes are fetched when they are read. */
export function rangedBlob(url: string, size: number, type: string): Blob {
	const blocks = new Map<number, Promise<Uint8Array>>();
	const block = (index: number): Promise<Uint8Array> => {
		const known = blocks.get(index);
		if (known) return known;
		if (blocks.size * blockBytes >= maxBytes) return Promise.reject(new ReadsTooMuch());
		const start = index * blockBytes;
		const read = readPart(url, start, Math.min(size, start + blockBytes)).then(({ bytes }) => bytes);
		blocks.set(index, read);
		return read;
	};
	const slice = (start = 0, end = size) => ({
		async arrayBuffer(): Promise<ArrayBuffer> {
			const to = Math.min(size, end);
			const all = new Uint8Array(Math.max(0, to - start));
			for (let index = Math.floor(start / blockBytes); index * blockBytes < to; index++) {
				const bytes = await block(index);
				const from = Math.max(start, index * blockBytes);
				const part = bytes.subarray(from - index * blockBytes, to - index * blockBytes);
				all.set(part, from - start);
			}
			return all.buffer;
		},
	});
	return { size, type, slice } as unknown as Blob;
}
