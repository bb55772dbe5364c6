import { findDoctype } from '@stowage/rules';

/** The most elements that the page can read, clean and lay out on a slow machine. */
const maxElements = 20_000;
/** The browser lays out elements within each other by recursion: some thousands of them, which are 2 kB, stop the page or end it. */
const maxDepth = 100;
/** Attributes of an element, on average. */
const maxAttributes = 8;

/** Characters of the elements, with their texts. */
const maxCharacters = 20_000_000;

/** There is more of it than the page could show without a stop. */
export class TooMuchMarkup extends Error {}

/**
 * The number of elements in XML; throws `TooMuchMarkup` for more, or deeper ones, than a browser reads and lays out in
 * time. To be asked before a parser gets it: one that finds a fault stops there, and up to that place it reads tags,
 * comments and sections as they are read here.
 */
export function countElements(xml: string, most = maxElements): number {
	if (xml.length > maxCharacters) throw new TooMuchMarkup('It is too long.');
	const doctype = findDoctype(xml);
	const hasDoctype = typeof doctype !== 'string';
	if (hasDoctype && declaresMarkup(xml.slice(doctype.start + 2, doctype.end))) {
		throw new TooMuchMarkup('Its entities have markup in them.');
	}
	let elements = 0;
	let attributes = 0;
	let depth = 0;
	for (let at = xml.indexOf('<', hasDoctype ? doctype.end : 0); at !== -1; at = xml.indexOf('<', at)) {
		const kind = xml[at + 1];
		if (kind === '!' || kind === '?') at = sectionEnd(xml, at);
		else if (kind === '/') {
			depth--;
			at += 2;
		} else {
			const tag = readTag(xml, at);
			elements++;
			attributes += tag.attributes;
			if (!tag.isEmpty) depth++;
			at = tag.end;
		}
		if (elements > most || attributes > maxAttributes * most || depth > maxDepth) {
			throw new TooMuchMarkup('It has too many elements, or they are nested too deep.');
		}
	}
	return elements;
}

const sections = [
	['<!--', '-->'],
	['<![CDATA[', ']]>'],
	['<?', '?>'],
] as const;

/** The offset behind a comment, a CDATA section or a processing instruction. */
function sectionEnd(xml: string, at: number): number {
	const [open, close] = sections.find(([beginning]) => xml.startsWith(beginning, at)) ?? ['<!', '>'];
	const end = xml.indexOf(close, at + open.length);
	return end === -1 ? xml.length : end + close.length;
}

function readTag(xml: string, start: number): { end: number; attributes: number; isEmpty: boolean } {
	let attributes = 0;
	let at = start + 1;
	while (at < xml.length) {
		const character = xml.charAt(at);
		if (character === '>') return { end: at + 1, attributes, isEmpty: xml[at - 1] === '/' };
		if (character === '"' || character === "'") {
			attributes++;
			const close = xml.indexOf(character, at + 1);
			if (close === -1) break;
			at = close;
		}
		at++;
	}
	return { end: xml.length, attributes, isEmpty: false };
}

/** Whether entities could stand for elements or for other entities, and so for more than the text has. */
function declaresMarkup(declaration: string): boolean {
	if (!declaration.includes('<!ENTITY')) return false;
	const plain = declaration.replaceAll(/&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi, (_, hex?: string, decimal?: string) => {
		const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
		return code === 0x26 || code === 0x3c ? '&' : '';
	});
	return /[%&]|<[^!]/.test(plain);
}
