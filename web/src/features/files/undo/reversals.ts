import { type Area, baseName, type Entry, type MoveStep, parsePath } from '@stowage/rules';
import { reasonLines } from '../../../ui/notifications/notifications.js';
import { nameItems } from '../messages.js';
import type { Replacing } from '../operations/taken.js';
import { undoMessages } from './messages.js';
import type { CopiedItem, ReplacedItem, Reversal, Undo } from './undoStack.js';

/** An entry that was deleted, with its id in the trash unless it was deleted forever. */
export interface Deletion {
	entry: Pick<Entry, 'name'>;
	trashId: string | undefined;
}

/** What takes a deletion back. */
export function undoDeletion(deleted: readonly Deletion[]): Undo {
	const items = deleted.flatMap(({ entry: { name }, trashId }) => (trashId === undefined ? [] : [{ name, trashId }]));
	if (items.length > 0) return { kind: 'restore', items };
	return { kind: 'impossible', reason: undoMessages.wasDeletedForever };
}

export function undoRename(
	area: Area,
	before: Pick<Entry, 'name'>,
	{ name, path }: Pick<Entry, 'name' | 'path'>,
): Undo {
	return { kind: 'renameBack', items: [{ name, area, path: parsePath(path), before: before.name }] };
}

/** A step that is done, with the path that the item got. */
export type PlacedStep = Replacing<Pick<MoveStep, 'type' | 'fromPath' | 'toPath' | 'isAcross'>>;

/** What the server keeps of what a paste has changed. */
export interface Kept {
	/** Copies that are taken back go there: they may have been changed since. */
	hasTrash: boolean;
	/** Whether replaced files become versions. */
	hasVersions: boolean;
}

/**
 * What takes moves back; undefined for steps whose places are not all known. A file that has replaced another one
 * stays: its versions, and the links to the file that it has replaced, would go with it.
 */
export function undoMoves(placed: readonly PlacedStep[] | undefined, hasVersions = true): Undo {
	if (placed === undefined) return { kind: 'impossible', reason: undoMessages.namesUnknown };
	const across = placed.filter(({ isAcross }) => isAcross);
	// What it takes back would be a copy of the copy.
	if (across.length > 0)
		return {
			kind: 'impossible',
			reason: undoMessages.movedAcross(nameItems(across.map(({ toPath }) => ({ name: baseName(toPath) })))),
		};
	const items = placed
		.filter(({ replaced }) => !replaced)
		.map(({ type, fromPath, toPath }) => ({ name: baseName(toPath), area: type, path: toPath, before: fromPath }));
	const reasons = placed
		.filter(({ replaced }) => replaced)
		.map(({ toPath }) => (hasVersions ? undoMessages.replacedByMove : undoMessages.replacedForGood)(baseName(toPath)));
	return undoOf([{ kind: 'moveBack', items }], reasons);
}

/** What takes copies back. */
export function undoCopies(placed: readonly PlacedStep[] | undefined, { hasTrash, hasVersions }: Kept): Undo {
	if (placed === undefined) return { kind: 'impossible', reason: undoMessages.namesUnknown };
	const reasons: string[] = [];
	const copies: CopiedItem[] = [];
	const files: ReplacedItem[] = [];
	for (const { type, toPath, replaced } of placed) {
		const copy = { name: baseName(toPath), area: type, path: toPath };
		if (!replaced) copies.push(copy);
		else if (hasVersions) files.push({ ...copy, size: replaced.size, mtime: replaced.mtime });
		else reasons.push(undoMessages.replacedForGood(copy.name));
	}
	if (!hasTrash && copies.length > 0) reasons.push(undoMessages.noTrashForCopies);
	const discard = { kind: 'discard', items: hasTrash ? copies : [] } as const;
	return undoOf([discard, { kind: 'restoreVersions', items: files }], reasons);
}

/** What takes it back that a version was restored: what the file had before is the one that was not known before. */
export function undoRestoredVersion(
	area: Area,
	{ name, path }: Pick<Entry, 'name' | 'path'>,
	known: readonly { id: string }[],
	now: readonly { id: string }[],
): Undo {
	const former = now.find(({ id }) => !known.some((version) => version.id === id));
	if (!former) return { kind: 'impossible', reason: undoMessages.formerVersionUnknown };
	return { kind: 'restoreBack', items: [{ name, area, path: parsePath(path), version: former.id }] };
}

function undoOf(all: readonly Reversal[], reasons: readonly string[]): Undo {
	const parts = all.filter(({ items }) => items.length > 0);
	const [part] = parts;
	if (part === undefined) return { kind: 'impossible', reason: reasonLines(reasons) };
	return parts.length === 1 && reasons.length === 0 ? part : { kind: 'several', parts, reasons };
}
