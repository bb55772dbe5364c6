import { baseName, type StoragePath } from '@stowage/rules';
import type { Disk } from './Disk.js';
import type { Folder } from './Folder.js';
import type { Facts } from './facts.js';
import { isFault } from './faults.js';
import { LookPace } from './LookPace.js';
import { lookAtAll } from './looking.js';

/** Names looked up together: few at first, since the first free one mostly comes soon. */
const firstBatch = 16;
const largestBatch = 256;

/** What lies under a name; nothing if it is free. */
export interface SeenName {
	name: string;
	facts: Facts | undefined;
}

/** The name of a path and those to try after it. */
export function* namesFrom(path: StoragePath, otherNames: Iterable<string>): Generator<string> {
	yield baseName(path);
	yield* otherNames;
}

/**
 * Takes the first of these names that is free, by `take`, which rejects with EEXIST where somebody was faster. The first one is tried at once; those after it are
 * looked up, which costs a fraction of a try. With `isOwn`, a name that leads to what the caller wanted to put there counts as taken by them. Resolves to nothing if none is free.
 */
export async function takeFreeName(
	disk: Disk,
	folder: Folder,
	names: Iterable<string>,
	take: (name: string) => Promise<void>,
	isOwn: (facts: Facts) => boolean = () => false,
): Promise<{ name: string; isNew: boolean } | undefined> {
	const left = names[Symbol.iterator]();
	const first = left.next();
	if (!first.done) {
		if (await isTakenBy(take, first.value)) return { name: first.value, isNew: true };
		const facts = await factsIfThere(disk, folder, first.value);
		if (facts !== undefined && isOwn(facts)) return { name: first.value, isNew: false };
	}
	for await (const { name, facts } of lookAtNames(disk, folder, { [Symbol.iterator]: () => left })) {
		if (facts === undefined && (await isTakenBy(take, name))) return { name, isNew: true };
		if (facts !== undefined && isOwn(facts)) return { name, isNew: false };
	}
	return undefined;
}

/** Looks up names in their order, several at a time. */
export async function* lookAtNames(disk: Disk, folder: Folder, names: Iterable<string>): AsyncGenerator<SeenName> {
	const pace = new LookPace();
	let size = firstBatch;
	let batch: string[] = [];
	for (const name of names) {
		batch.push(name);
		if (batch.length < size) continue;
		yield* await lookAtBatch(disk, folder, batch, pace);
		batch = [];
		size = Math.min(largestBatch, size * 4);
	}
	yield* await lookAtBatch(disk, folder, batch, pace);
}

async function lookAtBatch(disk: Disk, folder: Folder, names: readonly string[], pace: LookPace): Promise<SeenName[]> {
	const found = new Map<string, Facts | undefined>();
	const { factsNow } = disk;
	const looks = {
		now: factsNow === undefined ? undefined : (name: string) => void found.set(name, factsNow(folder, name)),
		inBackground: async (name: string) => void found.set(name, await factsIfThere(disk, folder, name)),
	};
	await lookAtAll(names, looks, pace);
	return names.map((name) => ({ name, facts: found.get(name) }));
}

async function factsIfThere(disk: Disk, folder: Folder, name: string): Promise<Facts | undefined> {
	try {
		return await disk.factsAt(folder, name);
	} catch (error) {
		if (isFault(error, 'ENOENT')) return undefined;
		throw error;
	}
}

async function isTakenBy(take: (name: string) => Promise<void>, name: string): Promise<boolean> {
	try {
		await take(name);
		return true;
	} catch (error) {
		if (isFault(error, 'EEXIST')) return false;
		throw error;
	}
}
