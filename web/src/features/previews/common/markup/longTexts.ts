import { characterCosts, maxSeparate } from './characterCosts.js';
import { plainNames } from './cssTokens.js';
import { TooMuchMarkup } from './markupBounds.js';
import { candidatesIn, elementsAmong, styleOf, withoutComments } from './styleCost.js';
import { type Declaration, declarationsIn } from './styleDeclarations.js';

/** The longest word has a few hundred characters, an address a thousand. */
const longWord = /\S{500}/gu;
/** Characters of all texts in one document: a novel. */
const maxCharacters = 2_000_000;
/** Letters that join or combine, which take far longer: a long chapter. */
const maxJoining = 300_000;
/** Letters that join or combine and script runs in one paragraph, for whose lines the browser takes the square of their number. */
export const maxInParagraph = 20_000;
/**
 * Squares of the numbers of characters in each paragraph that the font around them may lack: 50,000 are in one paragraph at most, or
 * half as many in each of four. Every fourth letter of Vietnamese is one.
 */
const maxSquares = 50_000 ** 2;
/** Letters that join or combine and script runs in one document. The words of a Korean text have one run each. */
const maxCostly = 600_000;
/** Characters that take no place on screen, in one paragraph and in one document. */
const maxPiledInParagraph = 5_000;
const maxPiled = 20_000;

/**
 * The elements of HTML that are laid out apart from the texts before and behind them, also where these have no element of their own. All
 * others, and those of an unknown name, are part of the paragraph around them. Styles may not change that, but hide them (`cleanMarkup`).
 */
const apart = new Set(
	'address article aside blockquote body br caption center dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol p plaintext pre search section summary table tbody td tfoot th thead tr ul xmp'.split(
		' ',
	),
);

/** Whether an element of HTML ends the paragraph before it. */
export const isApart = (name: string) => apart.has(name);

/** What has been counted of one paragraph. */
interface Paragraph {
	costly: number;
	piled: number;
	uncommon: number;
}

const noText = (): Paragraph => ({ costly: 0, piled: 0, uncommon: 0 });

/**
 * Counts the characters of one document that the font around them may lack (`uncommon`), for which a browser takes the square of their
 * number.
 */
