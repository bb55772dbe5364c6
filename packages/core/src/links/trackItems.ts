import { setTimeout as wait } from 'node:timers/promises';
import { type LinkRecord, type LinkStore, Yielder } from '@stowage/plugin-api';
import {
	batchesOf,
	Failure,
	homeRoot,
	isFailure,
	isWithin,
	joinChecked,
	relativePath,
	type StoragePath,
	utf8Length,
} from '@stowage/rules';
import type { ItemTracker } from '../files/itemTracker.js';
import type { Lease, Leases } from '../leases/createLeases.js';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import { createKeyedMutex } from '../limits/keyedMutex.js';
import type { Log } from '../log.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import type { ReplacedFile } from '../trees/trash/trashParts.js';
import { isTrashedLink } from '../trees/trash/trashPaths.js';
import { isPublicPath, locateLink } from './locateLink.js';
import { PathRoom, PathSizes } from './PathRoom.js';
import { recordIfPossible } from './recordIfPossible.js';

export interface LinkTracker extends ItemTracker {
	/** Runs `work` while no linked item of that user is being moved by this process, nor replaced, unless that takes long. */
	withoutMoves<T>(ownerId: string, work: () => Promise<T>): Promise<T>;
	/** Runs `work` while no linked item of that user is being moved by any process. Throws `locked` if a move takes too long. */
	alone<T>(ownerId: string, work: () => Promise<T>): Promise<T>;
	/**
	 * Runs `add`, which writes new paths of that user, if there is room for them: long ones while no others are added, nor a linked item
	 * moved. Throws `storageFull`, and `locked` if a move takes too long.
	 */
	adding<T>(ownerId: string, paths: readonly StoragePath[], add: () => Promise<T>): Promise<T>;
	/** Binds links to a file that was replaced to the one that is in its place. May be called again. */
	replaced(file: ReplacedFile): Promise<void>;
}

interface Dependencies {
	links: LinkStore;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	storage: () => Pick<MountedStorage, 'open' | 'stat' | 'changing'>;
	leases: Pick<Leases, 'acquire'>;
	log: Log;
}

/** Milliseconds for which a move waits for one of the same user in another process. */
const waitMs = 20_000;

/** Items whose paths are written together at most, and characters of these. */
const writtenAtOnce = { items: 1_000, characters: 4_000_000 };

/** Characters of paths of linked items that a move keeps in memory. Further ones, of very many or very long paths, are read again. */
const keptCharacters = 4_000_000;

/** Items that are read at once by their ids: the paths of each may have 64,000 characters. */
const readAtOnce = 100;

/** Linked items by their ids, with their paths below an item that is moved; undefined for what is to be read again. */
type LinkedItems = ReadonlyMap<string, StoragePath | undefined>;

/** Milliseconds for which the use of a link waits for a replacement: it may be a long copy. */
const replacementMs = 1_000;

/**
 * Updates links when their items are moved, and removes them with their items. The target of each is recorded before the disk changes and
 * confirmed after it, so that a crash in between loses none: `locateLink` checks both places.
 */
