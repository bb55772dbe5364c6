import { countElements, TooMuchMarkup } from '../common/markupBounds.js';
import type { ZipArchive } from '../common/zip.js';

/** A paragraph of Word takes some six elements in its file, and one on the page. */
const maxElements = 100_000;
/** What is made for the page, with the headers and notes that each page repeats. */
const maxParts = 30_000;
/** Each copies what the one has that it is based on. Word brings some four hundred. */
const maxStyles = 2_000;
/** Levels of lists: nine for each. */
const maxLevels = 2_000;
const maxFiles = 5_000;

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
		elements += countElements(new TextDecoder().decode(bytes), maxElements - elements);
	}
}

/** Anything else is no XML. */
function isMarkup(bytes: Uint8Array): boolean {
	let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
	while ([0x20, 0x09, 0x0a, 0x0d].includes(bytes[at] ?? 0)) at++;
	return bytes[at] === 0x3c;
}

/** What docx-preview has read, as far as it is counted here. */
export interface WordDocument {
	parts: readonly { rootElement?: WordNode; notes?: readonly WordNode[] }[];
	documentPart: { body: WordNode };
	stylesPart?: { styles?: readonly unknown[] };
	numberingPart?: { domNumberings?: readonly unknown[] };
}

interface WordNode {
	type?: string;
	children?: readonly WordNode[];
	/** The kind of a break. */
	break?: string;
	/** Of the last paragraph of a section. */
	sectionProps?: unknown;
}

/** Throws for a document of which too much would be made: each page repeats a header and a footer, and each reference its note. */
export function assertModestPages({ parts, documentPart, stylesPart, numberingPart }: WordDocument): void {
	const body = countIn(documentPart.body);
	const repeated = parts.flatMap(({ rootElement }) => (rootElement ? [countIn(rootElement)] : []));
	const notes = parts.flatMap((part) => part.notes ?? []).map(countIn);
	const most = (counts: readonly Counts[], of: keyof Counts) =>
		counts.reduce((found, each) => Math.max(found, each[of]), 0);
	const repeats = 2 * (1 + body.pageEnds);
	const references = body.references + repeats * most(repeated, 'references');
	const made = body.nodes + repeats * most(repeated, 'nodes') + references * most(notes, 'nodes');
	const styles = stylesPart?.styles?.length ?? 0;
	const levels = numberingPart?.domNumberings?.length ?? 0;
	if (made > maxParts || styles > maxStyles || levels > maxLevels)
		throw new TooMuchMarkup('It has too many parts, styles or lists.');
}

interface Counts {
	nodes: number;
	pageEnds: number;
	references: number;
}

function countIn(root: WordNode): Counts {
	const counts: Counts = { nodes: 0, pageEnds: 0, references: 0 };
	const add = (node: WordNode) => {
		counts.nodes++;
		if (node.sectionProps !== undefined || ['page', 'lastRenderedPageBreak'].includes(node.break ?? '')) {
			counts.pageEnds++;
		}
		if (node.type === 'footnoteReference' || node.type === 'endnoteReference') counts.references++;
		node.children?.forEach(add);
	};
	add(root);
	return counts;
}
