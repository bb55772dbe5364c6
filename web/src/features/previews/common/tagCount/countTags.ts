import { ReadsTooMuch } from '../bytes/rangedBlob.js';
import { countApe } from './ape.js';
import { countBoxes } from './boxes.js';
import { countAiffChunks, countWaveChunks } from './chunks.js';
import { countElements } from './elements.js';
import { countId3 } from './id3.js';
import { countOgg } from './ogg.js';
import { TagReader, TooManyTags } from './TagReader.js';
import { countBlocks } from './vorbisComments.js';

/**
 * Whether a song or film has more tags or samples than a browser reads in a moment, or more bytes would be read to
 * know, by reading no more of it than where they are. What can't be read as one of the formats with tags has none.
 * `onFragments` is called for a film in fragments that may be played already; it is still read up to that bound, and
 * may turn out to have too many.
 */
export async function hasTooManyTags(file: Blob, onFragments: () => void = () => {}): Promise<boolean> {
	let isPlayed = false;
	try {
		await countTags(file, () => {
			isPlayed = true;
			onFragments();
		});
		return false;
	} catch (error) {
		if (error instanceof TooManyTags) return true;
		if (error instanceof ReadsTooMuch) return !isPlayed;
		throw error;
	}
}

/**
 * Throws `TooManyTags`; else resolves to the type of the format as which they were counted, undefined for one that has none or that no
 * browser plays.
 */
export async function countTags(file: Blob, onFragments?: () => void): Promise<string | undefined> {
	const reader = new TagReader(file, onFragments);
	const begin = await countId3(reader, 0);
	const first = await reader.text(begin, 12);
	if (first.startsWith('fLaC')) {
		await countBlocks(reader, begin + 4);
		await countApe(reader);
		return 'audio/flac';
	}
	if (first.startsWith('OggS')) {
		await countOgg(reader, begin);
		return 'audio/ogg';
	}
	if (first.startsWith('\x1a\x45\xdf\xa3')) {
		await countElements(reader);
		return 'audio/webm';
	}
	if (/^RIFF....WAVE/s.test(first)) {
		await countWaveChunks(reader);
		return 'audio/wav';
	}
	if (/^FORM....AIF[FC]/s.test(first)) {
		await countAiffChunks(reader);
		return 'audio/aiff';
	}
	if (/^....(?:ftyp|moov|mdat|free|skip|wide|pnot)/s.test(first)) {
		await countBoxes(reader, 0, reader.size);
		return 'audio/mp4';
	}
	// Other boxes may precede those of a film, by whatever name. What is none ends at once.
	await countBoxes(reader, 0, reader.size);
	await countApe(reader);
	const isMpeg = begin > 0 || /^\xff[\xe0-\xff]/.test(first) || /^audio\/(?:mpeg|aac)$/.test(file.type);
	return isMpeg ? 'audio/mpeg' : undefined;
}
