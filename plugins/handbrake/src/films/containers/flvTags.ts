import { type ReadAt, readerOf } from './reading/readAt.js';
import { type Contents, Findings, Scanner } from './reading/scanner.js';
import { XmpOfFilm } from './xmp.js';

const [sound, picture, script] = [8, 9, 18];

/**
 * Notes of which no film loses anything, or that ffprobe reads: its traits, what servers write, and subtitles, which it lists as a
 * track.
 */
const knownNotes: ReadonlySet<string> = new Set([
	...['onMetaData', '@setDataFrame', '@clearDataFrame', '|RtmpSampleAccess', 'onLastSecond', 'onLastKeyframe'],
	...['onTextData', 'onCaption'],
]);

const maxNoteBytes = 2 ** 20;
/** A value that is a list, and its length, behind its name. */
const moments = Buffer.from('\0\x09cuePoints\x0a', 'latin1');

/** What the tags of an FLV have that neither ffprobe nor HandBrake reads, such as named moments. Undefined if that can't be known. */
export async function flvTags(readAt: ReadAt, signal: AbortSignal): Promise<Contents | undefined> {
	const scanner = new Scanner(readAt, signal);
	const found = new Findings();
	const xmp = new XmpOfFilm(found);
	const takeNote = (note: Buffer) => {
		const name =
			note[0] === 2 && note.length >= 3 ? note.toString('latin1', 3, 3 + Math.min(100, note.readUInt16BE(1))) : '';
		if (name === 'onXMPData' && xmp.reads(note.length)) xmp.take(note);
		else if (!knownNotes.has(name)) found.addUnread(name || 'a note without a name');
		const at = note.indexOf(moments) + moments.length;
		if (at >= moments.length && at + 4 <= note.length && note.readUInt32BE(at) > 0) found.addUnread('cuePoints');
	};
	for (let at = 0; ; ) {
		if (!(await scanner.mayStep())) return undefined;
		const head = await scanner.bytes(at, 13);
		// Also of one that was joined to another.
		if (head.toString('latin1', 0, 4) === 'FLV\x01') {
			at += 13;
			continue;
		}
		if (head.length < 11) return found;
		const kind = head.readUInt8();
		const length = head.readUIntBE(1, 3);
		if (kind === script && length > maxNoteBytes) found.addUnread('a long note');
		else if (kind === script) takeNote(await scanner.text(at + 11, length));
		else if (kind !== sound && kind !== picture) {
			if (await scanner.hasData(at)) found.addUnread(`tags of kind ${kind}`);
			return found;
		}
		at += 11 + length + 4;
	}
}

/** `flvTags` of an open file. */
export const flvTagsIn = (descriptor: number, signal: AbortSignal) => flvTags(readerOf(descriptor), signal);
