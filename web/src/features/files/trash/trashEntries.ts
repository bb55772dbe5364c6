import {
	type Entry,
	parentPath,
	parsePath,
	plural,
	rootPath,
	type SortMode,
	shownName,
	sortEntries,
} from '@stowage/rules';
import type { TrashListing } from '../../../api/trash.js';
import { messages } from '../../../messages.js';
import { type Rows, rowsOf } from '../list/rows.js';
import type { SortOrder } from '../list/table.js';
import { trashMessages } from './messages.js';

/** An item of the trash. Its path is where it was, and its time when it was deleted. */
export interface TrashedEntry extends Entry {
	/** Several may have been deleted at the same path. */
	id: string;
	/** Where it was, as the list shows it. */
	folder: string;
	/** Who deleted it, unless that was the user. */
	deletedBy: string | undefined;
}

/** The items of a user's trash, as they came. */
export function trashedEntries({ entries }: TrashListing, username: string): TrashedEntry[] {
	return entries.map(({ id, name, path, type, size, deletedAt, deletedBy }) => ({
		id,
		name,
		path,
		type,
		size,
		mtime: deletedAt,
		folder: folderOf(path),
		deletedBy: deletedBy === username ? undefined : deletedBy,
	}));
}

/** How many items the trash has. Of very many only the newest are listed. */
export function trashCount(listed: number, isTruncated: boolean): string {
	const items = plural(listed, 'item');
	return isTruncated ? trashMessages.moreThan(items) : items;
}

function folderOf(path: string): string {
	const folder = parentPath(parsePath(path));
	return folder === rootPath ? messages.privateFiles : shownName(folder);
}

/** The columns that the trash is sorted by. */
export const trashColumns = ['type', 'name', 'folder', 'deleted', 'size'] as const;

export type TrashColumn = (typeof trashColumns)[number];
export type TrashOrder = SortOrder<TrashColumn>;

/** The newest first. */
export const defaultTrashOrder: TrashOrder = { column: 'deleted', descending: true };

/** The order after a click on a column's header: another column begins with the first of names, but with the newest of times. */
export function toggleTrashOrder(current: TrashOrder, column: TrashColumn): TrashOrder {
	return { column, descending: column === current.column ? !current.descending : column === 'deleted' };
}

/** The order of the trash as the address has it: `size`, or `rsize` for the largest first. */
export function trashOrderText({ column, descending }: TrashOrder): string {
	return descending ? `r${column}` : column;
}

/** The order of an address; undefined for anything else. */
export function parseTrashOrder(text: string): TrashOrder | undefined {
	for (const column of trashColumns) {
		if (text === column) return { column, descending: false };
		if (text === `r${column}`) return { column, descending: true };
	}
	return undefined;
}

/** The rows of the trash in this order. Equals are in the order of their names, and those of one name the newest first. */
export function trashRows(entries: readonly TrashedEntry[], order: TrashOrder): Rows<TrashedEntry> {
	return rowsOf(sortTrash(entries, order), false, ({ id }) => id);
}

function sortTrash(entries: readonly TrashedEntry[], { column, descending }: TrashOrder): TrashedEntry[] {
	const sort = (given: readonly TrashedEntry[], mode: SortMode) => sortEntries(given, mode) as TrashedEntry[];
	const direction = descending ? 'r' : '';
	if (column === 'deleted') return sort(entries, `${direction}time`);
	if (column !== 'folder') return sort(entries, `${direction}${column}`);
	const sign = descending ? -1 : 1;
	const places = folderPlaces(entries);
	const placeOf = ({ folder }: TrashedEntry) => places.get(folder) as number;
	return sort(entries, 'name').sort((a, b) => sign * (placeOf(a) - placeOf(b)));
}

/** The places of folders in their order, each sorted once: its path may be long, and many of its items may have been deleted. */
function folderPlaces(entries: readonly TrashedEntry[]): Map<string, number> {
	const folders = new Set(entries.map(({ folder }) => folder));
	const named = Array.from(folders, (name): Entry => ({ name, path: name, type: 'directory', size: 0, mtime: 0 }));
	return new Map(sortEntries(named, 'name').map(({ name }, place) => [name, place]));
}
