import { maxJobItems, schemas } from '@stowage/contract';
import type { ItemRef } from '@stowage/plugin-api';
import { baseName, type Failure, homePath, joinPath, pasteDenials, type Viewer } from '@stowage/rules';
import { z } from 'zod';

const pastedItem = z.object({
	path: schemas.itemPath,
	owner: schemas.owner.optional(),
	/** The new name; the item keeps its name if this is left out. */
	name: z.string().optional(),
});

/** The input of jobs of the kinds `copy` and `move`, parsed asynchronously: others have their turns between its items. */
export const pasteInput = z.object({
	from: schemas.area,
	to: schemas.area,
	directory: schemas.path,
	items: schemas.listOf(pastedItem, maxJobItems),
	...schemas.replacing,
	/** The client's address, whose hourly uploads may be limited. */
	address: z.string(),
	/** The shared folders that its paths are in, by the names that they had when it was asked for. */
	folders: z.array(z.object({ name: z.string(), id: z.string() })).optional(),
});

export type PasteInput = z.infer<typeof pasteInput>;
export type PastedItem = z.infer<typeof pastedItem>;

/** An item and its target, both relative to their areas. */
export interface PasteStep {
	from: ItemRef;
	to: ItemRef;
}

export function stepOf(input: PasteInput, item: PastedItem): PasteStep {
	return { from: sourceOf(input, item), to: { area: input.to, path: joinPath(input.directory, targetName(item)) } };
}

function sourceOf({ from }: PasteInput, { path, owner }: PastedItem): ItemRef {
	return { area: from, path, ...(owner === undefined ? {} : { owner }) };
}

function targetName({ path, name }: PastedItem): string {
	return name ?? baseName(path);
}

/** Tells why an item can't be pasted there; undefined if it can. */
export function pasteDenialsOf(
	kind: 'copy' | 'move',
	viewer: Viewer,
	input: PasteInput,
): (item: PastedItem) => Failure | undefined {
	const denialOf = pasteDenials(kind === 'move' ? 'cut' : 'copy', viewer, input.to, input.directory);
	return (item) => denialOf(sourceOf(input, item), targetName(item));
}

/** A step between areas as one move within the private area: a move between areas is one within the home. */
export function withinOneArea({ from, to }: PasteStep): PasteStep {
	if (from.area === to.area) return { from, to };
	return {
		from: { area: 'private', path: homePath(from.area, from.path) },
		to: { area: 'private', path: homePath(to.area, to.path) },
	};
}
