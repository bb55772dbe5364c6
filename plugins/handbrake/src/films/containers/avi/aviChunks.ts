import { type ReadAt, readerOf } from '../reading/readAt.js';
import { type Contents, Findings, Scanner } from '../reading/scanner.js';
import { XmpOfFilm } from '../xmp.js';

/** A file itself, in which its lists are: one, and further ones of a long film, or of those that were joined. */
const theFile = '';

/** The lists in which chunks are read, by the lists in which these are. The frames of a film may be in lists of their own. */
const lists: ReadonlyMap<string, readonly string[]> = new Map([
	['RIFF', [theFile]],
	['hdrl', ['RIFF']],
	['strl', ['hdrl']],
	['odml', ['hdrl', 'strl']],
	['INFO', ['RIFF', 'hdrl']],
	['movi', ['RIFF']],
	['rec ', ['movi']],
]);

/** The chunks of which no film loses anything, or that ffprobe reads, by their lists. */
const known: ReadonlyMap<string, ReadonlySet<string>> = new Map(
	Object.entries({
		RIFF: 'idx1 JUNK JUNQ IDIT',
		hdrl: 'avih JUNK IDIT',
		strl: 'strh strf strn indx vprp JUNK',
		odml: 'dmlh JUNK',
		// Texts that are compared, and what programs write of themselves.
		INFO: 'IART ICMT ICOP ICRD IGNR ILNG INAM IPRD IPRT ITRK IKEY ISBJ IRTD ISFT ITCH IDIT JUNK',
		movi: 'idx1 JUNK',
		'rec ': 'JUNK',
	}).map(([list, names]) => [list, new Set(names.split(' '))]),
);

const padding: ReadonlySet<string> = new Set(['JUNK', 'JUNQ']);

/** What ffmpeg writes first where it may have to write an index, and that of a long film: how many entries, of which track, none yet. */
const roomForIndex = /^(?:\x04\0{7}\d\d[A-Za-z_]{2}|odmldmlh\xf8\0{3})/;
const roomHeadBytes = 12;

/** Of any frame or index of a track, such as `00dc` or, of tapes, `00__`; tracks have numbers of two digits. */
const trackChunk = /^(?:(\d\d)[A-Za-z_]{2}|ix(\d\d))$/;

/** A frame of pictures. */
const frame = /^(\d\d)d[bc]$/;

/** Of a codec, such as its tables; cameras write there, too, what they did. */
const maxCodecData = 100;

/** What the chunks of an AVI have that neither ffprobe nor HandBrake reads. Undefined if that can't be known. */
export async function aviChunks(readAt: ReadAt, signal: AbortSignal): Promise<Contents | undefined> {
	const scanner = new Scanner(readAt, signal);
	const found = new Findings();
	const xmp = new XmpOfFilm(found);
	const texts = new Set<string>();
	let [films, tracks] = [0, 0];
	const takeEmpty = (name: string, list: string): void => {
		const [, digits] = frame.exec(name) ?? [];
		const index = Number(digits);
		// Of a joined film ffprobe counts no frames.
		if ((list === 'movi' || list === 'rec ') && index < tracks && films === 1)
			found.emptyFrames.set(index, (found.emptyFrames.get(index) ?? 0) + 1);
	};
	const takeChunk = async (name: string, list: string, at: number, length: number): Promise<void> => {
		if (name === 'strh') tracks++;
		if (length === 0) return;
		if (padding.has(name)) {
			const head = await scanner.bytes(at, Math.min(length, roomHeadBytes));
			const before = roomForIndex.test(head.toString('latin1')) ? head.length : 0;
			if (await scanner.takePadding(at + before, length - before)) found.addUnread(name);
			return;
		}
		if (name === '_PMX' && xmp.reads(length)) {
			xmp.take(await scanner.text(at, length));
			return;
		}
		const [, digits, indexed = digits] = trackChunk.exec(name) ?? [];
		const isOfTrack = (list === 'movi' || list === 'rec ') && Number(indexed) < tracks;
		if (isOfTrack || (name === 'strd' && length <= maxCodecData)) return;
		if (known.get(list)?.has(name) !== true) found.addUnread(name);
		else if (list === 'INFO') {
			// ffprobe prints the last one.
			if (texts.has(name)) found.addUnread(`several ${name}`);
			texts.add(name);
		}
	};
	const walk = async (start: number, stop: number, list: string): Promise<boolean> => {
		for (let at = start; at + 8 <= stop; ) {
			if (!(await scanner.mayStep())) return false;
			const head = await scanner.bytes(at, 12);
			if (head.length < 8) return true;
			const name = head.toString('latin1', 0, 4);
			if (!/^[ -~]{4}$/.test(name)) {
				const isLast = stop === Number.POSITIVE_INFINITY;
				const hasData = isLast ? await scanner.hasData(at) : await scanner.takePadding(at, stop - at);
				if (hasData) found.addUnread('what is in no chunk');
				return true;
			}
			const declared = head.readUInt32LE(4);
			const form = name === 'RIFF' || name === 'LIST' ? head.toString('latin1', 8, 12) : '';
			// Of a film that was written into a pipe.
			const isOpen = (declared === 0 || declared === 0xffffffff) && (name === 'RIFF' || form === 'movi');
			const length = isOpen ? Number.POSITIVE_INFINITY : declared;
			const end = Math.min(stop, at + 8 + length);
			const inner = name === 'RIFF' ? 'RIFF' : form;
			if (declared === 0) takeEmpty(name, list);
			if (form === '') await takeChunk(name, list, at + 8, end - at - 8);
			else if (lists.get(inner)?.includes(list)) {
				if (inner === 'RIFF' && form === 'AVI ') {
					films++;
					tracks = 0;
				}
				if (inner === 'INFO') texts.clear();
				if (!(await walk(at + 12, end, inner))) return false;
			} else found.addUnread(form);
			at += 8 + length + (length % 2 || 0);
		}
		return true;
	};
	return (await walk(0, Number.POSITIVE_INFINITY, theFile)) ? found : undefined;
}

/** `aviChunks` of an open file. */
export const aviChunksIn = (descriptor: number, signal: AbortSignal) => aviChunks(readerOf(descriptor), signal);
