import { type Area, joinPath, pathDepth, pathSegments, pathsTo, type StoragePath } from '@stowage/rules';
import type { TakenNames } from '../../../api/listings/takenNames.js';
import { areaOf, baseOf, fullName, type IfExists, isWaiting, type QueueItem } from '../queueItem.js';

/** What has the name of an item already; `unknown` while that was not looked up. */
export type NameState = 'free' | 'file' | 'directory' | 'unknown';

export interface FolderToList {
	area: Area;
	directory: StoragePath;
}

interface KeyedFolder extends FolderToList {
	key: string;
}

/** A name that is looked for in a folder. */
interface Lookup {
	folder: KeyedFolder;
	name: string;
}

/** The names of a folder, or undefined while they are not known. */
export type ListedNames = (folder: KeyedFolder) => TakenNames | undefined;

/** Folders that are listed for one queue. What is in the others is decided by the server. */
const maxListedFolders = 8;

/** Cached by item, since a queue may have ten thousand and items are never mutated. */
const lookups = new WeakMap<QueueItem, readonly Lookup[]>();

/** The folders that lead to an item, from the one that exists already, each with what is looked for in it; the last one with its name. */
export function lookupsOf(item: QueueItem): readonly Lookup[] {
	let found = lookups.get(item);
	if (!found) {
		const names = [...pathSegments(item.folder), fullName(item)];
		found = foldersTo(item).map((folder, index) => ({ folder, name: names[index] as string }));
		lookups.set(item, found);
	}
	return found;
}

/** Those that lead to the item that was asked for last. Thousands have the same ones, with paths that may take 60 kB each. */
let last: { area: Area; base: StoragePath; inside: StoragePath; folders: readonly KeyedFolder[] } | undefined;

function foldersTo(item: QueueItem): readonly KeyedFolder[] {
	const [area, base, inside] = [areaOf(item), baseOf(item), item.folder];
	if (last?.area !== area || last.base !== base || last.inside !== inside) {
		const paths = [base, ...pathsTo(joinPath(base, inside)).slice(pathDepth(base))];
		const folders = paths.map((directory) => ({ area, directory, key: folderKey(area, directory) }));
		last = { area, base, inside, folders };
	}
	return last.folders;
}

export function folderKey(area: Area, directory: StoragePath): string {
	return `${area}/${directory}`;
}

export function nameStateOf(item: QueueItem, listed: ListedNames): NameState {
	const all = lookupsOf(item);
	for (const lookup of all) {
		const names = listed(lookup.folder);
		if (!names) return 'unknown';
		const type = names.get(lookup.name)?.type;
		if (lookup === all.at(-1)) return type ?? 'free';
		// The folder will be made, so nothing is in it.
		if (type !== 'directory') return 'free';
	}
	return 'unknown';
}

/**
 * The folders to list so that the names of the waiting items are known. One below another is asked for once the other
 * one is seen to have it.
 */
export function foldersToList(items: readonly QueueItem[], listed: ListedNames): FolderToList[] {
	const folders = new Map<string, FolderToList>();
	for (const item of items) {
		if (!isWaiting(item)) continue;
		for (const { folder, name } of lookupsOf(item)) {
			const { key, area, directory } = folder;
			if (!folders.has(key)) {
				if (folders.size === maxListedFolders) break;
				folders.set(key, { area, directory });
			}
			if (listed(folder)?.get(name)?.type !== 'directory') break;
		}
	}
	return [...folders.values()];
}

/** What can be chosen: a folder is never replaced, and a visitor replaces nothing. */
export function choicesFor(state: NameState, isVisitor: boolean): readonly IfExists[] {
	return isVisitor || state === 'directory' ? ['rename', 'skip'] : ['rename', 'replace', 'skip'];
}

/** What was chosen, as far as it is possible. */
export function choiceOf({ ifExists }: Pick<QueueItem, 'ifExists'>, state: NameState, isVisitor: boolean): IfExists {
	return choicesFor(state, isVisitor).includes(ifExists) ? ifExists : 'rename';
}

export interface ConflictSummary {
	/** The choice for the items whose name is or may be taken; undefined if there are none. */
	choice: IfExists | 'mixed' | undefined;
	/** Waiting files whose name is taken. */
	taken: number;
}

/** Summarizes the names. It visits every item, so it is computed once for each change of `items` or of what is listed. */
export function summarizeConflicts(
	items: readonly QueueItem[],
	stateOf: (item: QueueItem) => NameState,
	isVisitor: boolean,
): ConflictSummary {
	let taken = 0;
	const choices = new Set<IfExists>();
	for (const item of items) {
		if (!isWaiting(item)) continue;
		const state = stateOf(item);
		if (state === 'file' || state === 'directory') taken++;
		if (state !== 'free') choices.add(choiceOf(item, state, isVisitor));
	}
	const [choice, ...others] = choices;
	return { choice: others.length > 0 ? 'mixed' : choice, taken };
}
