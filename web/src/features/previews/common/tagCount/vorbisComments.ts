import type { TagReader } from './TagReader.js';

/** Counts the blocks of a FLAC file and the comments in them, from its first block on. */
export async function countBlocks(reader: TagReader, begin: number): Promise<void> {
	for (let at = begin, isLast = false; !isLast && at + 4 <= reader.size; ) {
		reader.add();
		const head = (await reader.view(at, 4)).getUint32(0);
		const length = head & 0xff_ff_ff;
		isLast = head >>> 31 === 1;
		if (((head >>> 24) & 0x7f) === 4) {
			const vendor = (await reader.view(at + 4, 4)).getUint32(0, true);
			if (vendor + 8 <= length) reader.add(fitting((await reader.view(at + 8 + vendor, 4)).getUint32(0, true), length));
		}
		at += 4 + length;
	}
}

/** As many of the announced comments as fit into these bytes: each takes four at least. */
export const fitting = (announced: number, bytes: number) => Math.min(announced, bytes >> 2);
