import type { ZipArchive } from '../common/bytes/zip.js';
import { countElements, TooMuchMarkup } from '../common/markup/markupBounds.js';
import {
	charactersIn,
	charactersOfLevels,
	charactersOfStyles,
	type WordLevel,
	type WordStyle,
} from './wordCharacters.js';

/** A paragraph of Word takes some six elements in its file, and one on the page. */
const maxElements = 100_000;
/** What is made for the page, with the headers and notes that each page repeats. */
const maxParts = 30_000;
/** Each copies what the one has that it is based on. Word brings some four hundred. */
const maxStyles = 2_000;
/** Rules of one style, each of which is looked for among those of the style that it is based on. A table has some seventy. */
const maxRulesOfStyle = 300;
/** Headers and footers of one section, among which each page looks for its own: Word knows six. */
const maxHeaders = 100;
/** Levels of lists: nine for each. */
const maxLevels = 2_000;
const maxFiles = 5_000;
/**
 * docx-preview looks for the levels of each list among all, and copies each, before it says how many there are. So for pictures as
 * bullets.
 */
const maxListsTimesLevels = 2_000_000;
/**
 * Characters of what is made of a document: a name or value of any length is written for each style that gets it, for
 * each level of a list, and on each page. A novel has two million, in styles of some hundred thousand.
 */
const maxCharacters = 20_000_000;
/** The relations that are gone through for each link or picture, with its place in all of them. */
const maxSearches = 200_000_000;

/**
 * Throws for a document whose files have more elements than are read in time, or deeper ones. Whatever their names:
 * any may be named as any part.
 */
export function assertModestFiles(zip: ZipArchive): void {
	if (zip.names.length > maxFiles) throw new TooMuchMarkup('It has too many files.');
	let elements = 0;
	for (const name of zip.names) {
		const bytes = zip.read(name);
		if (bytes === undefined || !isMarkup(bytes)) continue;
		const xml = new TextDecoder().decode(bytes);
		elements += countElements(xml, maxElements - elements);
		assertModestLists(xml);
	}
}

/** Throws for too many lists and levels, also in comments and the like, where no honest file has them. */
function assertModestLists(xml: string): void {
	if (!xml.includes('abstractNum')) return;
	let lists = 0;
	let levels = 0;
	for (const [, tag = ''] of xml.matchAll(/<([^\s<>/]+)/g)) {
		const name = tag.slice(tag.lastIndexOf(':') + 1);
		if (name === 'num' || name === 'numPicBullet') lists++;
		else if (name === 'lvl') levels++;
	}
	if (lists * levels > maxListsTimesLevels) throw new TooMuchMarkup('It has too many lists.');
}

/** Whether a file is XML. */
function isMarkup(bytes: Uint8Array): boolean {
	let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
	while ([0x20, 0x09, 0x0a, 0x0d].includes(bytes[at] ?? 0)) at++;
	return bytes[at] === 0x3c;
}

/** What docx-preview has read, as far as it is counted here. */
export interface WordDocument {
	parts: readonly (WordPart & { rootElement?: WordNode; notes?: readonly WordNode[] })[];
	documentPart: WordPart & { body: WordNode };
	stylesPart?: { styles?: readonly WordStyle[] };
	numberingPart?: { domNumberings?: readonly WordLevel[] };
	/** Of its files, by their names or extensions: each picture is looked for among them. */
	contentTypes?: readonly unknown[];
}

interface WordSection {
	headerRefs?: readonly unknown[];
	footerRefs?: readonly unknown[];
}

interface WordPart {
	/** Against which the targets of its relations are resolved. */
	path?: string;
	/** Null for a part without any. */
	rels?: readonly { id?: string; target?: string }[] | null;
}

interface WordNode {
	type?: string;
	children?: readonly WordNode[];
	/** Only for a link: its id in the relations of the document. */
	id?: string;
	/** Only for a picture: its id in the relations of the part. */
	src?: string;
	imageHref?: { id?: string };
	/** The kind of a break. */
	break?: string;
	/** Only for the last paragraph of a section; of the last one the body has them. */
	sectionProps?: WordSection;
	props?: WordSection;
	/** The styles of its own. */
	cssStyle?: object;
	/** The attributes of a drawing. */
	attrs?: object;
}

