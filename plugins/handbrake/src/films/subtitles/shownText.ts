import type { SubtitleTrack } from '../probing/Film.js';

/** The fields of an event of ASS before its text. */
const fieldsOfAss = 8;

/** The text of a sample of MP4 begins behind its length. */
export const lengthBytes = 2;
/** A mark of the order of bytes tells UTF-16 from UTF-8. */
const utf16 = 0xfeff;

const entities: ReadonlyMap<string, string> = new Map([
	...([
		['&amp;', '&'],
		['&lt;', '<'],
		['&gt;', '>'],
		['&nbsp;', ' '],
		['&lrm;', ''],
		['&rlm;', ''],
	] as const),
]);

/** The text of a line of subtitles by the bytes of its packet, with its markup. */
export function textOf(kind: SubtitleTrack['kind'], packet: Buffer): string {
	if (kind !== 'text of MP4') return packet.toString('utf8');
	if (packet.length < lengthBytes) return '';
	const text = packet.subarray(lengthBytes, lengthBytes + packet.readUInt16BE());
	if (text.length < 2 || text.readUInt16BE() !== utf16) return text.toString('utf8');
	return new TextDecoder('utf-16be').decode(text);
}

/**
 * The rows of such a text in which players show anything, without its markup and without what nobody sees, such as spaces. An encoder
 * may put lines that are shown together into one, so it is by rows that they are found again.
 */
export function rowsOf(kind: SubtitleTrack['kind'], text: string): string[] {
	return plain[kind](text)
		.split(/[\r\n]/)
		.map((row) => row.replace(/[\p{Z}\p{C}]/gu, ''))
		.filter((row) => row !== '');
}

const plain: Readonly<Record<SubtitleTrack['kind'], (text: string) => string>> = {
	// What is in braces without a backslash is spoken as well, and so is what looks like any other tag.
	text: (text) =>
		withoutBraces(text, '{\\')
			.replace(/<br\s*\/?>/gi, '\n')
			.replace(/<\/?(?:b|i|u|s|font)(?:[\s/][^<>]*)?>/gi, ''),
	ASS: (text) =>
		withoutBraces(withoutFields(text), '{')
			.replace(/\\[Nn]/g, '\n')
			.replaceAll('\\h', ' '),
	WebVTT: (text) => text.replace(/<[^<>]*>/g, '').replace(/&[a-z]{2,4};/g, (entity) => entities.get(entity) ?? entity),
	'text of MP4': (text) => withoutBraces(text, '{\\'),
	pictures: () => '',
	'pictures of PGS or DVB': () => '',
};

function withoutFields(event: string): string {
	let at = 0;
	for (let n = 0; n < fieldsOfAss; n++) at = event.indexOf(',', at) + 1 || event.length;
	return event.slice(at);
}

/** A text without what is in braces that begin so; braces that don't end are shown. */
function withoutBraces(text: string, beginning: string): string {
	const parts: string[] = [];
	let at = 0;
	for (let begin = text.indexOf(beginning); begin >= 0; begin = text.indexOf(beginning, at)) {
		const end = text.indexOf('}', begin);
		if (end < 0) break;
		parts.push(text.slice(at, begin));
		at = end + 1;
	}
	return parts.join('') + text.slice(at);
}
