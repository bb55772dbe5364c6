import { type LetterFilter, letterFilters } from '@stowage/rules';
import type { RowKey, Selection } from '../selection/selection.js';

/** What a folder looks like when somebody comes back to it. */
export interface FolderMemory {
	letter: LetterFilter;
	scrollTop: number;
	selected: RowKey[];
	cursor: { key: RowKey; index: number } | undefined;
}

/** Beyond this many a selection is not kept: session storage is small and shared. */
const keptSelection = 2_000;
const keptFolders = 50;
const storageKey = 'stowage.folders';

type Kept = Record<string, FolderMemory>;

/** The part of the browser's storage that is used here. */
export type Shelf = Pick<Storage, 'getItem' | 'setItem'>;

/** What was kept of this folder in this tab; undefined if nothing was or if it can't be read. */
export function recallFolder(shelf: Shelf, folder: string): FolderMemory | undefined {
	return readAll(shelf)[folder];
}

export function rememberFolder(shelf: Shelf, folder: string, memory: FolderMemory): void {
	const { [folder]: _, ...others } = readAll(shelf);
	// The newest is last; the oldest are the first to go.
	const kept = Object.entries(others).slice(-(keptFolders - 1));
	const selected = memory.selected.length > keptSelection ? [] : memory.selected;
	try {
		shelf.setItem(storageKey, JSON.stringify(Object.fromEntries([...kept, [folder, { ...memory, selected }]])));
	} catch {
		// A full or forbidden storage costs only the memory of where one was.
	}
}

export function selectionOf(memory: FolderMemory): Selection {
	return { selected: new Set(memory.selected), cursor: memory.cursor, anchor: memory.cursor?.key };
}

function readAll(shelf: Shelf): Kept {
	try {
		const kept: unknown = JSON.parse(shelf.getItem(storageKey) ?? '{}');
		return isKept(kept) ? kept : {};
	} catch {
		return {};
	}
}

/** Another version of the page may have left something else under the same key. */
function isKept(value: unknown): value is Kept {
	return (
		typeof value === 'object' &&
		value !== null &&
		Object.values(value).every(
			(memory) =>
				letterFilters.includes(memory?.letter) &&
				typeof memory.scrollTop === 'number' &&
				Array.isArray(memory.selected),
		)
	);
}
