import { type ReadAt, readerOf } from './readAt.js';

/** A film of half a day may be in fragments of a second, each of two boxes. */
const maxBoxes = 100_000;
/** The most bytes of all texts together: more than is said of any film, and a moment's work. */
const maxTextBytes = 2 ** 20;
/** The most properties that Windows has given a film; its programs write some dozens. */
const maxProperties = 1000;

/** A file itself, in which its boxes are. */
const theFile = '';

/** The boxes in which others are read, and those in which these are in their turn. */
const parents: ReadonlyMap<string, readonly string[]> = new Map([
	['moov', [theFile]],
	['trak', ['moov']],
	['udta', ['moov', 'trak']],
	['meta', [theFile, 'moov', 'trak', 'udta']],
	['mdia', ['trak']],
	['minf', ['mdia']],
	['stbl', ['minf']],
	['stsd', ['stbl']],
]);

/**
 * The boxes of which no film loses anything, or that ffprobe reads, by those in which they are: the pictures and sound
 * themselves, what lists them, and what an encoder makes anew. Boxes of cameras with positions, speeds or a second film
 * have other names.
 */
const known: ReadonlyMap<string, ReadonlySet<string>> = new Map(
	Object.entries({
		[theFile]: 'ftyp styp mdat moof mfra sidx ssix pdin prft emsg meta pnot PICT',
		moov: 'mvhd iods mvex meta ctab clip rmra cmov pssh',
		trak: 'tkhd edts tref mdia meta tapt load txas clip matt kmat imap ctab trgr mere',
	}).map(([parent, names]) => [parent, new Set([...names.split(' '), ...['uuid', 'free', 'skip', 'wide', 'udta']])]),
);

/** Padding. Some cameras put their data there, so that other programs pass over it. */
const padding: ReadonlySet<string> = new Set(['free', 'skip', 'wide']);
/** How many bytes of each are looked at. */
const sampleBytes = 256;
/** Some programs write their name and version there. */
const maxSignature = 100;
/** Of an index that was written anew elsewhere, as when tags were added, and whose place was declared to be free. */
const remains: ReadonlySet<string> = new Set(['mvhd', 'trak', 'udta', 'tkhd', 'meta', 'ilst', 'hdlr']);

/** Boxes of one text. Other ones are read by ffprobe. */
const single: ReadonlyMap<string, string> = new Map([
	['titl', 'title'],
	['dscp', 'description'],
	['kywd', 'keywords'],
	['perf', 'performer'],
	['auth', 'author'],
	['gnre', 'genre'],
	['albm', 'album'],
	['\u00a9key', 'keywords'],
	['ID32', 'tags of ID3'],
	// Pictures and texts of a film that are files of their own, such as XMP.
	['iinf', 'items'],
	['bxml', 'XML'],
]);

/** Samples of these kinds are encrypted; which kind they are without that, ffprobe takes from a box in them. */
const encrypted: ReadonlySet<string> = new Set([
	...['encv', 'enca', 'enct', 'encs', 'encm', 'encf', 'drms', 'drmi', 'drmt'],
]);

/** What the boxes of an MP4 or MOV say that neither ffprobe nor HandBrake reads. */
export interface MovBoxes {
	/** The names of the texts for people. */
	texts: ReadonlySet<string>;
	/** Whether a track is encrypted, of which decoders may say nothing: noise is sound, too. */
	isEncrypted: boolean;
	/** The names of boxes with data that no program here knows, such as the positions of a dashboard camera. */
	unread: ReadonlySet<string>;
}

/** Properties of XMP that people fill in, in photo programs, by our names for them. Programs fill in dates and histories. */
const xmpTexts: ReadonlyMap<string, string> = new Map([
	['dc:title', 'title'],
	['photoshop:Headline', 'title'],
	['dc:description', 'description'],
	['xmpDM:logComment', 'comment'],
	['dc:subject', 'keywords'],
	['lr:hierarchicalSubject', 'keywords'],
	['digiKam:TagsList', 'keywords'],
	['dc:creator', 'artist'],
	['dc:rights', 'copyright'],
	['xmp:Rating', 'rating'],
	['xmp:Label', 'label'],
	['Iptc4xmpExt:PersonInImage', 'people'],
	['photoshop:City', 'place'],
	['exif:GPSLatitude', 'place'],
]);

const xmpUuid = 'be7acfcb97a942e89c71999491e3afac';

/** Properties of Windows that programs fill in. */
const technical = /^(?:wm\/(?:encod|mediaclass|tool|provider|uniquefile|wmc)|is|has)/;

const windowsNames: ReadonlyMap<string, string> = new Map([
	['category', 'keywords'],
	['shareduserrating', 'rating'],
]);

/**
 * The texts for people that an MP4 or MOV has in boxes which neither ffprobe nor HandBrake reads: XMP, properties that Windows gives to
 * files, those of mobile phones, XML of cameras and ID3; whether a track is encrypted; and which boxes nobody knows. Undefined if that can't
 * be known.
 */
