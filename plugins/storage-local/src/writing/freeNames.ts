import type { NamingOptions, ReplaceVersion } from '@stowage/plugin-api';
import { baseName, type StoragePath } from '@stowage/rules';
import { AdaptiveBatch, statMany } from '../reading/statMany.js';
import type { Disk } from '../root/Disk.js';
import type { FileStat } from '../system/fileStat.js';
import type { Folder } from '../system/openFolder.js';
import { isSystemError } from '../system/systemErrors.js';

/** Names looked up together: few at first, since the first free one mostly comes soon. */
const firstBatch = 16;
const largestBatch = 256;

/** The item of a name; undefined if it is free. */
export interface NameWithStat {
	name: string;
	stat: FileStat | undefined;
}

/** The version to be replaced, and where it goes; undefined for none. */
export function replacement({ onConflict = 'fail' }: NamingOptions): ReplaceVersion | undefined {
	return onConflict === 'fail' ? undefined : onConflict;
}

/** The name of a path and its alternatives. */
export function* namesFrom(path: StoragePath, otherNames: Iterable<string>): Generator<string> {
	yield baseName(path);
	yield* otherNames;
}

/**
 * Claims the first of these names that is free, by `claim`, which rejects with EEXIST if the name was taken meanwhile. The first one is
 * tried at once; those after it are looked up, which costs a fraction of an attempt. With `isOwn`, a name that leads to what the caller
 * wanted to put there counts as claimed by them. Resolves to nothing if none is free.
 */
export async function claimFreeName(
	disk: Disk,
	folder: Folder,
	names: Iterable<string>,
	claim: (name: string) => Promise<void>,
	isOwn: (stat: FileStat) => boolean = () => false,
): Promise<{ name: string; isNew: boolean } | undefined> {
	const left = names[Symbol.iterator]();
	const first = left.next();
	if (first.done) return undefined;
	if (await tryClaim(claim, first.value)) return { name: first.value, isNew: true };
	const stat = await statIfPresent(disk, folder, first.value);
	if (stat !== undefined && isOwn(stat)) return { name: first.value, isNew: false };
	return disk.locks.holdName(folder, first.value, async () => {
		for await (const { name, stat } of statNames(disk, folder, { [Symbol.iterator]: () => left })) {
			if (stat === undefined && (await tryClaim(claim, name))) return { name, isNew: true };
			if (stat !== undefined && isOwn(stat)) return { name, isNew: false };
		}
		return undefined;
	});
}

/** Looks up names in their order, several at a time. */
export async function* statNames(disk: Disk, folder: Folder, names: Iterable<string>): AsyncGenerator<NameWithStat> {
	const stats = new AdaptiveBatch();
	let size = firstBatch;
	let batch: string[] = [];
	for (const name of names) {
		batch.push(name);
		if (batch.length < size) continue;
		yield* await statBatch(disk, folder, batch, stats);
		batch = [];
		size = Math.min(largestBatch, size * 4);
	}
	yield* await statBatch(disk, folder, batch, stats);
}

async function statBatch(
	disk: Disk,
	folder: Folder,
	names: readonly string[],
	stats: AdaptiveBatch,
): Promise<NameWithStat[]> {
	const found = new Map<string, FileStat | undefined>();
	const { statSync } = disk;
	const calls = {
		sync: statSync === undefined ? undefined : (name: string) => void found.set(name, statSync(folder, name)),
		async: async (name: string) => void found.set(name, await statIfPresent(disk, folder, name)),
	};
	await statMany(names, calls, stats);
	return names.map((name) => ({ name, stat: found.get(name) }));
}

export async function statIfPresent(disk: Disk, folder: Folder, name: string): Promise<FileStat | undefined> {
	try {
		return await disk.statAt(folder, name);
	} catch (error) {
		if (isSystemError(error, 'ENOENT')) return undefined;
		throw error;
	}
}

async function tryClaim(claim: (name: string) => Promise<void>, name: string): Promise<boolean> {
	try {
		await claim(name);
		return true;
	} catch (error) {
		if (isSystemError(error, 'EEXIST')) return false;
		throw error;
	}
}
