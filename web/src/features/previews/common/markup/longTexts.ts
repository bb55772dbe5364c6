import { TooMuchMarkup } from './markupBounds.js';

/** The longest word is one of a few hundred letters, an address of a thousand. */
const longWord = /\S{500}/gu;
/** Letters of all texts in one document: a novel. */
const maxLetters = 2_000_000;
/** Of those that join or combine, which take far longer: a long chapter. */
const maxJoining = 300_000;
/** Of those in one paragraph, for whose lines the browser takes the square of their number. */
export const maxInParagraph = 20_000;
/** All marks, the scripts that join their letters or are written from right to left, and rare ones. */
const joining = /[\p{M}\u0590-\u1DFF\uA800-\uABFF\uFB1D-\uFDFF\uFE70-\uFEFF\u{10000}-\u{1EFFF}]/gu;

/** What is within a line by itself. Everything else is taken to end a paragraph, which styles may not change (`cleanMarkup`). */
const inline = new Set(
	'a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q rb rp rt rtc ruby s samp small span strike strong sub sup svg time tt u var wbr'.split(
		' ',
	),
);

/** Whether it is within a line by itself, and so part of the paragraph around it. */
export const isInline = (name: string) => inline.has(name);

/** The letters of a text that join or combine. */
export const countJoining = (text: string) => text.match(joining)?.length ?? 0;

/** The beginning of a text, of which no more than `max` letters join or combine. */
export function withFewJoining(text: string, max: number): string {
	if (countJoining(text) <= max) return text;
	let left = max;
	let end = 0;
	for (const { index } of text.matchAll(joining)) {
		end = index;
		if (left-- === 0) break;
	}
	return text.slice(0, end);
}

/**
 * Lets lines end within words that are longer than any: to find the ends of lines in one, the browser measures it as
 * often as it has lines. Throws for more text than it lays out in time.
 */
export function boundTexts(root: Node): void {
	const nodes = (root.ownerDocument as Document).createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
	let letters = 0;
	let joined = 0;
	let paragraph = 0;
	for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
		if (node instanceof Element) {
			if (!isInline(node.localName)) paragraph = 0;
			continue;
		}
		const text = node.nodeValue ?? '';
		const ofThese = countJoining(text);
		letters += text.length;
		joined += ofThese;
		paragraph += ofThese;
		if (letters > maxLetters || joined > maxJoining || paragraph > maxInParagraph) {
			throw new TooMuchMarkup('Its text is too long.');
		}
		if (text.length >= 500) node.nodeValue = text.replaceAll(longWord, '$&\u200B');
	}
}
