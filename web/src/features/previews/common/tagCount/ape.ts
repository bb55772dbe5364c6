import type { TagReader } from './TagReader.js';
import { countValues, findZero } from './values.js';

/** The length of an ID3v1 tag, which may follow. */
const id3Bytes = 128;

/** Counts what an APE tag at the end says that it has, and the values of its texts. */
export async function countApe(reader: TagReader): Promise<void> {
	const lyrics = await lyricsBytes(reader);
	for (const behind of new Set([0, id3Bytes, id3Bytes + lyrics])) {
		const at = Math.max(0, reader.size - behind - 32);
		if ((await reader.text(at, 8)) !== 'APETAGEX') continue;
		const head = await reader.view(at + 12, 8);
		reader.add(head.getUint32(4, true));
		await countItems(reader, Math.max(0, at + 32 - head.getUint32(0, true)), at, head.getUint32(4, true));
	}
}

async function countItems(reader: TagReader, begin: number, end: number, count: number): Promise<void> {
	for (let at = begin, index = 0; index < count && at + 8 < end; index++) {
		const head = await reader.view(at, 8);
		const value = (await findZero(reader, at + 8, Math.min(end, at + 8 + 256))) + 1;
		at = value + head.getUint32(0, true);
		const isText = ((head.getUint32(4, true) >> 1) & 3) === 0;
		if (isText) await countValues(reader, value, Math.min(end, at), 1);
	}
}

/** The length of a Lyrics3 tag before an ID3v1 tag; 0 without one. */
async function lyricsBytes(reader: TagReader): Promise<number> {
	if (reader.size < id3Bytes + 15) return 0;
	const text = await reader.text(reader.size - id3Bytes - 15, 15);
	return text.endsWith('LYRICS200') ? (Number.parseInt(text, 10) || 0) + 15 : 0;
}
