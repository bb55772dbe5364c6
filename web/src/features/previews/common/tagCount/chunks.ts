import { countId3 } from './id3.js';
import type { TagReader } from './TagReader.js';
import { countValues } from './values.js';

/** Counts the chunks of a WAV file, and the tags in them. */
export async function countWaveChunks(reader: TagReader): Promise<void> {
	for (let at = 12; at + 8 <= reader.size; ) {
		reader.add();
		const head = await reader.view(at, 12);
		const name = await reader.text(at, 4);
		if (name === 'id3 ' || name === 'ID3 ') await countId3(reader, at + 8);
		const length = head.getUint32(4, true);
		// Its parts are chunks, too.
		const isInfo = name === 'LIST' && head.getUint32(8) === 0x49_4e_46_4f;
		at += isInfo ? 12 : 8 + length + (length % 2);
	}
}

const aiffTexts: ReadonlySet<string> = new Set(['NAME', 'AUTH', '(c) ', 'ANNO']);

/** Counts the chunks of an AIFF file, and the tags and values in them. */
export async function countAiffChunks(reader: TagReader): Promise<void> {
	for (let at = 12; at + 8 <= reader.size; ) {
		reader.add();
		const length = (await reader.view(at, 8)).getUint32(4);
		const name = await reader.text(at, 4);
		if (name === 'ID3 ') await countId3(reader, at + 8);
		else if (aiffTexts.has(name)) await countValues(reader, at + 8, at + 8 + length, 1);
		at += 8 + length + (length % 2);
	}
}
