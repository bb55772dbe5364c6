import { characterCosts, maxSeparate } from './characterCosts.js';
import { TooMuchMarkup } from './markupBounds.js';

/** The longest word has a few hundred characters, an address a thousand. */
const longWord = /\S{500}/gu;
/** Characters of all texts in one document: a novel. */
const maxCharacters = 2_000_000;
/** Letters that join or combine, which take far longer: a long chapter. */
const maxJoining = 300_000;
/** Letters that join or combine and script runs in one paragraph, for whose lines the browser takes the square of their number. */
export const maxInParagraph = 20_000;
/**
 * Squares of the numbers of characters in each paragraph that the font around them may lack: 50,000 are in one paragraph at most, or half as
 * many in each of four. Every fourth letter of Vietnamese is one.
 */
const maxSquares = 50_000 ** 2;
/** Letters that join or combine and script runs in one document. The words of a Korean text have one run each. */
const maxCostly = 600_000;
/** Characters that take no place on screen, in one paragraph and in one document. */
const maxPiledInParagraph = 5_000;
const maxPiled = 20_000;

/** What is within a line by itself. Everything else is taken to end a paragraph, which styles may not change (`cleanMarkup`). */
const inline = new Set(
	'a abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label mark nobr q rb rp rt rtc ruby s samp small span strike strong sub sup svg time tt u var wbr'.split(
		' ',
	),
);

/** Whether it is within a line by itself, and so part of the paragraph around it. */
export const isInline = (name: string) => inline.has(name);

/**
 * Counts the characters of one document that the font around them may lack (`uncommon`), for which a browser takes the square of their
 * number.
 */
export function uncommonBound() {
	let inParagraph = 0;
	let squares = 0;
	return {
		/** Whether there are not too many of them. */
		add(uncommon: number): boolean {
			squares += uncommon * (2 * inParagraph + uncommon);
			inParagraph += uncommon;
			return squares <= maxSquares;
		},
		endParagraph(): void {
			inParagraph = 0;
		},
	};
}

/**
 * Counts the texts of one document as they follow each other, by what they cost to lay out. Throws for more than a browser lays out in
 * time.
 */
export function textBound() {
	let characters = 0;
	let joining = 0;
	let costly = 0;
	let piled = 0;
	let separate = 0;
	let paragraph = { costly: 0, piled: 0 };
	const uncommon = uncommonBound();
	const costs = characterCosts();
	return {
		add(text: string): void {
			const added = costs.add(text);
			characters += text.length;
			joining += added.joining;
			costly += added.costly;
			piled += added.piled;
			// Styles may keep the blanks of any element.
			separate += added.separate;
			paragraph.costly += added.costly;
			paragraph.piled += added.piled;
			const isLong = characters > maxCharacters || joining > maxJoining || costly > maxCostly;
			const isDense = paragraph.costly > maxInParagraph || paragraph.piled > maxPiledInParagraph;
			if (!uncommon.add(added.uncommon) || isLong || isDense || piled > maxPiled || separate > maxSeparate) {
				throw new TooMuchMarkup('Its text is too long.');
			}
		},
		endParagraph(): void {
			paragraph = { costly: 0, piled: 0 };
			uncommon.endParagraph();
		},
	};
}

/**
 * Lets lines end within words that are longer than any: to find the ends of lines in one, the browser measures it as
 * often as it has lines. Throws for more text than it lays out in time.
 */
export function boundTexts(root: Node): void {
	const nodes = (root.ownerDocument as Document).createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
	const bound = textBound();
	for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
		if (node instanceof Element) {
			if (!isInline(node.localName)) bound.endParagraph();
			continue;
		}
		const text = node.nodeValue ?? '';
		bound.add(text);
		if (text.length >= 500) node.nodeValue = text.replaceAll(longWord, '$&\u200B');
	}
}
