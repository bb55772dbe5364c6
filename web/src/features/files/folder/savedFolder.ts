import { type LetterFilter, letterFilters } from '@stowage/rules';
import type { RowKey, Selection } from '../selection/selection.js';

/** The state in which a folder was left. */
export interface SavedFolder {
	letter: LetterFilter;
	scrollTop: number;
	selected: RowKey[];
	cursor: { key: RowKey; index: number } | undefined;
}

/** A larger selection is not saved: session storage is small and shared by all folders. */
const maxSelected = 2_000;
const maxFolders = 50;
const storageKey = 'stowage.folders';

type SavedFolders = Record<string, SavedFolder>;

/** The part of the browser's storage that is used here. */
export type FolderStorage = Pick<Storage, 'getItem' | 'setItem'>;

/** The saved state of this folder in this tab; undefined if there is none or if it can't be read. */
export function loadFolder(storage: FolderStorage, folder: string): SavedFolder | undefined {
	return loadAll(storage)[folder];
}

export function saveFolder(storage: FolderStorage, folder: string, saved: SavedFolder): void {
	const { [folder]: _, ...others } = loadAll(storage);
	// In order of time: the newest is last, and the oldest are dropped.
	const newest = Object.entries(others).slice(-(maxFolders - 1));
	const selected = saved.selected.length > maxSelected ? [] : saved.selected;
	try {
		storage.setItem(storageKey, JSON.stringify(Object.fromEntries([...newest, [folder, { ...saved, selected }]])));
	} catch {
		// The storage is full or forbidden. Only the saved state is lost.
	}
}

export function selectionOf(saved: SavedFolder): Selection {
	return { selected: new Set(saved.selected), cursor: saved.cursor, anchor: saved.cursor?.key };
}

function loadAll(storage: FolderStorage): SavedFolders {
	try {
		const saved: unknown = JSON.parse(storage.getItem(storageKey) ?? '{}');
		return isSavedFolders(saved) ? saved : {};
	} catch {
		// Forbidden, or another value under that key: then nothing was saved.
		return {};
	}
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
