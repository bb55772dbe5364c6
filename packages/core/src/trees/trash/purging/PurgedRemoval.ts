import type { StorageProvider, TrashRecord } from '@stowage/plugin-api';
import { isFailure, undefinedIf } from '@stowage/rules';
import { Counts } from '../../../limits/Counts.js';
import { locateTrashed } from '../locateTrashed.js';
import { lostMs, type TrashParts, trashBatch, type UncompletedMoves, warnOfTrash } from '../trashParts.js';
import { trashedLinkPath, trashedPath } from '../trashPaths.js';
import type { TrashRoom } from './TrashRoom.js';

/** A restoration that had begun before its item was chosen has moved the versions by then. */
const restoredMs = 60_000;

/** Removing from the disks what is marked `purging`, and the rows after that. A root that is away keeps its items until it is back. */
export class PurgedRemoval {
	readonly #parts: TrashParts;
	readonly #room: Pick<TrashRoom, 'forget'>;
	#removing: Promise<void> = Promise.resolve();
	#removingCopies: Promise<void> = Promise.resolve();
	/** How many items are being removed from each disk, by its root: their names are gone, and not yet all of their space is free. */
	readonly #freeing = new Counts();

	constructor(parts: TrashParts, room: Pick<TrashRoom, 'forget'>) {
		this.#parts = parts;
		this.#room = room;
	}

	/** Removes what is being purged, after what was chosen or has ended: how much is left must be summed up again. */
	removePurged(): Promise<void> {
		this.#room.forget();
		return this.freeSpace();
	}

	/** Removes what is being purged, where it is known how much that is. */
	freeSpace(): Promise<void> {
		// One after another: what is marked while one runs may be missed by it.
		this.#removing = this.#removing
			.then(() => this.#removeAll())
			.catch((error: unknown) => warnOfTrash(this.#parts, error));
		return this.#removing;
	}

	/** Whether space of a disk is being freed. */
	isFreeing(rootId: string | undefined): boolean {
		return rootId !== undefined && this.#freeing.of(rootId) > 0;
	}

	/** An item has left the trash in another way. */
	onLeft(id: string): void {
		this.#room.forget();
		this.#removeCopies([id]);
	}

	async #removeAll(): Promise<void> {
		const { store, now, onPurged, onChanged } = this.#parts;
		// Those that could not be removed, such as on a root that is away: they hold up no others. There may be any number of them.
		let hasWarned = false;
		for (let skip = 0; ; ) {
			const records = await store.inState('purging', { limit: trashBatch, skip });
			// In the same order: the first ones of them.
			const before = await store.inState('purging', { limit: trashBatch, skip, until: now() - restoredMs });
			const chosenBefore = new Set(before.map(({ id }) => id));
			const removed: string[] = [];
			let ended = 0;
			const movesOf = this.#movesOfOwners();
			for (const record of records) {
				try {
					const path = trashedLinkPath(record.id);
					// By a wrong path its versions would not end with it: a later round removes it.
					if (record.kind === 'item' && (await movesOf(record.ownerId)).leadTo(path)) continue;
					const wasHere = await this.#removeItem(record);
					if (wasHere) onPurged(record);
					let isMoving = false;
					if (record.kind === 'item') {
						// What has been restored since it was chosen takes its versions with it. They may also be on their way here since.
						const moves = await movesOf(record.ownerId);
						isMoving = moves.leadTo(path) || (!wasHere && moves.leadFrom(path));
						// On a full database a restoration has no plan.
						if (!wasHere && !chosenBefore.has(record.id)) isMoving ||= await this.#hasVersions(record);
						// Also those of what was removed by a process that ended just after it.
						if (!isMoving) ended += await this.#endVersions(record);
						onChanged(record.ownerId);
					}
					// What is still on its way has its row until it has arrived: nothing else would ever find it. Nor its versions.
					if (!isMoving && (wasHere || record.deletedAt < now() - lostMs)) removed.push(record.id);
				} catch (error) {
					if (!hasWarned) warnOfTrash(this.#parts, error);
					hasWarned = true;
				}
			}
			await store.remove(removed);
			this.#removeCopies(removed);
			skip += records.length - removed.length;
			if (records.length < trashBatch && ended === 0) return;
		}
	}

	/** The moves of versions that are left of an owner, as of each call. What was interrupted is completed by the first one. */
	#movesOfOwners(): (ownerId: string) => Promise<UncompletedMoves> {
		const completed = new Set<string>();
		return (ownerId) => {
			if (completed.has(ownerId)) return this.#parts.plannedMoves(ownerId);
			completed.add(ownerId);
			return this.#parts.completeMoves(ownerId);
		};
	}

	#hasVersions({ id, ownerId }: TrashRecord): Promise<boolean> {
		return this.#parts.versions.hasWithin(ownerId, trashedLinkPath(id));
	}

	/** The versions of an item that was removed, and of what was in it, go with it. Resolves to how many. */
	async #endVersions({ id, ownerId }: TrashRecord): Promise<number> {
		const { versions } = this.#parts;
		let ended = 0;
		await versions.countsWithin(ownerId, trashedLinkPath(id), async (files) => {
			ended += await versions.beginPurging(
				ownerId,
				files.map(({ file }) => file),
			);
		});
		return ended;
	}

	/** Resolves to false if it is in no trash. */
	async #removeItem(record: TrashRecord): Promise<boolean> {
		const located = await locateTrashed(this.#parts, record);
		if (located === undefined) return false;
		const { storage } = located.mount;
		const onFreeing = (freed: Promise<void>) => this.#onFreeing(storage.rootId, freed);
		const removing = storage.remove(located.path, { onFreeing }).then(() => true);
		return (await undefinedIf(removing, 'notFound')) === true;
	}

	#onFreeing(rootId: string, freed: Promise<void>): void {
		this.#freeing.add(rootId, 1);
		void freed.finally(() => this.#freeing.add(rootId, -1));
	}

	/**
	 * Removes what a move to another root that was interrupted has left of items that have left the trash. One that goes on finds no row.
	 * Nobody waits for this: a disk that does not answer would hold up all others. What can't be removed stays without a row, as doctor says.
	 */
	#removeCopies(ids: readonly string[]): void {
		const mounts = this.#parts.storage().mounts();
		if (mounts.length === 1) return;
		this.#removingCopies = this.#removingCopies.then(async () => {
			for (const { storage } of mounts) for (const id of ids) await this.#removeCopy(storage, id);
		});
	}

	async #removeCopy(storage: StorageProvider, id: string): Promise<void> {
		try {
			await storage.remove(trashedPath(id));
		} catch (error) {
			if (isFailure(error, 'notFound')) return;
			this.#parts.log.warn(
				{ err: error, item: id, root: storage.rootId },
				'a copy of an item that left the trash stays',
			);
		}
	}
}
