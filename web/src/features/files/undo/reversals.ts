import { type Area, baseName, type Entry, type MoveStep, parsePath } from '@stowage/rules';
import { filesMessages as messages } from '../messages.js';
import type { Undo } from './undoStack.js';

/** An entry that was deleted, with its id in the trash unless it was deleted forever. */
export interface Deletion {
	entry: Pick<Entry, 'name'>;
	trashId: string | undefined;
}

/** What takes a deletion back. */
export function undoDeletion(deleted: readonly Deletion[]): Undo {
	const items = deleted.flatMap(({ entry: { name }, trashId }) => (trashId === undefined ? [] : [{ name, trashId }]));
	if (items.length > 0) return { kind: 'restore', items };
	return { kind: 'impossible', reason: messages.wasDeletedForever };
}

export function undoRename(
	area: Area,
	before: Pick<Entry, 'name'>,
	{ name, path }: Pick<Entry, 'name' | 'path'>,
): Undo {
	return { kind: 'renameBack', items: [{ name, area, path: parsePath(path), before: before.name }] };
}

/** A step that is done, with the path that the item got. */
export type PlacedStep = Pick<MoveStep, 'type' | 'fromPath' | 'toPath'>;

/** What takes moves back; undefined for steps whose places are not all known. */
export function undoMoves(placed: readonly PlacedStep[] | undefined): Undo {
	if (placed === undefined) return { kind: 'impossible', reason: messages.namesUnknown };
	const items = placed.map(({ type, fromPath, toPath }) => ({
		name: baseName(toPath),
		area: type,
		path: toPath,
		before: fromPath,
	}));
	return { kind: 'moveBack', items };
}

/** What takes copies back, if there is a trash for them: they may have been changed since. */
export function undoCopies(placed: readonly PlacedStep[] | undefined, hasTrash: boolean): Undo {
	if (placed === undefined) return { kind: 'impossible', reason: messages.namesUnknown };
	if (!hasTrash) return { kind: 'impossible', reason: messages.noTrashForCopies };
	return {
		kind: 'discard',
		items: placed.map(({ type, toPath }) => ({ name: baseName(toPath), area: type, path: toPath })),
	};
}
