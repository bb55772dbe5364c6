import type { TagReader } from './TagReader.js';

const containers: ReadonlySet<string> = new Set(['moov', 'trak', 'udta', 'meta', 'ilst']);

/** Counts the boxes of an MP4 or QuickTime file in which tags are, up to those of the film. In a list of tags, each may have any number of values. */
export async function countBoxes(reader: TagReader, begin: number, end: number, isList = false): Promise<void> {
	for (let at = begin; at + 8 <= end; ) {
		reader.add();
		const head = await reader.view(at, 16);
		const name = await reader.text(at + 4, 4);
		const short = head.getUint32(0);
		const headLength = short === 1 ? 16 : 8;
		const length = short === 1 ? Number(head.getBigUint64(8)) : short === 0 ? end - at : short;
		if (length < headLength) return;
		const boxEnd = Math.min(end, at + length);
		if (isList || containers.has(name)) {
			const content = at + headLength + (await versionLength(reader, name, at));
			await countBoxes(reader, content, boxEnd, name === 'ilst');
		}
		// What follows is read while it is played, in pieces.
		if (name === 'moov') return;
		at += length;
	}
}

/** QuickTime's own has no version before its boxes. */
async function versionLength(reader: TagReader, name: string, at: number): Promise<number> {
	return name === 'meta' && (await reader.text(at + 12, 4)) !== 'hdlr' ? 4 : 0;
}
