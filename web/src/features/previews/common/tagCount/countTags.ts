import { countBoxes } from './boxes.js';
import { countElements } from './elements.js';
import { countApe, countId3 } from './id3.js';
import { countOgg } from './ogg.js';
import { TagReader, TooManyTags } from './TagReader.js';
import { countBlocks } from './vorbisComments.js';

/**
 * Whether a song or film has more tags than a browser reads in a moment, by reading no more of it than where they are. What can't be read
 * as one of the formats with tags has none.
 */
export async function hasTooManyTags(file: Blob): Promise<boolean> {
	const reader = new TagReader(file);
	try {
		const begin = await countId3(reader, 0);
		const first = await reader.text(begin, 12);
		if (first.startsWith('fLaC')) await countBlocks(reader, begin + 4);
		else if (first.startsWith('OggS')) await countOgg(reader, begin);
		else if (first.startsWith('\x1a\x45\xdf\xa3')) await countElements(reader);
		else if (/^RIFF....WAVE/s.test(first)) await countChunks(reader);
		else if (/^....(?:ftyp|moov|mdat|free|skip|wide|pnot)/s.test(first)) await countBoxes(reader, 0, reader.size);
		else await countApe(reader);
		return false;
	} catch (error) {
		if (error instanceof TooManyTags) return true;
		throw error;
	}
}

/** Of a WAV file. */
async function countChunks(reader: TagReader): Promise<void> {
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
