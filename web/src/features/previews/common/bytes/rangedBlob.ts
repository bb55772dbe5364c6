import { readPart } from '../../../../api/previews.js';

/** Bytes that are searched for tags; a file with later tags is shown without. */
const maxBytes = 16 * 1024 * 1024;

/** More than `maxBytes` would be read, or the same bytes again and again. */
export class ReadsTooMuch extends Error {}

/** What lies behind a block that was read is fetched by so many bytes at once. */
const aheadBytes = 128 * 1024;

export interface RangedBlobOptions {
	/**
	 * The length of a block: short ones suit who reads a little in many places.
	 * @default aheadBytes
	 */
	blockBytes?: number;
	/** After this nothing is fetched any more, and reading fails. */
	signal?: AbortSignal;
}

/** A file of the server as a Blob, as far as a reader of tags needs one: bytes are fetched when they are read, in blocks. */
export function rangedBlob(
	url: string,
	size: number,
	type: string,
	{ blockBytes = aheadBytes, signal }: RangedBlobOptions = {},
): Blob {
	const blocks = new Map<number, { read: Promise<Uint8Array>; from: number }>();
	const block = async (index: number): Promise<Uint8Array> => {
		signal?.throwIfAborted();
		const known = blocks.get(index) ?? fetchAt(index);
		return (await known.read).subarray(known.from, known.from + blockBytes);
	};
	const fetchAt = (index: number) => {
		if (blocks.size * blockBytes >= maxBytes) throw new ReadsTooMuch();
		const start = index * blockBytes;
		const end = Math.min(size, start + (blocks.has(index - 1) ? aheadBytes : blockBytes));
		const read = readPart(url, start, end, signal).then(({ bytes }) => bytes);
		for (let from = 0; start + from < end; from += blockBytes) blocks.set(index + from / blockBytes, { read, from });
		return { read, from: 0 };
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