export async function movBoxes(readAt: ReadAt, signal: AbortSignal): Promise<MovBoxes | undefined> {
	const found = new Set<string>();
	const unread = new Set<string>();
	let isEncrypted = false;
	let boxesLeft = maxBoxes;
	let bytesLeft = maxTextBytes;
	const takeBox = async (name: string, at: number, end: number): Promise<boolean> => {
		const isXmp = name === 'XMP_' || (name === 'uuid' && hexOf(await readAt(at, 16)) === xmpUuid);
		const read = isXmp ? textsOfXmp : withTexts.get(name);
		if (read === undefined) {
			const text = single.get(name);
			if (text !== undefined && end > at) found.add(text);
			return true;
		}
		const bytes = await readAt(at, Math.min(end - at, bytesLeft + 1));
		bytesLeft -= bytes.length;
		if (bytesLeft < 0) return false;
		const texts = read(bytes);
		for (const text of texts ?? []) found.add(text);
		return texts !== undefined;
	};
	const isUnread = async (name: string, parent: string, at: number, end: number): Promise<boolean> => {
		if (padding.has(name)) return isUsed(await readAt(at, Math.min(end - at, sampleBytes)), end - at);
		if (single.has(name) || withTexts.has(name) || name === 'XMP_') return false;
		return end > at && known.get(parent)?.has(name) === false;
	};
	const walk = async (start: number, stop: number, parent: string): Promise<boolean> => {
		for (let at = start; at + 8 <= stop; ) {
			signal.throwIfAborted();
			const head = await readAt(at, 16);
			// The end of the file, or of a list of a MOV.
			if (head.length < 8) return true;
			const name = String.fromCharCode(...head.subarray(4, 8));
			// Cameras append their data to the file as they are.
			if (parent === theFile && !/^[ -~]{4}$/.test(name)) {
				if (head.some((byte) => byte !== 0)) unread.add('behind its boxes');
				return true;
			}
			const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
			const isLong = view.getUint32(0) === 1;
			const declared = isLong && head.length === 16 ? Number(view.getBigUint64(8)) : view.getUint32(0);
			// The last box of a file may say no length.
			const length = declared === 0 && parent === theFile ? Number.POSITIVE_INFINITY : declared;
			const content = at + (isLong ? 16 : 8);
			if (at + length < content) return true;
			if (boxesLeft-- === 0) return false;
			const end = Math.min(stop, at + length);
			if (parent === 'stsd') isEncrypted ||= encrypted.has(name);
			else if (parents.get(name)?.includes(parent)) {
				if (!(await walk(content + (await boxesBegin(name, content)), end, name))) return false;
			} else if (await isUnread(name, parent, content, end)) unread.add(name);
			else if (!(await takeBox(name, content, end))) return false;
			at += length;
			// As long as no file is: the last one.
			if (!Number.isSafeInteger(at)) return true;
		}
		return true;
	};
	/** The offset of the first box: behind a version, and the number of entries. A MOV has no version in its `meta`. */
	const boxesBegin = async (name: string, content: number): Promise<number> => {
		if (name === 'stsd') return 8;
		return name === 'meta' && Buffer.from(await readAt(content + 4, 4)).toString('latin1') !== 'hdlr' ? 4 : 0;
	};
	return (await walk(0, Number.POSITIVE_INFINITY, theFile)) ? { texts: found, isEncrypted, unread } : undefined;
}

/** `movBoxes` of an open file. */
export const movBoxesIn = (descriptor: number, signal: AbortSignal) => movBoxes(readerOf(descriptor), signal);

/** Whether padding has data, by its first bytes. */
function isUsed(sample: Uint8Array, length: number): boolean {
	if (length <= maxSignature || sample.every((byte) => byte === 0)) return false;
	return !remains.has(String.fromCharCode(...sample.subarray(4, 8)));
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** The names of the texts in XMP. A property is an attribute or an element, which may contain a list. */
function textsOfXmp(bytes: Uint8Array): string[] {
	const xmp = new TextDecoder().decode(bytes);
	const textOf = (name: string): string => {
		const attribute = xmp.indexOf(` ${name}="`);
		if (attribute !== -1) {
			const begin = attribute + name.length + 3;
			return xmp.slice(begin, xmp.indexOf('"', begin));
		}
		const begin = xmp.indexOf(`<${name}`);
		const end = begin === -1 ? -1 : xmp.indexOf(`</${name}>`, begin);
		return end === -1 ? '' : xmp.slice(xmp.indexOf('>', begin) + 1, end).replace(/<[^<>]*>/g, '');
	};
	const isSaid = (value: string) => value !== '' && value !== '0';
	return [...xmpTexts].filter(([name]) => isSaid(textOf(name).trim())).map(([, text]) => text);
}

/** XMP, or what cameras say: the date, the lens and the timecode. */
function textsOfXml(bytes: Uint8Array): string[] {
	return new TextDecoder().decode(bytes).includes('<x:xmpmeta') ? textsOfXmp(bytes) : ['XML'];
}

/** Entries of a length, that of a name, the name and its values. Undefined for too many. */
function textsOfWindows(bytes: Uint8Array): string[] | undefined {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const names: string[] = [];
	for (let at = 0; at + 8 <= bytes.length; ) {
		const [length, nameLength] = [view.getUint32(at), view.getUint32(at + 4)];
		if (length < 8) break;
		if (names.length === maxProperties) return undefined;
		const name = new TextDecoder().decode(bytes.subarray(at + 8, at + 8 + Math.min(nameLength, 100))).toLowerCase();
		names.push(name);
		at += length;
	}
	return names
		.filter((name) => !technical.test(name))
		.map((name) => name.replace(/^wm\//, ''))
		.map((name) => windowsNames.get(name) ?? name);
}

/** Boxes of several texts. */
const withTexts: ReadonlyMap<string, (bytes: Uint8Array) => string[] | undefined> = new Map([
	['Xtra', textsOfWindows],
	['xml ', textsOfXml],
]);
