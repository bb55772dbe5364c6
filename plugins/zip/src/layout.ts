import { type ArchiveContents, Yielder } from '@stowage/plugin-api';
import { centralRecordSize, descriptorSize, endSize, localHeaderSize, packedSize } from './records.js';

/** The offsets in an archive. */
export interface Layout {
	/** The offset of each entry's local header, and after the last one that of the central directory. */
	readonly starts: Float64Array;
	readonly centralStart: number;
	readonly centralSize: number;
	readonly size: number;
}

export async function layOut(contents: ArchiveContents, signal: AbortSignal | undefined): Promise<Layout> {
	const { count } = contents;
	const yielder = new Yielder();
	const starts = new Float64Array(count + 1);
	let at = 0;
	let centralSize = 0;
	for (let index = 0; index < count; index++) {
		if (yielder.shouldYield) await yielder.yield(signal);
		const entry = contents.entry(index);
		starts[index] = at;
		centralSize += centralRecordSize(entry, at);
		at += localHeaderSize(entry) + packedSize(entry) + descriptorSize(entry);
	}
	starts[count] = at;
	return { starts, centralStart: at, centralSize, size: at + centralSize + endSize(count, at, centralSize) };
}

/** The entry that the byte at `position` belongs to; the number of entries for one in or after the central directory. */
export function entryAt({ starts }: Layout, position: number): number {
	let low = 0;
	let high = starts.length - 1;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if ((starts[middle] as number) <= position) low = middle;
		else high = middle - 1;
	}
	return low;
}
