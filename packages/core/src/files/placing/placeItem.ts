import type { ConflictOptions, MoveOptions, OnConflict, StorageItem } from '@stowage/plugin-api';
import {
	assertAllowed,
	Failure,
	isFailure,
	joinPath,
	replaceDenial,
	type StoragePath,
	type TriedNames,
	undefinedIf,
} from '@stowage/rules';
import { listsTag } from '../../responses/preconditions.js';
import { withFreeName } from '../../trees/freeName.js';
import type { OwnTree } from '../../trees/OwnTree.js';
import type { Place } from '../../trees/Tree.js';
import type { NewContent } from '../../trees/trash/trashParts.js';
import type { FileParts } from '../FileParts.js';
import { replaceItem } from './replaceItem.js';

/** An item that is to get a name in a folder of a tree. */
export interface PlacedItem extends ConflictOptions {
	folder: Place;
	name: string;
	type: 'file' | 'directory';
	/** The item's id, where it has a path already. */
	id?: string;
	/** Where the content of a file comes from that replaces another one. */
	content: NewContent;
	/** Throws `notFound` once it has left that path. */
	assertThere?(): Promise<unknown>;
	/** The item at the path, if an interrupted call has put this one there. */
	findPlaced?(path: StoragePath): Promise<StorageItem | undefined>;
	/** The names that were tried for others in the folder. */
	tried?: TriedNames | undefined;
}

type Placing = (path: StoragePath, options: MoveOptions) => Promise<StorageItem>;

/** How often a file is replaced that others replace at the same time: each failure is a success of one of them. */
const maxTries = 100;

/** How often a name is tried that is taken by nothing that can be seen, such as a symbolic link. */
const maxUnseen = 3;

/** The fields of a call that brings items, as one choice. Throws `invalid` for an `ifMatch` that nothing is replaced by. */
export function conflictOf({
	onConflict: kind = 'rename',
	ifMatch,
}: {
	onConflict?: OnConflict['kind'] | undefined;
	ifMatch?: string | undefined;
}): OnConflict {
	if (ifMatch === undefined) return { kind };
	if (kind !== 'replace') throw new Failure('invalid', 'ifMatch: is for onConflict “replace” only');
	return { kind, ifMatch };
}

/** Gives an item its name by `place`, or whatever `onConflict` says where that is taken. */
export async function placeItem(
	parts: FileParts,
	tree: OwnTree,
	item: PlacedItem,
	place: Placing,
): Promise<StorageItem> {
	const { folder, name, type, onConflict = { kind: 'rename' }, tried } = item;
	const create: Placing = async (path, options) => {
		const made = await place(path, options);
		if (item.content.kind === 'written') await parts.versions.created(tree.viewer, made);
		return made;
	};
	switch (onConflict.kind) {
		case 'rename':
			return withFreeName(folder.storagePath, name, type, create, tried);
		case 'fail':
			return create(joinPath(folder.storagePath, name), {});
		case 'replace':
			// A folder replaces nothing.
			if (type === 'directory' && onConflict.ifMatch === undefined)
				return create(joinPath(folder.storagePath, name), {});
			return replaceOrPlace(parts, tree, item, onConflict.ifMatch, { create, replace: place });
	}
}

/** Refuses a file as `placeItem` would, as far as can be known before it is there. Resolves to whether it will replace another one. */
export async function assertPlaceable(
	tree: OwnTree,
	folder: Place,
	{ name, onConflict }: { name: string; onConflict?: OnConflict | undefined },
): Promise<boolean> {
	if (onConflict === undefined || onConflict.kind === 'rename') return false;
	const path = joinPath(folder.storagePath, name);
	if (onConflict.kind === 'fail') {
		if ((await undefinedIf(tree.storage.stat(path), 'notFound')) !== undefined) throw nameTaken(name);
		return false;
	}
	const replaced = await findReplaced(tree, { folder, name, type: 'file' }, onConflict.ifMatch);
	if (replaced === undefined) return false;
	if (!(await tree.storage.canReplace(path)))
		throw new Failure('invalid', 'Files can’t be replaced in one step on this disk.');
	return true;
}

async function replaceOrPlace(
	parts: FileParts,
	tree: OwnTree,
	item: PlacedItem,
	ifMatch: string | undefined,
	{ create, replace }: { create: Placing; replace: Placing },
): Promise<StorageItem> {
	const path = joinPath(item.folder.storagePath, item.name);
	// Its own file is not to be replaced, and has another version than the one that was.
	const placed = await item.findPlaced?.(path);
	if (placed !== undefined) return placed;
	let unseen = 0;
	for (let tries = 1; ; tries++) {
		const replaced = await findReplaced(tree, item, ifMatch);
		try {
			if (replaced === undefined) return await create(path, {});
			const made = await replaceItem(parts, tree, path, replaced, item.content, (options) => replace(path, options));
			item.onReplaced?.(replaced);
			return made;
		} catch (error) {
			// Somebody was faster. Without a condition this one replaces what they have brought.
			if (replaced === undefined) {
				if (!isFailure(error, 'alreadyExists') || ++unseen === maxUnseen) throw error;
			} else {
				if (!isFailure(error, 'preconditionFailed') || ifMatch !== undefined) throw error;
				if (tries === maxTries)
					throw new Failure('locked', 'Somebody else is replacing this file.', { cause: error, retryAfter: 1 });
			}
		}
	}
}

/**
 * The file that the item is to replace; undefined where the name is free. Its version is checked again by the storage,
 * which holds it until it is replaced.
 */
async function findReplaced(
	tree: OwnTree,
	{ folder, name, type, id, assertThere }: Omit<PlacedItem, 'content'>,
	ifMatch: string | undefined,
): Promise<StorageItem | undefined> {
	const { area, owner, viewer } = tree;
	assertAllowed(replaceDenial(viewer, { area, owner, path: joinPath(folder.path, name) }));
	const found = await undefinedIf(tree.storage.stat(joinPath(folder.storagePath, name)), 'notFound');
	if (found === undefined) {
		if (ifMatch !== undefined) throw new Failure('preconditionFailed', `There is no file named ${name} any more.`);
		return undefined;
	}
	if (found.type === 'directory' || type === 'directory') throw nameTaken(name);
	if (found.id === id) {
		// Somebody else may have moved it there.
		await assertThere?.();
		throw new Failure('invalid', 'A file cannot take its own place.');
	}
	if (ifMatch !== undefined && !listsTag(ifMatch, `"${found.version}"`, 'weak'))
		throw new Failure('preconditionFailed', `${name} was changed meanwhile.`);
	return found;
}

function nameTaken(name: string): Failure {
	return new Failure('alreadyExists', `There is already a file or folder named ${name}`);
}
