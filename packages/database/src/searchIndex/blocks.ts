import { createHash } from 'node:crypto';
import { foldCase } from '@stowage/rules';

/**
 * A row of a folder as the index has it. The size of a folder is 0, and its modified time, which each new name in it
 * changes, is not kept: it is 0 as well.
 */
export interface IndexedItem {
	name: string;
	type: 'file' | 'directory';
	size: number;
	mtime: number;
	unreadable?: true;
}

/** Some of the names of one folder, which are searched together. */
export interface Block {
	part: number;
	/** Tells whether it has changed since it was written. */
	digest: string;
	/** The items, one in each line. */
	items: string;
	/** The names in the form that searches compare, one in each line in the same order. No name contains a line's end. */
	fold(): string;
}

/** Names in a block, about. Few blocks change when a large folder does, and few names are read for one hit. */
const namesPerBlock = 128;

/** How many blocks a folder has: a power of two, so that a folder that grows seldom gets all of its blocks anew. */
export function partsFor(count: number): number {
	let parts = 1;
	while (parts * 2 * namesPerBlock < count) parts *= 2;
	return parts;
}

/**
 * The items of a folder in blocks by their names, so that one more name changes one block. Blocks without items are left
 * out. There may be a million items: `pause` lets others have their turn.
 */
export async function* blocksOf(items: readonly IndexedItem[], pause: () => Promise<void>): AsyncGenerator<Block> {
	const parts = partsFor(items.length);
	const inParts: IndexedItem[][] = Array.from({ length: parts }, () => []);
	for (const [at, item] of items.entries()) {
		if (at % namesPerBlock === 0) await pause();
		inParts[partOf(item.name, parts)]?.push(item);
	}
	for (const [part, own] of inParts.entries()) {
		await pause();
		if (own.length > 0) yield blockOf(own, part);
	}
}

function blockOf(own: IndexedItem[], part: number): Block {
	// Listings come in any order.
	own.sort((one, other) => (one.name < other.name ? -1 : 1));
	const items = own.map(encode).join('\n');
	const digest = createHash('sha1').update(items).digest('base64');
	return { part, digest, items, fold: () => own.map(({ name }) => foldCase(name)).join('\n') };
}

/** FNV-1a, whose lowest bits are mixed well enough. */
function partOf(name: string, parts: number): number {
	let value = 0x811c9dc5;
	for (let at = 0; at < name.length; at++) value = Math.imul(value ^ name.charCodeAt(at), 0x01000193);
	return ((value ^ (value >>> 15)) >>> 0) % parts;
}

/** No name contains a slash. */
function encode({ name, type, size, mtime, unreadable }: IndexedItem): string {
	const row = type === 'directory' ? `${name}//` : `${name}/${size.toString(36)}/${mtime.toString(36)}`;
	return unreadable ? `${row}/` : row;
}

/** The items of a block. Throws for a text that is not one. */
export function decodeItems(text: string): IndexedItem[] {
	return text.split('\n').map((row) => {
		const [name, size, mtime, unreadable] = row.split('/');
		if (name === undefined || size === undefined || mtime === undefined)
			throw new Error('That is no row of the index.');
		const type = size === '' ? 'directory' : 'file';
		const item: IndexedItem = { name, type, size: numberOf(size), mtime: numberOf(mtime) };
		if (unreadable !== undefined) item.unreadable = true;
		return item;
	});
}

const numberOf = (text: string): number => (text === '' ? 0 : Number.parseInt(text, 36));
