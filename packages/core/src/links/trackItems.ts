import { setTimeout as wait } from 'node:timers/promises';
import type { LinkStore } from '@stowage/plugin-api';
import { homeRoot, isFailure, isPublicPath, relativePath, type StoragePath } from '@stowage/rules';
import type { ItemTracker } from '../files/itemTracker.js';
import type { Lease, Leases } from '../leases/createLeases.js';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import { createKeyedMutex } from '../limits/keyedMutex.js';
import type { Log } from '../log.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import type { ReplacedFile } from '../trees/trash/trashParts.js';
import { BeingMoved } from '../trees/trash/versions/PlannedMoves.js';
import { LinkedPaths } from './LinkedPaths.js';
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
			if (lease === undefined) throw new BeingMoved();
			return lease;
		} catch (error) {
			// The plan of a move can't be written either: a move of a linked item is refused, and others need no lease.
			if (isFailure(error, 'storageFull')) return undefined;
			throw error;
		}
	};

	const linkedPaths = new LinkedPaths(links, storage);
	const room = new PathRoom({ links, databaseReserve });

	/** Replacements under way, by the owners of their files. */
	const replacements = new Map<string, Set<Promise<unknown>>>();

	/** The disk has changed already: a record that can't be written now is corrected by the next use of the link. */
	const record = (write: Promise<unknown>) => recordIfPossible(log, write);

	return {
		async moving(viewer, from, move) {
			if (viewer.kind !== 'user' || !(await links.hasAny(viewer.id))) return move(async () => {});
			return underLease(viewer.id, async (lease) => {
				const home = homeRoot(viewer.username);
				const source = relativePath(from, home);
				const linked = await linkedPaths.within(viewer.id, source);
				if (linked.size === 0) return move(async () => {});
				let target = source;
				let isPlanned = false;
				// Another process may have held the lease while this one was suspended.
				const isHeld = () => lease?.isHeld() !== false;
				const assertHeld = () => {
					if (!isHeld()) throw new BeingMoved();
				};
				const moved = await move(async (to) => {
					target = relativePath(to, home);
					const sizes = await linkedPaths.sizes(linked, source, target);
					await room.assertRoom(viewer, sizes, { from: source, to: target });
					assertHeld();
					isPlanned = true;
					await linkedPaths.planMoves(linked, { source, target }, assertHeld);
					assertHeld();
				}).catch(async (error: unknown) => {
					if (isPlanned && isHeld()) await record(linkedPaths.settle([...linked.keys()]));
					throw error;
				});
				if (!isPublicPath(target)) await record(linkedPaths.set(linked, target, isHeld));
				else if (isHeld()) await record(links.remove([...linked.keys()]));
				return moved;
			});
		},

		async removing(viewer, at, remove) {
			if (viewer.kind !== 'user' || !(await links.hasAny(viewer.id))) return remove();
			const home = homeRoot(viewer.username);
			const within = await linkedPaths.within(viewer.id, relativePath(at, home));
			await remove();
			// Under the lease, or an item being moved would be taken for gone, and so would all whose home changes its root.
			const tidy = () => underLease(viewer.id, () => linkedPaths.removeMissing([...within.keys()]));
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
				if (!isBound && (await bound()).length > 0) throw new BeingMoved();
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
