import { plural } from '../display/plural.js';
import { Failure } from '../failure.js';
import type { Entry } from '../listing/listing.js';
import { joinPath, type StoragePath } from '../names/paths.js';
import { type Area, homePath, type Owner, type Viewer } from './areas.js';
import { type Item, itemOf, notOwnedMessage, pasteDenials } from './permissions.js';

export type ClipboardItem = Pick<Entry, 'name' | 'path' | 'type' | 'owner' | 'role'> &
	Partial<Pick<Entry, 'size' | 'mtime'>>;

/** The items that were cut or copied (spec, section 3). */
export interface Clipboard {
	operation: 'cut' | 'copy';
	items: readonly ClipboardItem[];
	sourceArea: Area;
	sourceDirectory: StoragePath;
}

/**
 * One call of moveItem. It names both ends in one area, so a move between areas uses paths of the home. Into shared
 * folders and out of them (`isAcross`) items are moved by jobs only, which copy them.
 */
export interface MoveStep {
	item: ClipboardItem;
	/** The area of `toPath`, and of `fromPath` unless the step is across. */
	type: Area;
	fromPath: StoragePath;
	toPath: StoragePath;
	isAcross?: true;
}

/** One call of copyItem. The server picks another name if `toPath` is taken. */
export interface CopyStep extends MoveStep {
	fromType: Area;
	/** The tree of a public source. */
	owner?: Owner | undefined;
}

export interface SkippedItem {
	item: ClipboardItem;
	refusal: Failure;
}

/** `refused`: nothing of it can be pasted here, for this reason. */
export type PastePlan =
	| { kind: 'refused'; refusal: Failure }
	| { kind: 'move'; steps: MoveStep[]; skipped: SkippedItem[] }
	| { kind: 'copy'; steps: CopyStep[]; skipped: SkippedItem[] };

/**
 * The calls that paste a clipboard into a folder. Items that can't go there (another's, protected, cut from this very
 * folder, a folder that holds the target) are skipped, each with its reason.
 */
export function planPaste(
	clipboard: Clipboard,
	viewer: Viewer,
	targetArea: Area,
	targetDirectory: StoragePath,
): PastePlan {
	const skipped: SkippedItem[] = [];
	const pairs: { item: ClipboardItem; from: Item; to: Item }[] = [];
	const denialOf = pasteDenials(clipboard.operation, viewer, targetArea, targetDirectory);
	for (const item of clipboard.items) {
		const from = itemOf(clipboard.sourceArea, item);
		const refusal = denialOf(from, item.name);
		if (refusal) skipped.push({ item, refusal });
		else pairs.push({ item, from, to: { area: targetArea, path: joinPath(targetDirectory, item.name) } });
	}
	if (pairs.length === 0) {
		return { kind: 'refused', refusal: skipped[0]?.refusal ?? new Failure('invalid', 'Nothing to paste') };
	}
	return clipboard.operation === 'cut'
		? { kind: 'move', steps: pairs.map(({ item, from, to }) => moveStep(item, from, to)), skipped }
		: { kind: 'copy', steps: pairs.map(({ item, from, to }) => copyStep(item, from, to)), skipped };
}

/** A move that changes who can read an item. */
export type MoveDirection = 'toPublic' | 'toPrivate';

/** The call of 'Move to Public' or 'Move back to Private': the item keeps its path in the other area. */
export function moveToOtherArea(direction: MoveDirection, item: ClipboardItem): MoveStep {
	const from = itemOf(direction === 'toPublic' ? 'private' : 'public', item);
	return moveStep(item, from, { area: direction === 'toPublic' ? 'public' : 'private', path: from.path });
}

function moveStep(item: ClipboardItem, from: Item, to: Item): MoveStep {
	const step = { item, type: to.area, fromPath: from.path, toPath: to.path };
	if (from.area === to.area) return step;
	if (from.area === 'shared' || to.area === 'shared') return { ...step, isAcross: true };
	return { item, type: 'private', fromPath: homePath(from.area, from.path), toPath: homePath(to.area, to.path) };
}

function copyStep(item: ClipboardItem, from: Item, to: Item): CopyStep {
	return { item, type: to.area, fromType: from.area, owner: from.owner, fromPath: from.path, toPath: to.path };
}

/** The result of a paste in which something failed (spec, section 8). */
export function pasteResult(pasted: number, failed: number): string {
	return `Pasted ${plural(pasted, 'item')}. ${failed} failed.`;
}

export interface OwnedSplit<T> {
	owned: T[];
	skipped: T[];
	/** The sentence about those skipped; undefined if there are none. */
	message: string | undefined;
}

/**
 * Splits a selection into the items that the viewer owns and those that are skipped (spec, section 6). Private items are the viewer's
 * own.
 */
export function splitOwned<T extends { owner?: Owner | undefined }>(
	items: readonly T[],
	viewer: Viewer,
): OwnedSplit<T> {
	const owned: T[] = [];
	const skipped: T[] = [];
	for (const item of items) {
		const isOwned = viewer.kind === 'user' && (item.owner === undefined || item.owner === viewer.username);
		(isOwned ? owned : skipped).push(item);
	}
	return { owned, skipped, message: skippedMessage(owned.length, skipped.length) };
}

function skippedMessage(owned: number, skipped: number): string | undefined {
	if (skipped === 0) return undefined;
	return owned === 0 ? notOwnedMessage : `Skipped ${plural(skipped, 'item')} that you do not own`;
}