export function trackItems({ links, databaseReserve, storage, leases, log }: Dependencies): LinkTracker {
	// Moves of a user with links are serialized, or each would plan for paths that another is changing: in this process by the mutex, in
	// all by a lease.
	const exclusively = createKeyedMutex();
	const underLease = <T>(ownerId: string, work: (lease?: Lease) => Promise<T>): Promise<T> =>
		exclusively(ownerId, async () => {
			const lease = await acquireLease(ownerId);
			try {
				return await work(lease);
			} finally {
				await lease?.release();
			}
		});
	const acquireLease = async (ownerId: string): Promise<Lease | undefined> => {
		try {
			const lease = await leases.acquire(`links ${ownerId}`, { waitMs });
			if (lease === undefined) throw beingMoved();
			return lease;
		} catch (error) {
			// The plan of a move can't be written either: a move of a linked item is refused, and others need no lease.
			if (isFailure(error, 'storageFull')) return undefined;
			throw error;
		}
	};

	const room = new PathRoom({ links, databaseReserve });

	/** Replacements under way, by the owners of their files. */
	const replacements = new Map<string, Set<Promise<unknown>>>();

	/** The linked items at `source` or below. */
	const linkedWithin = async (ownerId: string, source: StoragePath): Promise<LinkedItems> => {
		const linked = new Map<string, StoragePath | undefined>();
		const yielder = new Yielder();
		let characters = 0;
		await links.eachWithin(ownerId, source, async (some) => {
			for (const link of some) {
				if (yielder.shouldYield) await yielder.yield();
				const path = await currentPath(link);
				if (path === undefined || !isWithin(path, source)) continue;
				characters += path.length;
				linked.set(link.id, characters > keptCharacters ? undefined : relativePath(path, source));
			}
		});
		return linked;
	};
	/** Items that exist, a part after the other: together their paths may take hundreds of megabytes. */
	const readParts = async function* (ids: readonly string[]): AsyncGenerator<LinkRecord[]> {
		for (const part of batchesOf(ids, readAtOnce)) yield await links.get(part);
	};
	/** The paths of linked items below `folder`. Those that are read again are where `pathOf` says; what has left the folder is no more. */
	const pathsOf = async function* (
		linked: LinkedItems,
		folder: StoragePath,
		pathOf: (link: LinkRecord) => Promise<StoragePath | undefined>,
	): AsyncGenerator<[id: string, inside: StoragePath]> {
		const unread: string[] = [];
		for (const [id, inside] of linked) {
			if (inside === undefined) unread.push(id);
			else yield [id, inside];
		}
		for await (const some of readParts(unread))
			for (const link of some) {
				const path = await pathOf(link);
				if (path !== undefined && isWithin(path, folder)) yield [link.id, relativePath(path, folder)];
			}
	};
	const currentPath = async (link: LinkRecord) => {
		if (link.nextPath === undefined) return link.path;
		// One whose item is in neither place is in the trash, if it was to get there or to leave it.
		return (await locateLink(storage(), link))?.path ?? [link.nextPath, link.path].find(isTrashedLink);
	};

	/** Calls `use` with a part of the items after the other: as whole paths all of them can take hundreds of megabytes. */
	const inParts = async <T>(
		paths: AsyncIterable<[id: string, inside: StoragePath]>,
		itemOf: (inside: StoragePath) => { item: T; characters: number },
		use: (part: ReadonlyMap<string, T>) => Promise<void>,
	): Promise<void> => {
		const yielder = new Yielder();
		const part = new Map<string, T>();
		let sum = 0;
		for await (const [id, inside] of paths) {
			if (yielder.shouldYield) await yielder.yield();
			const { item, characters } = itemOf(inside);
			if (part.size === writtenAtOnce.items || (part.size > 0 && sum + characters > writtenAtOnce.characters)) {
				await use(part);
				part.clear();
				sum = 0;
			}
			part.set(id, item);
			sum += characters;
		}
		if (part.size > 0) await use(part);
	};
	/** Throws `invalidPath` for a target that is too long for one of the items. */
	const sizesOf = async (linked: LinkedItems, source: StoragePath, target: StoragePath) => {
		const sizes = new PathSizes();
		const [from, to] = [utf8Length(source), utf8Length(target)];
		const yielder = new Yielder();
		for await (const [, inside] of pathsOf(linked, source, currentPath)) {
			if (yielder.shouldYield) await yielder.yield();
			joinChecked(target, inside);
			const below = inside === '' ? 0 : utf8Length(inside) + 1;
			sizes.add(to + below, from + below);
		}
		return sizes;
	};
	/** Calls `assertHeld` before each part: a plan that is written later would undo the one of whoever moves these items then. */
	const planMoves = (
		linked: LinkedItems,
		{ source, target }: { source: StoragePath; target: StoragePath },
		assertHeld: () => void,
	) =>
		inParts(
			pathsOf(linked, source, currentPath),
			(inside) => {
				const item = { path: joinChecked(source, inside), nextPath: joinChecked(target, inside) };
				return { item, characters: item.path.length + item.nextPath.length };
			},
			async (part) => {
				assertHeld();
				await links.planMoves(part);
			},
		);
	/** Ends with the lease: what is planned is valid as well, and is completed by its next holder. */
	const setPaths = (linked: LinkedItems, target: StoragePath, lease: Lease | undefined) =>
		inParts(
			pathsOf(linked, target, async ({ nextPath }) => nextPath),
			(inside) => {
				const item = joinChecked(target, inside);
				return { item, characters: item.length };
			},
			async (part) => {
				if (lease?.isHeld() !== false) await links.setPaths(part);
			},
		);

	/** Removes links whose items are missing: some of these may have been moved out in time. */
	const removeMissing = async (ids: readonly string[]): Promise<void> => {
		const missing: string[] = [];
		const yielder = new Yielder();
		for await (const some of readParts(ids))
			for (const link of some) {
				if (yielder.shouldYield) await yielder.yield();
				if ((await locateLink(storage(), link)) === undefined) missing.push(link.id);
			}
		await links.remove(missing);
	};

	/**
	 * Where they are after a move that has failed: what stays planned would show under its new path, and could not be
	 * bound to a new file.
	 */
	const settle = async (ids: readonly string[]): Promise<void> => {
		const yielder = new Yielder();
		for await (const some of readParts(ids)) {
			const places = new Map<string, StoragePath>();
			for (const link of some) {
				if (yielder.shouldYield) await yielder.yield();
				const located = await locateLink(storage(), link);
				if (located !== undefined) places.set(link.id, located.path);
			}
			await links.setPaths(places);
		}
	};

	/** The disk has changed already: a record that can't be written now is corrected by the next use of the link. */
	const record = (write: Promise<unknown>) => recordIfPossible(log, write);

	return {
		async moving(viewer, from, move) {
			if (viewer.kind !== 'user' || !(await links.hasAny(viewer.id))) return move(async () => {});
			return underLease(viewer.id, async (lease) => {
				const home = homeRoot(viewer.username);
				const source = relativePath(from, home);
				const linked = await linkedWithin(viewer.id, source);
				if (linked.size === 0) return move(async () => {});
				let target = source;
				let isPlanned = false;
				// Another process may have held the lease while this one was suspended.
				const assertHeld = () => {
					if (lease?.isHeld() === false) throw beingMoved();
				};
				const moved = await move(async (to) => {
					target = relativePath(to, home);
					const sizes = await sizesOf(linked, source, target);
					await room.assertRoom(viewer, sizes, { from: source, to: target });
					assertHeld();
					isPlanned = true;
					await planMoves(linked, { source, target }, assertHeld);
					assertHeld();
				}).catch(async (error: unknown) => {
					if (isPlanned && lease?.isHeld() !== false) await record(settle([...linked.keys()]));
					throw error;
				});
				if (!isPublicPath(target)) await record(setPaths(linked, target, lease));
				else if (lease?.isHeld() !== false) await record(links.remove([...linked.keys()]));
				return moved;
			});
		},

		async removing(viewer, at, remove) {
			if (viewer.kind !== 'user' || !(await links.hasAny(viewer.id))) return remove();
			const home = homeRoot(viewer.username);
			const within = await linkedWithin(viewer.id, relativePath(at, home));
			await remove();
			// Under the lease, or an item being moved would be taken for gone, and so would all whose home changes its root.
			const tidy = () => underLease(viewer.id, () => removeMissing([...within.keys()]));
			if (within.size > 0) await record(storage().changing(viewer.username, tidy));
		},

		async replacing(viewer, replace) {
			if (viewer.kind !== 'user' || !(await links.hasAny(viewer.id))) return replace();
			const ofOwner = replacements.get(viewer.id) ?? new Set();
			replacements.set(viewer.id, ofOwner);
			const replacing = replace();
			ofOwner.add(replacing);
			try {
				return await replacing;
			} finally {
				ofOwner.delete(replacing);
				if (ofOwner.size === 0) replacements.delete(viewer.id);
			}
		},

		async replaced({ ownerId, path, former, file }) {
			if (former === file || !(await links.hasAny(ownerId))) return;
			const bound = async () => {
				const ids: string[] = [];
				await links.eachWithin(ownerId, path, async (some) => {
					for (const { id, itemId } of some) if (itemId === former) ids.push(id);
				});
				return ids;
			};
			if ((await bound()).length === 0) return;
			await underLease(ownerId, async () => {
				let isBound = true;
				// A move whose end could not be recorded has ended: nothing is moved under the lease.
				for (const id of await bound()) isBound = (await links.rebind(id, former, file, path)) && isBound;
				// Who has replaced the file tries it again later, also where the process ends before that.
				if (!isBound && (await bound()).length > 0) throw beingMoved();
			});
		},

		async withoutMoves(ownerId, work) {
			const ofOwner = replacements.get(ownerId);
			if (ofOwner !== undefined)
				await Promise.race([Promise.allSettled(ofOwner), wait(replacementMs, undefined, { ref: false })]);
			return exclusively(ownerId, work);
		},

		alone: (ownerId, work) => underLease(ownerId, work),

		async adding(ownerId, paths, add) {
			const sizes = PathSizes.of(...paths);
			if (sizes.long === 0) return add();
			return underLease(ownerId, async () => {
				await room.assertRoom({ id: ownerId }, sizes);
				return add();
			});
		},
	};
}

function beingMoved(): Failure {
	return new Failure('locked', 'Something of yours is being moved right now. Please try again in a moment.', {
		retryAfter: 1,
	});
}
