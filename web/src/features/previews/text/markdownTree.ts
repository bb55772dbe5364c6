import { Parser } from 'htmlparser2';
import { Marked, Tokenizer } from 'marked';
import { maxPixels, pixelsOfAddress } from '../common/images/pixels.js';
import { type AddedCost, characterCosts, maxSeparate } from '../common/markup/characterCosts.js';
import { isApart, maxInParagraph, uncommonBound } from '../common/markup/longTexts.js';

/**
 * A text, or an element with its parts. Only elements and attributes of the lists below occur; where its links lead
 * has not been asked yet.
 */
export type MarkdownNode = string | MarkdownElement;

export interface MarkdownElement {
	tag: string;
	attributes: Record<string, string>;
	children: MarkdownNode[];
}

const namesIn = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** The elements that a text may contain. Nothing here runs, sends a request or leaves its place. */
const tags = namesIn(
	'a abbr b blockquote br caption code dd del details dfn div dl dt em h1 h2 h3 h4 h5 h6 hr i img input ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var',
);
const attributes = namesIn('align alt checked colspan href open rowspan src start title type');

/** Elements that are left out with their texts. */
const removed = namesIn(
	'audio iframe math noembed noframes noscript object script select style svg template textarea title video',
);

/** The most nodes that the page can make and lay out at once on a slow machine. */
const maxNodes = 20_000;
/**
 * Nodes that an element counts for, whose boxes are several: laying out 10,000 of these takes some seconds, of any
 * other one half a second.
 */
const weights: Readonly<Record<string, number>> = { details: 10, img: 4, li: 4, table: 4 };
/** Laying out tables and lists within each other takes longer than their number. */
const maxDepth = 40;
/** Tags within each other, those that are left out too. */
const maxOpen = 200;
/** Rows and columns that one cell of a table may take. */
const maxSpan = 100;
/** The places of all cells that span several. */
const maxSlots = 20_000;

/** Letters that join or combine and script runs in a top-level element: each of these is laid out when it comes on screen. */
const maxInBlock = 100_000;
/** Characters that take no place, in the whole text: however many elements have them, all of these are on screen. */
const maxPiled = 5_000;

/**
 * Characters of all texts and attributes, as many as four times the largest text: each link and picture repeats the
 * address and title of the one reference that it names.
 */
const maxCharacters = 4_000_000;

/** Cells of all tables that marked makes, more than once of those in quotes that it reads again. The page shows fewer. */
const maxCells = 100_000;

/**
 * Characters of all quotes and lists as often as marked reads them: one within another is read with each, and one more time with the
 * lines that go on behind it, so that those in stairs are read as often as a power of two says. What each reading found is kept.
 */
const maxRead = 10_000_000;
/** What a reading costs that finds a few characters. */
const leastRead = 1000;

/** There is more of it than the page could show without a stop. */
class TooMuch extends Error {}

/**
 * A Markdown text, with the HTML in it, as a tree that the page makes as it is. No parser of the browser reads it:
 * those take the square of the length for tags without an end, and copy them. Undefined for one that is too large or
 * too deep.
 */
export function markdownTree(text: string): MarkdownNode[] | undefined {
	return unlessTooMuch(() => readTree(htmlOf(text)));
}

/** HTML as such a tree; undefined for one that is too large or too deep. */
export function htmlTree(html: string): MarkdownNode[] | undefined {
	return unlessTooMuch(() => readTree(html));
}

function unlessTooMuch(read: () => MarkdownNode[]): MarkdownNode[] | undefined {
	try {
		return read();
	} catch (error) {
		if (error instanceof TooMuch) return undefined;
		throw error;
	}
}

/** What links and pictures repeat is counted before it is written. */
function htmlOf(text: string): string {
	const count = characterCount();
	/** The rest is as by default. */
	const counted = ({ href, title }: { href: string; title?: string | null }) => {
		count(href);
		count(title ?? '');
		return false as const;
	};
	const marked = new Marked<string, string>({ async: false, gfm: true, renderer: { link: counted, image: counted } });
	return marked.parse(text, { tokenizer: new BoundedTokenizer() }) as string;
}

