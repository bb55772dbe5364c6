import { type LetterFilter, letterFilters } from '@stowage/rules';
import type { RowKey, Selection } from '../selection/selection.js';

/** The state in which a folder was left. */
export interface SavedFolder {
	letter: LetterFilter;
	scrollTop: number;
	selected: RowKey[];
	cursor: { key: RowKey; index: number } | undefined;
}

/** Saved folders by their keys, the one left last at the end. */
export type SavedFolders = Readonly<Record<string, SavedFolder>>;

/** A larger selection is not saved: session storage is small and shared by all folders. */
const maxSelected = 2_000;
const maxFolders = 50;
const storageKey = 'stowage.folders';

/** The part of the browser's storage that is used here. */
export type FolderStorage = Pick<Storage, 'getItem' | 'setItem'>;

/** The folders of this tab that were left; none if they can't be read. */
export function readFolders(storage: FolderStorage | undefined): SavedFolders {
	try {
		const saved: unknown = JSON.parse(storage?.getItem(storageKey) ?? '{}');
		return isSavedFolders(saved) ? saved : {};
	} catch {
		// Forbidden, or another value under that key: then nothing was saved.
		return {};
	}
}

export function writeFolders(storage: FolderStorage | undefined, saved: SavedFolders): void {
	try {
		storage?.setItem(storageKey, JSON.stringify(saved));
	} catch {
		// The storage is full or forbidden. Only the saved state is lost.
	}
}

/** Adds a folder that was just left. The oldest are dropped. */
export function saveFolder(saved: SavedFolders, key: string, folder: SavedFolder): SavedFolders {
	const { [key]: _, ...others } = saved;
	const newest = Object.entries(others).slice(-(maxFolders - 1));
	const selected = folder.selected.length > maxSelected ? [] : folder.selected;
	return Object.fromEntries([...newest, [key, { ...folder, selected }]]);
}

export function selectionOf(saved: SavedFolder): Selection {
	return { selected: new Set(saved.selected), cursor: saved.cursor, anchor: saved.cursor?.key };
}

/** Another version of the page may have saved something else under the same key. */
function isSavedFolders(value: unknown): value is SavedFolders {
	return (
		typeof value === 'object' &&
		value !== null &&
		Object.values(value).every(
			(saved) =>
				letterFilters.includes(saved?.letter) && typeof saved.scrollTop === 'number' && Array.isArray(saved.selected),
		)
	);
}