export function uncommonBound() {
	let current = noText();
	let squares = 0;
	return {
		/** Whether there are not too many of them. */
		add(uncommon: number, paragraph: Pick<Paragraph, 'uncommon'> = current): boolean {
			squares += uncommon * (2 * paragraph.uncommon + uncommon);
			paragraph.uncommon += uncommon;
			return squares <= maxSquares;
		},
		endParagraph(): void {
			current = noText();
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
	let current = noText();
	const uncommon = uncommonBound();
	const costs = characterCosts();
	return {
		/** Of the current paragraph, or one that texts between have left. */
		add(text: string, paragraph = current): void {
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
			if (!uncommon.add(added.uncommon, paragraph) || isLong || isDense || piled > maxPiled || separate > maxSeparate) {
				throw new TooMuchMarkup('Its text is too long.');
			}
		},
		endParagraph(): void {
			current = noText();
		},
	};
}

/** Attributes that a browser shows as texts, such as that of a picture without a file. */
const shown = ['alt', 'label', 'placeholder', 'value'];

/**
 * Lets lines end within words that are longer than any: to find the ends of lines in one, the browser measures it as
 * often as it has lines. Throws for more text than it lays out in time, with the styles that the document has by now.
 */
export function boundTexts(root: Node & ParentNode, styles: readonly string[]): void {
	countTexts(root, styles);
}

/** Values of `display` by which an element is part of the paragraph around it, or may be, where the value comes from elsewhere. */
export const inLine =
	/^(?:contents|inherit|initial|unset|revert|revert-layer|ruby.*|math|run-in)$|(?:^|\s)inline(?:\s|$)|\(/;

/** What of a drawing has texts: the browser lays out each that is in no other as a paragraph of its own, or as several. */
const textParts = 'text, foreignObject';

/**
 * Whether a drawing has more text, in its own elements or in HTML, than a browser lays out in time. `given` are its style sheets and the
 * styles of its elements, see `withQuotes`.
 */
export function hasCostlyTexts(root: Node & ParentNode, given: readonly string[]): boolean {
	const styles = given.map(plainStyle);
	const isShown = (node: Node) => (node instanceof Element ? node : node.parentElement)?.closest(textParts) != null;
	const isOutermost = (element: Element) =>
		element.namespaceURI === svg &&
		element.matches(textParts) &&
		(element.parentElement?.closest(textParts) ?? null) === null;
	try {
		countTexts(root, styles, { isShown, isParagraph: isOutermost, areJoined: joinsLines(root, styles) });
	} catch (error) {
		if (error instanceof TooMuchMarkup) return true;
		throw error;
	}
	return false;
}

const plainStyle = (css: string) => plainNames(withoutComments(css));

/** Whether a style may make what is laid out apart a part of the lines around it, as cleaning lets none in a book. */
function joinsLines(root: ParentNode, styles: readonly string[]): boolean {
	const all = [...root.querySelectorAll('*')];
	const blocks = all.filter(({ namespaceURI, localName }) => namespaceURI === html && isApart(localName));
	if (blocks.some((each) => declarationsIn(plainStyle(styleOf(each))).some(mayJoin))) return true;
	const among = elementsAmong(blocks);
	const preludes = new Set(
		styles
			.flatMap(declarationsIn)
			.filter(mayJoin)
			.flatMap(({ prelude }) => prelude ?? []),
	);
	return [...preludes].some((prelude) => candidatesIn(prelude, among) > 0);
}

function mayJoin({ name, value }: Declaration): boolean {
	if (name !== 'display') return name === 'all';
	return inLine.test(value.toLowerCase().replaceAll(/\s+/g, ' ').replace(/!.*/, '').trim());
}

interface Counting {
	isShown(node: Node): boolean;
	/** Which elements are paragraphs, besides those that are laid out apart. */
	isParagraph(element: Element): boolean;
	/** Whether what is laid out apart may be part of the lines around it. */
	areJoined: boolean;
}

const allOfHtml: Counting = { isShown: () => true, isParagraph: () => false, areJoined: false };

function countTexts(
	root: Node & ParentNode,
	styles: readonly string[],
	{ isShown, isParagraph, areJoined }: Counting = allOfHtml,
): void {
	const nodes = (root.ownerDocument ?? (root as Document)).createTreeWalker(
		root,
		NodeFilter.SHOW_TEXT | NodeFilter.SHOW_CDATA_SECTION | NodeFilter.SHOW_ELEMENT,
	);
	const bound = textBound();
	const isPlain = !styles.some(takesOut) && !takesOutIn(root);
	const endsParagraph = (element: Element) => isParagraph(element) || (!areJoined && isLaidOutApart(element));
	const parts =
		isPlain || areJoined
			? undefined
			: paragraphsWithin(breaksOf(root, styles), (element) => isParagraph(element) || isBox(element));
	for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
		if (!isShown(node)) continue;
		if (node instanceof Element) {
			if (parts) parts.begin(node);
			else if (endsParagraph(node)) bound.endParagraph();
			for (const name of shown) bound.add(node.getAttribute(name) ?? '', parts?.around(node));
			continue;
		}
		const text = node.nodeValue ?? '';
		bound.add(text, parts?.around(node));
		if (text.length >= 500) node.nodeValue = text.replaceAll(longWord, '$&\u200B');
	}
}

/**
 * Which texts are one paragraph where elements that are laid out apart may be hidden, or not end the lines around them: all that is in one
 * of these, and in no other one within it, up to one of these breaks. Else it is what follows the element before that is laid out apart.
 */
function paragraphsWithin(breaks: ReadonlySet<Element>, isOne: (element: Element) => boolean) {
	const known = new Map<Element, Element | null>();
	const apartAround = (element: Element | null): Element | null => {
		if (element === null) return null;
		const around = known.get(element) ?? (isOne(element) ? element : apartAround(element.parentElement));
		known.set(element, around);
		return around;
	};
	const paragraphs = new Map<Element | null, Paragraph>();
	return {
		begin(element: Element): void {
			if (breaks.has(element)) paragraphs.delete(apartAround(element.parentElement));
		},
		around(node: Node): Paragraph {
			const element = apartAround(node.parentElement);
			const paragraph = paragraphs.get(element) ?? noText();
			paragraphs.set(element, paragraph);
			return paragraph;
		},
	};
}

/** Whether lines within an element are none of those around it. */
const isBox = (element: Element) => isForeign(element) || (element.localName !== 'br' && isLaidOutApart(element));
const isForeign = ({ namespaceURI, localName }: Element) => namespaceURI === svg && localName === 'foreignObject';

/** The breaks of lines that no style takes out, by themselves or with what is around them in their paragraph: all of them, or none. */
function breaksOf(root: ParentNode, styles: readonly string[]): ReadonlySet<Element> {
	const breaks = new Set([...root.querySelectorAll('br')].filter(isLaidOutApart));
	const within = new Set<Element>(breaks);
	for (const element of within) {
		const { parentElement } = element;
		if (parentElement !== null && !isBox(parentElement)) within.add(parentElement);
	}
	if ([...within].some((element) => takesOut(plainStyle(styleOf(element))))) return new Set();
	const elements = elementsAmong(within);
	const mayTakeOut = (name: string) => /^(?:content|display|float|position)$/.test(name);
	const rules = styles
		.flatMap(declarationsIn)
		.filter(({ name, value }) => mayTakeOut(name) && takesOut(`${name}:${value}`));
	// Those of one element alone have none.
	const preludes = new Set(rules.flatMap(({ prelude }) => prelude ?? []));
	return [...preludes].some((prelude) => candidatesIn(prelude, elements) > 0) ? new Set() : breaks;
}

/**
 * Whether a style hides elements, or lays them out beside the lines around them or in one of these: what floats, or has a place of its own,
 * parts no texts, nor does a cell or block within a line, or what a picture stands in for.
 */
const takesOut = (css: string) =>
	[...css.matchAll(/(?:^|[^\w-])(content|display|float|position)\s*:\s*([\w-]*)([^;{}"']{0,99})/gi)].some(
		([, name = '', value = '', more = '']) => {
			const written = value.toLowerCase();
			switch (name.toLowerCase()) {
				case 'content':
					return !withoutPicture.has(written);
				case 'display':
					return besideLines.test(written + more);
				case 'float':
					return written !== 'none';
				default:
					return !inFlow.has(written);
			}
		},
	);

/** Also what a function may stand for. */
const besideLines = /(?:^|\s)(?:-\w+-)?(?:none|table-|inline-|inline\s+\w|ruby|math)|\s(?:-\w+-)?inline|\(/i;

/** Positions that leave an element in its line. */
const inFlow: ReadonlySet<string> = new Set(['static', 'relative', 'sticky', '-webkit-sticky']);

/** What a `content` without a picture begins with, of which only pseudo-elements are made. A string has no name. */
const withoutPicture: ReadonlySet<string> = new Set(
	' attr close-quote counter counters initial no-close-quote no-open-quote none normal open-quote revert revert-layer unset'.split(
		' ',
	),
);

/** What is so without a style: also a cell that is in no row, which makes a table of its own. */
const takenOut =
	'[popover], table[align=left i], table[align=right i], :is(caption, tbody, td, tfoot, th, thead, tr):not(:is(table, tbody, tfoot, thead, tr) > *)';

const takesOutIn = (root: ParentNode) =>
	root.querySelector(takenOut) !== null ||
	[...root.querySelectorAll(`:is(${inLines}) *`)].some(isLaidOutApart) ||
	[...root.querySelectorAll('[style]')].some((element) => takesOut(element.getAttribute('style') ?? ''));

const html = 'http://www.w3.org/1999/xhtml';
const svg = 'http://www.w3.org/2000/svg';

/** What stands in a line, whatever is laid out apart in it. */
const inLines = 'button, marquee, math, ruby, svg';

/** What browsers lay out nothing of, or only the texts as one. */
const withoutBoxes =
	'annotation, annotation-xml, area, audio, canvas, col, datalist, defs, desc, dialog, embed, head, iframe, img, input, metadata, meter, noembed, noframes, noscript, object, optgroup, option, param, progress, rp, script, select, style, symbol, template, text, textarea, title, video, wbr';

/** Whether an element ends the paragraph before it, as texts of a drawing do, too; what else is in a drawing has no boxes of its own. */
function isLaidOutApart(element: Element): boolean {
	const { localName, namespaceURI, parentElement } = element;
	const isOne =
		namespaceURI === html ? isApart(localName) : namespaceURI === svg && localName === 'text' && isDrawn(element);
	if (!isOne || element.closest('[hidden], [style*="display: none"]')) return false;
	if ((parentElement?.closest(withoutBoxes) ?? null) !== null) return false;
	const line = localName === 'br' ? (parentElement?.closest(`${inLines}, foreignObject`) ?? null) : null;
	return line === null || isForeign(line);
}

/** Whether a part of a drawing is in one: beside elements of HTML, also in a `foreignObject`, browsers lay out nothing of it. */
function isDrawn({ parentElement: around }: Element): boolean {
	if (around?.namespaceURI !== svg || around.localName === 'foreignObject') return false;
	const isOutermost = around.localName === 'svg' && around.parentElement?.namespaceURI !== svg;
	return isOutermost || isDrawn(around);
}