/** Refuses what would become far longer than the text, before it is made. */
class BoundedTokenizer extends Tokenizer {
	#cells = 0;
	#depth = 0;
	#read = 0;

	/** Each row gets as many cells as the first one has. */
	override table(source: string) {
		const [, , columns = '', rows = ''] = this.rules.block.table.exec(source) ?? [];
		this.#cells += columns.split('|').length * rows.split('\n').length;
		if (this.#cells > maxCells) throw new TooMuch();
		return super.table(source);
	}

	/** Each quote and list keeps all that is within it as a text of its own. */
	override blockquote(source: string) {
		return this.#within(() => super.blockquote(source));
	}

	override list(source: string) {
		return this.#within(() => super.list(source));
	}

	#within<T extends { raw: string }>(read: () => T | undefined): T | undefined {
		// The innermost one asks for others within it.
		if (this.#depth > maxDepth) throw new TooMuch();
		this.#depth++;
		const token = read();
		this.#depth--;
		if (token !== undefined) this.#read += Math.max(leastRead, token.raw.length);
		if (this.#read > maxRead) throw new TooMuch();
		return token;
	}
}

/** Throws where they are too many. */
function characterCount(): (text: string) => void {
	let characters = 0;
	return ({ length }) => {
		characters += length;
		if (characters > maxCharacters) throw new TooMuch();
	};
}

interface Open {
	children: MarkdownNode[];
	/** What is in it is laid out apart from the texts before and behind it, which one that is left out does not part. */
	endsParagraph: boolean;
	/** Elements around them. */
	depth: number;
	isRemoved: boolean;
	/** Within an element that is laid out only on screen, which those at the top are but for what is within a line. */
	isInBlock: boolean;
	/** Blanks and lines are kept in it. */
	isPreformatted: boolean;
}

function readTree(html: string): MarkdownNode[] {
	let pixels = 0;
	let slots = 0;
	const top: Open = {
		children: [],
		endsParagraph: false,
		depth: 0,
		isRemoved: false,
		isInBlock: false,
		isPreformatted: false,
	};
	const open = [top];
	let nodes = 0;
	/** Letters that join or combine, and script runs. */
	const costly = { paragraph: 0, block: 0, outside: 0 };
	const uncommon = uncommonBound();
	let piled = 0;
	let preformatted = 0;
	const costs = characterCosts();
	const count = characterCount();
	const endParagraph = () => {
		costly.paragraph = 0;
		uncommon.endParagraph();
	};
	const addCosts = (added: AddedCost, { isInBlock, isPreformatted }: Open) => {
		costly.paragraph += added.costly;
		costly[isInBlock ? 'block' : 'outside'] += added.costly;
		piled += added.piled;
		if (isPreformatted) preformatted += added.separate;
		if (!uncommon.add(added.uncommon) || preformatted > maxSeparate) throw new TooMuch();
		if (costly.paragraph > maxInParagraph || Math.max(costly.block, costly.outside) > maxInBlock) throw new TooMuch();
		if (piled > maxPiled) throw new TooMuch();
	};
	const add = (parent: Open, node: MarkdownNode) => {
		nodes += typeof node === 'string' ? 1 : (weights[node.tag] ?? 1);
		if (nodes > maxNodes) throw new TooMuch();
		if (typeof node === 'string') count(node);
		else for (const value of Object.values(node.attributes)) count(value);
		parent.children.push(node);
	};
	const parser = new Parser({
		onopentag(name, given) {
			const parent = open.at(-1) ?? top;
			const isRemoved = parent.isRemoved || removed.has(name);
			const made = isRemoved || !tags.has(name) ? undefined : nodeOf(name, given);
			const src = typeof made === 'object' ? made.attributes.src : undefined;
			if (src !== undefined && pixels <= maxPixels) pixels += pixelsOfAddress(src);
			if (typeof made === 'object') slots += boundSpans(made, maxSlots - slots);
			// A picture of a few kilobytes may take gigabytes when it is drawn.
			const node = src !== undefined && pixels > maxPixels ? (given.alt ?? '') : made;
			if (node !== undefined) add(parent, node);
			const isKept = typeof node === 'object';
			// Shown in the place of a picture that is broken.
			if (isKept) addCosts(costs.add(node.attributes.alt ?? ''), parent);
			// The texts on both sides of one that is left out become one.
			const endsParagraph = isKept && isApart(name);
			if (endsParagraph) endParagraph();
			const isInBlock = parent.isInBlock || (endsParagraph && name !== 'br');
			if (isInBlock && !parent.isInBlock) costly.block = 0;
			const own = isKept ? { children: node.children, depth: parent.depth + 1 } : parent;
			if (own.depth > maxDepth || open.length > maxOpen) throw new TooMuch();
			const isPreformatted = parent.isPreformatted || name === 'pre';
			open.push({ ...own, endsParagraph, isRemoved, isInBlock, isPreformatted });
		},
		onclosetag() {
			if (open.pop()?.endsParagraph) endParagraph();
		},
		ontext(text) {
			const parent = open.at(-1) ?? top;
			if (parent.isRemoved) return;
			// A browser shapes each line by itself where its end is kept.
			for (const part of parent.isPreformatted ? (text.match(/[^\n]+|\n/g) ?? []) : [text]) {
				addCosts(costs.add(part), parent);
				if (part === '\n' && parent.isPreformatted) uncommon.endParagraph();
			}
			const before = parent.children.at(-1);
			// It comes in pieces.
			if (typeof before === 'string') {
				count(text);
				parent.children[parent.children.length - 1] = before + text;
			} else add(parent, text);
		},
	});
	parser.end(html);
	return top.children;
}

/** The node of a tag; undefined for one that is left out, but for what is in it. */
function nodeOf(tag: string, given: Readonly<Record<string, string>>): MarkdownNode | undefined {
	const own = Object.fromEntries(Object.entries(given).filter(([name]) => attributes.has(name)));
	const { href, src, colspan, rowspan, start, type, ...plain } = own;
	const kept: Record<string, string> = plain;
	// Among thousands that float each one looks for its place beside those before it.
	if (tag === 'table' || tag === 'img') delete kept.align;
	if (tag === 'img') {
		const isPicture = /^data:image\/(?:png|jpeg|gif|webp|avif);/i.test(src ?? '');
		if (!isPicture) return plain.alt ?? '';
		kept.src = src ?? '';
	}
	// The only form fields are the checkboxes of task lists.
	if (tag === 'input')
		return type === 'checkbox' ? element(tag, { ...kept, type, disabled: '', 'aria-hidden': 'true' }) : undefined;
	if (tag === 'a' && href !== undefined) kept.href = href;
	if (spanOf(colspan) > 1) kept.colspan = String(spanOf(colspan));
	if (spanOf(rowspan) > 1) kept.rowspan = String(spanOf(rowspan));
	if (start !== undefined && tag === 'ol') kept.start = start;
	// Its headings are below the heading with the name of the file.
	const [, level] = /^h([1-6])$/.exec(tag) ?? [];
	if (level !== undefined)
		Object.assign(kept, { role: 'heading', 'aria-level': String(Math.min(6, Number(level) + 2)) });
	return element(tag, kept);
}

const spanOf = (text: string | undefined) => Math.min(maxSpan, Math.max(1, Number.parseInt(text ?? '', 10) || 1));

/** How many places of a table a cell takes that takes several; without its spans 0 if there are too many. */
function boundSpans({ attributes }: MarkdownElement, left: number): number {
	const places = spanOf(attributes.colspan) * spanOf(attributes.rowspan);
	if (places === 1) return 0;
	if (places <= left) return places;
	delete attributes.colspan;
	delete attributes.rowspan;
	return 0;
}

const element = (tag: string, given: Record<string, string>): MarkdownElement => ({
	tag,
	attributes: given,
	children: [],
});
