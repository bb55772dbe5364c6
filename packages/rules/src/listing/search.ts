import { type FileType, fileType } from '../kinds/fileTypes.js';

/** Longest search term, in the units of an input's `maxlength` (spec, section 5). */
export const maxSearchLength = 25;

/** A search answers at most this many results, the best ones, and marks them as truncated. */
export const maxSearchResults = 1000;

/** What a search may be limited to. */
export const searchKinds = ['folder', 'image', 'video', 'audio', 'document', 'text', 'archive', 'other'] as const;

export type SearchKind = (typeof searchKinds)[number];

/** Bounds are included. A folder has no size, so a search by size finds none. */
export interface SearchFilters {
	kinds?: readonly SearchKind[];
	/** Bytes. */
	minSize?: number;
	maxSize?: number;
	/** Milliseconds since the epoch, by the modified time. */
	after?: number;
	before?: number;
}

export interface SearchQuery extends SearchFilters {
	/** Taken literally and ignoring case. Every name contains the empty term. */
	term: string;
}

/** How well a name matches, best first: it is the term, begins with it, has a word that does, or contains it. */
export const searchRanks = ['equal', 'beginning', 'word', 'inside'] as const;

interface Item {
	name: string;
	type: 'file' | 'directory';
	size: number;
	mtime: number;
}

/** Answers for an item how well it matches, as an index into `searchRanks`; undefined if it does not. */
export function searchMatcher({ term, ...filters }: SearchQuery): (item: Item) => number | undefined {
	const folded = foldCase(term);
	return (item) => (passes(item, filters) ? rankOf(foldCase(item.name), folded) : undefined);
}

/** The kind of an item as searches tell it apart. */
export function searchKind({ name, type }: Pick<Item, 'name' | 'type'>): SearchKind {
	return type === 'directory' ? 'folder' : (kindsOfTypes[fileType(name)] ?? 'other');
}

const kindsOfTypes: { readonly [Type in FileType]?: SearchKind } = {
	image: 'image',
	video: 'video',
	audio: 'audio',
	archive: 'archive',
	document: 'document',
	pdf: 'document',
	epub: 'document',
	spreadsheet: 'document',
	presentation: 'document',
	text: 'text',
	code: 'text',
	markdown: 'text',
	script: 'text',
	config: 'text',
	log: 'text',
};

function passes(item: Item, { kinds, minSize, maxSize, after, before }: SearchFilters): boolean {
	if (kinds !== undefined && !kinds.includes(searchKind(item))) return false;
	if ((minSize !== undefined || maxSize !== undefined) && item.type === 'directory') return false;
	if (item.size < (minSize ?? 0) || item.size > (maxSize ?? Number.POSITIVE_INFINITY)) return false;
	return item.mtime >= (after ?? Number.NEGATIVE_INFINITY) && item.mtime <= (before ?? Number.POSITIVE_INFINITY);
}

function rankOf(name: string, term: string): number | undefined {
	const first = name.indexOf(term);
	if (first === -1) return undefined;
	if (first === 0) return name.length === term.length ? 0 : 1;
	for (let at = first; at !== -1; at = name.indexOf(term, at + 1)) if (beginsWord(name, at)) return 2;
	return 3;
}

function beginsWord(name: string, at: number): boolean {
	return !/[\p{L}\p{N}\p{M}]$/u.test(name.slice(Math.max(0, at - 2), at));
}

/** The form in which names are compared: two texts that differ only in case have the same. */
export function foldCase(text: string): string {
	// Lower case first and upper case last: it makes ß, ẞ and ss one, and σ and the ς at a word's end.
	return text.toLowerCase().toUpperCase();
}