/** Throws for a document of which too much would be made: each page repeats a header and a footer, and each reference its note. */
export function assertModestPages(given: WordDocument): void {
	const { parts, documentPart, stylesPart, numberingPart, contentTypes } = given;
	const linked = addressesOf(documentPart);
	const body = countIn(documentPart.body, [linked]);
	const inParts = parts.map((part) => {
		const addresses = [addressesOf(part), linked];
		const count = (node: WordNode) => countIn(node, addresses);
		return { root: part.rootElement && count(part.rootElement), notes: (part.notes ?? []).map(count) };
	});
	const repeated = inParts.flatMap(({ root }) => root ?? []);
	const notes = inParts.flatMap((part) => part.notes);
	const most = (counts: readonly Counts[], of: keyof Counts) =>
		counts.reduce((found, each) => Math.max(found, each[of]), 0);
	const repeats = 2 * (1 + body.pageEnds);
	const references = body.references + repeats * most(repeated, 'references');
	const made = (of: keyof Counts) => body[of] + repeats * most(repeated, of) + references * most(notes, of);
	const styles = stylesPart?.styles ?? [];
	const levels = numberingPart?.domNumberings ?? [];
	const isLong =
		(contentTypes?.length ?? 0) > maxFiles || styles.some((style) => (style.styles?.length ?? 0) > maxRulesOfStyle);
	if (isLong || made('nodes') > maxParts || styles.length > maxStyles || levels.length > maxLevels) {
		throw new TooMuchMarkup('It has too many parts, styles or lists.');
	}
	const relations = [documentPart, ...parts].reduce((found, { rels }) => Math.max(found, rels?.length ?? 0), 0);
	if (made('nodes') * relations > maxSearches) throw new TooMuchMarkup('It has too many links.');
	if (made('characters') + charactersOfStyles(styles) + charactersOfLevels(levels) > maxCharacters) {
		throw new TooMuchMarkup('Its names, values or texts are too long.');
	}
}

interface Counts {
	nodes: number;
	pageEnds: number;
	references: number;
	/** The characters of its texts, and of all its names and values. */
	characters: number;
}

type Addresses = ReadonlyMap<string | undefined, number>;

/** The lengths of the addresses of a part, as they are resolved, by their ids. Of several with one id any may be taken. */
function addressesOf({ path = '', rels }: WordPart): Addresses {
	const lengths = new Map<string | undefined, number>();
	for (const { id, target } of rels ?? [])
		lengths.set(id, Math.max(lengths.get(id) ?? 0, path.length + (target?.length ?? 0)));
	return lengths;
}

/** A link is looked for in the relations of the document, and a picture in those of its part. */
function countIn(root: WordNode, addresses: readonly Addresses[]): Counts {
	const counts: Counts = { nodes: 0, pageEnds: 0, references: 0, characters: 0 };
	const add = (node: WordNode) => {
		counts.nodes++;
		const { headerRefs, footerRefs } = node.sectionProps ?? node.props ?? {};
		if ((headerRefs?.length ?? 0) + (footerRefs?.length ?? 0) > maxHeaders)
			throw new TooMuchMarkup('It has too many headers.');
		if (node.sectionProps !== undefined || ['page', 'lastRenderedPageBreak'].includes(node.break ?? '')) {
			counts.pageEnds++;
		}
		if (node.type === 'footnoteReference' || node.type === 'endnoteReference') counts.references++;
		counts.characters += charactersIn(node) + charactersIn(node.cssStyle) + charactersIn(node.attrs);
		const address = node.type === 'hyperlink' ? node.id : (node.src ?? node.imageHref?.id);
		if (address !== undefined) counts.characters += Math.max(...addresses.map((lengths) => lengths.get(address) ?? 0));
		node.children?.forEach(add);
	};
	add(root);
	return counts;
}
