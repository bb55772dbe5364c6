import { type Area, isValidName, joinPath, rootPath, type StoragePath, splitName, trimName } from '@stowage/rules';
import type { ChosenFile } from './choosing/chosenFiles.js';

/** Where added files go: the folder on screen, in the area on screen. */
export interface UploadTarget {
	area: Area;
	directory: StoragePath;
}

/** What happens where the name is taken: the file gets another name, replaces the file that has it, or is not uploaded. */
export type IfExists = 'rename' | 'replace' | 'skip';

interface QueueItemFields {
	id: number;
	file: File;
	/** The name without the extension; the user may edit it. */
	name: string;
	originalName: string;
	/** The extension with its dot; `''` for none. */
	extension: string;
	size: number;
	isPublic: boolean;
	/**
	 * Who has added it; undefined for a visitor. While somebody else or nobody is signed in, it waits: the server would take it for theirs.
	 */
	username: string | undefined;
	target: UploadTarget;
	/** The folder below the target; created before the file is uploaded. */
	folder: StoragePath;
	/** Chosen for its name and place; with another one it is `rename` again. */
	ifExists: IfExists;
}

export type QueueItem = QueueItemFields &
	(
		| { status: 'pending' | 'uploading' }
		| { status: 'completed'; savedName: string; isVerified: boolean }
		/** Its name is taken. */
		| { status: 'skipped' }
		| { status: 'error'; error: string; detail?: string | undefined }
	);

/** A chosen file that waits for a run. */
export function newItem(
	id: number,
	{ file, folder }: ChosenFile,
	{ target, isPublic, username }: Pick<QueueItem, 'target' | 'isPublic'> & { username?: string | undefined },
): QueueItem {
	const { base, extension } = splitName(file.name);
	return {
		id,
		file,
		name: base,
		originalName: base,
		extension,
		size: file.size,
		isPublic,
		username,
		target,
		folder,
		ifExists: 'rename',
		status: 'pending',
	};
}

/** What an item has in every status. */
export function fieldsOf(item: QueueItem): QueueItemFields {
	const { id, file, name, originalName, extension, size, isPublic, username, target, folder, ifExists } = item;
	return { id, file, name, originalName, extension, size, isPublic, username, target, folder, ifExists };
}

/** The item with another name or place, for which no conflict choice was made yet. */
export function movedTo(item: QueueItem, change: { name: string } | { isPublic: boolean }): QueueItem {
	return { ...item, ...change, ifExists: 'rename' };
}

export function findItem(items: readonly QueueItem[], id: number): QueueItem | undefined {
	return items[indexOfItem(items, id)];
}

/** -1 if it is not among them. Items are in the order of their ids, and thousands of them are looked up many times. */
export function indexOfItem(items: readonly QueueItem[], id: number): number {
	let from = 0;
	let to = items.length;
	while (from < to) {
		const middle = (from + to) >> 1;
		if ((items[middle] as QueueItem).id < id) from = middle + 1;
		else to = middle;
	}
	return items[from]?.id === id ? from : -1;
}

/** Neither uploaded nor being uploaded. */
export function isWaiting({ status }: QueueItem): boolean {
	return status === 'pending' || status === 'error';
}

/** Whether it may be uploaded and changed while this user, or with undefined nobody, is signed in. */
export function mayUploadAs(username: string | undefined, item: Pick<QueueItem, 'username'>): boolean {
	return item.username === undefined || item.username === username;
}

/** Uploaded, or skipped as was chosen. */
export function isOver({ status }: QueueItem): boolean {
	return status === 'completed' || status === 'skipped';
}

/** The name under which it is uploaded. */
export function fullName({ name, extension }: QueueItem): string {
	return trimName(trimName(name) + extension);
}

type Destination = Pick<QueueItem, 'target' | 'isPublic' | 'folder'>;

/** The folder into which it is uploaded. */
export function directoryOf(item: Destination): StoragePath {
	return item.folder === rootPath ? baseOf(item) : joinPath(baseOf(item), item.folder);
}

/** The part of that folder which exists: the target, or the root of the other area, which may have no such folder. */
export function baseOf(item: Destination): StoragePath {
	return item.target.area === areaOf(item) ? item.target.directory : rootPath;
}

/** The area into which it is uploaded: that of its visibility, unless it is for a shared folder. */
export function areaOf({ target, isPublic }: Pick<Destination, 'target' | 'isPublic'>): Area {
	if (target.area === 'shared') return 'shared';
	return isPublic ? 'public' : 'private';
}

/** Cached by item, since a queue may have ten thousand and items are never mutated. */
const nameValidity = new WeakMap<QueueItem, boolean>();

export function hasValidName(item: QueueItem): boolean {
	let isValid = nameValidity.get(item);
	if (isValid === undefined) {
		// The extension alone would pass as a name, and spaces before it would be trimmed away by `fullName` only.
		isValid = trimName(item.name) !== '' && isValidName(item.name + item.extension) && isValidName(fullName(item));
		nameValidity.set(item, isValid);
	}
	return isValid;
}
