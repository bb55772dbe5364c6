import { type ReadAt, readerOf } from './readAt.js';

/** A film of hours may be in fragments of a second. */
const maxBoxes = 500_000;
/** More than any text about a film has. */
const maxTextBytes = 4 * 2 ** 20;

/** Boxes in which texts may be. */
const parents: ReadonlySet<string> = new Set(['moov', 'trak', 'udta']);

/** Boxes of one text. Other ones are read by ffprobe. */
const single: Readonly<Record<string, string>> = {
	titl: 'title',
	dscp: 'description',
	kywd: 'keywords',
	perf: 'performer',
	auth: 'author',
	gnre: 'genre',
	albm: 'album',
	'\u00a9key': 'keywords',
};

/** Of XMP, which programs for photographs write: what people say, by its usual name. Dates and histories say programs of themselves. */
const xmpTexts = [
	...[['dc:title', 'title'] as const, ['photoshop:Headline', 'title'] as const],
	...[['dc:description', 'description'] as const, ['xmpDM:logComment', 'comment'] as const],
	...[['dc:subject', 'keywords'] as const, ['lr:hierarchicalSubject', 'keywords'] as const],
	...[
		['digiKam:TagsList', 'keywords'] as const,
		['dc:creator', 'artist'] as const,
		['dc:rights', 'copyright'] as const,
	],
	...[['xmp:Rating', 'rating'] as const, ['xmp:Label', 'label'] as const],
	...[['Iptc4xmpExt:PersonInImage', 'people'] as const, ['photoshop:City', 'place'] as const],
	...[['exif:GPSLatitude', 'place'] as const],
];

const xmpUuid = 'be7acfcb97a942e89c71999491e3afac';

/** Of Windows: what programs say of themselves there. */
const technical = /^(?:wm\/(?:encod|mediaclass|tool|provider|uniquefile|wmc)|is|has)/;

const windowsNames: Readonly<Record<string, string>> = { category: 'keywords', shareduserrating: 'rating' };

/**
 * The names of the texts for people that an MP4 or MOV has in boxes which neither ffprobe nor HandBrake reads: XMP, properties that
 * Windows gives to files, and those of mobile phones. Undefined if that can't be known.
 */
export async function movTexts(readAt: ReadAt, signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
	const found = new Set<string>();
	let left = maxBoxes;
	const takeBox = async (name: string, at: number, end: number): Promise<boolean> => {
		const isXmp = name === 'XMP_' || (name === 'uuid' && hexOf(await readAt(at, 16)) === xmpUuid);
		if (!isXmp && name !== 'Xtra') {
			const text = single[name];
			if (text !== undefined && end > at) found.add(text);
			return true;
		}
		if (end - at > maxTextBytes) return false;
		const bytes = await readAt(at, end - at);
		for (const text of isXmp ? textsOfXmp(bytes) : textsOfWindows(bytes)) found.add(text);
		return true;
	};
	const walk = async (start: number, stop: number): Promise<boolean> => {
		for (let at = start; at + 8 <= stop; ) {
			signal.throwIfAborted();
			const head = await readAt(at, 16);
			// The end of the file, or of a list of a MOV.
			if (head.length < 8) return true;
			const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
			const isLong = view.getUint32(0) === 1;
			const length = isLong && head.length === 16 ? Number(view.getBigUint64(8)) : view.getUint32(0);
			const content = at + (isLong ? 16 : 8);
			if (at + length < content) return true;
			if (left-- === 0) return false;
			const name = String.fromCharCode(...head.subarray(4, 8));
			const end = Math.min(stop, at + length);
			const isRead = parents.has(name) ? await walk(content, end) : await takeBox(name, content, end);
			if (!isRead) return false;
			at += length;
		}
		return true;
	};
	return (await walk(0, Number.POSITIVE_INFINITY)) ? found : undefined;
}

/** `movTexts` of an open file. */
export const movTextsIn = (descriptor: number, signal: AbortSignal) => movTexts(readerOf(descriptor), signal);

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** As an attribute or as an element, which may have a list. */
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
	return xmpTexts.filter(([name]) => isSaid(textOf(name).trim())).map(([, text]) => text);
}

/** Entries of a length, that of a name, the name and its values. */
function textsOfWindows(bytes: Uint8Array): string[] {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const names: string[] = [];
	for (let at = 0; at + 8 <= bytes.length; ) {
		const [length, nameLength] = [view.getUint32(at), view.getUint32(at + 4)];
		if (length < 8) break;
		const name = new TextDecoder().decode(bytes.subarray(at + 8, at + 8 + Math.min(nameLength, 100))).toLowerCase();
		if (!technical.test(name)) names.push(name.replace(/^wm\//, ''));
		at += length;
	}
	return names.map((name) => windowsNames[name] ?? name);
}
