import { setTimeout as wait } from 'node:timers/promises';
import {
	type StorageProvider,
	type TrashRecord,
	type TrashSelection,
	type TrashSize,
	Yielder,
} from '@stowage/plugin-api';
import { addTo, isFailure, undefinedIf } from '@stowage/rules';
import { createKeyedMutex } from '../../limits/keyedMutex.js';
import { locateTrashed } from './locateTrashed.js';
import { TrashRoom } from './TrashRoom.js';
import type { TrashSizes } from './TrashSizes.js';
import { lostMs, type TrashOwner, type TrashParts, trashBatch, warnOfTrash } from './trashParts.js';
import { trashedLinkPath, trashedPath } from './trashPaths.js';

/** Whose trash gives way, or that of which disk. */
type GivingWay = Pick<TrashSelection, 'ownerId' | 'rootId'>;

/** How often it is looked whether there is room, while what gave way is being removed. */
const lookMs = 50;

/** What gave way may be a folder of millions of files: whoever waits for it is refused, and may try again. */
const maxFreeingMs = 15_000;

/** Pauses in which a file system may count as free what was removed. */
const settlingMs = [50, 200, 800, 2_000] as const;

/** Files may be compressed, and others write meanwhile. */
const leastShare = 0.1;

/** After so many steps by which there is no more room than before nothing gives way there for some minutes. */
const maxInVain = 2;
const restMs = 10 * 60_000;

/** How many items of one user were removed for good. */
export interface PurgedOfOwner extends TrashOwner {
	entries: number;
}

const isNothing = ({ bytes, entries }: TrashSize): boolean => bytes <= 0 && entries <= 0;

/** Removing from the trash for good. What is marked `purging` is gone for everybody, and its space is freed by and by. */
export class TrashPurge {
	readonly #parts: TrashParts;
	readonly #room: TrashRoom;
	readonly #alone = createKeyedMutex();
	#removing: Promise<void> = Promise.resolve();
	#removingCopies: Promise<void> = Promise.resolve();
	/** How many items are being removed from each disk, by its root: their names are gone, and not yet all of their space is free. */
	readonly #freeing = new Map<string, number>();
	/** Until when nothing gives way, since it was in vain here. */
	readonly #restsUntil = new Map<string, number>();

	constructor(parts: TrashParts, sizes: TrashSizes) {
		this.#parts = parts;
		this.#room = new TrashRoom(sizes);
	}

	/** Resolves to how many were chosen. */
	async purge(selection: TrashSelection): Promise<number> {
		let count = 0;
		try {
			for await (const marked of markPurging(this.#parts, selection)) count += marked;
		} finally {
			if (count > 0 && selection.ownerId !== undefined) this.#parts.onChanged(selection.ownerId);
			if (count > 0) void this.removePurged();
		}
		return count;
	}

	/** Purges as `purge` does, and resolves to whose the items were. */
	async purgeOfEach(selection: TrashSelection): Promise<PurgedOfOwner[]> {
		const { store, onChanged } = this.#parts;
		const purged = new Map<string, PurgedOfOwner>();
		try {
			for await (const page of chosenPages(this.#parts, selection)) {
				for (const [ownerId, records] of byOwner(page)) {
					const entries = await store.beginPurging({ ids: records.map(({ id }) => id) });
					if (entries === 0) continue;
					const ownerName = records.at(-1)?.ownerName ?? '';
					purged.set(ownerId, { ownerId, ownerName, entries: entries + (purged.get(ownerId)?.entries ?? 0) });
				}
			}
		} finally {
			for (const ownerId of purged.keys()) onChanged(ownerId);
			if (purged.size > 0) void this.removePurged();
		}
		return [...purged.values()];
	}

	/**
	 * Marks what nobody chose to be purged, and has it recorded for each user whose it was, without freeing space yet. Resolves to how many
	 * there were. `member` is who has caused it, where that is not the owner.
	 */
	async end(records: readonly TrashRecord[], reason: 'space' | 'number', member?: string): Promise<number> {
		let ended = 0;
		for (const own of byOwner(records).values()) {
			const [first] = own;
			if (first === undefined) continue;
			const ids = own.map(({ id }) => id);
			const count = await this.#parts.store.beginPurging({ ids }, { forgetsPaths: reason === 'number' });
			// Another process may have chosen the same.
			if (count > 0) await this.#parts.onEnded(first.kind, count, reason, first, member);
			ended += count;
		}
		return ended;
	}

	/** Marks the selection to be purged, without freeing space yet. Resolves to how many items there were. */
	async mark(selection: TrashSelection): Promise<number> {
		let count = 0;
		for await (const marked of markPurging(this.#parts, selection)) count += marked;
		return count;
	}

	/** Whether so much could give way. Nothing does. */
	async canGiveWay(selection: GivingWay, lack: TrashSize): Promise<boolean> {
		const key = JSON.stringify(selection);
		if ((this.#restsUntil.get(key) ?? 0) > this.#parts.monotonic()) return false;
		if (!(await this.#room.has(selection, lack))) return false;
		// Each process that found it out for itself would cost some of the trash.
		return (await this.#parts.inVain.get(key)) === undefined;
	}

	/**
	 * Purges the oldest until nothing is lacking any more, if there is so much, versions first; resolves to whether it is
	 * so. `lackNow` is asked again after each step: what gave way to others may be enough for all, and a disk may free less
	 * than its files had (other names or copies that share their bytes, snapshots), or later.
	 */
	async giveWay(selection: GivingWay, lackNow: () => Promise<TrashSize>): Promise<boolean> {
		// All who ask in vain are answered by the same sum, and don't wait for each other.
		const lackBefore = await lackNow();
		if (isNothing(lackBefore)) return true;
		if (!(await this.canGiveWay(selection, lackBefore))) return false;
		return this.#alone(JSON.stringify(selection), async () => {
			const { rootId } = selection;
			for (let inVain = 0; ; ) {
				await this.#untilFree(rootId, lackNow);
				const lack = await lackNow();
				if (isNothing(lack)) return true;
				// What is still on its way to be free may be enough.
				if (this.#isFreeing(rootId) || !(await this.canGiveWay(selection, lack))) return false;
				const given = await this.#endOldest(selection, lack);
				if (given === undefined) return false;
				this.#room.gave(selection, given);
				await this.#freeSpace();
				if (await this.#hasHelped(rootId, lack, given, lackNow)) inVain = 0;
				else if (++inVain === maxInVain) {
					await this.#rest(selection);
					return false;
				}
			}
		});
	}

	/** Chooses the oldest for so much; resolves to how much they have, or to undefined where there is nothing. */
	async #endOldest(selection: GivingWay, lack: TrashSize): Promise<TrashSize | undefined> {
		const { store } = this.#parts;
		const freed: TrashSize = { bytes: 0, entries: 0 };
		const isEnough = () => freed.bytes >= lack.bytes && freed.entries >= lack.entries;
		while (!isEnough()) {
			const chosen: TrashRecord[] = [];
			const oldest = (kind: TrashRecord['kind']) =>
				store.list({ order: 'oldest', limit: trashBatch, kind, ...selection });
			const versions = await oldest('version');
			for (const record of versions.length > 0 ? versions : await oldest('item')) {
				if (isEnough()) break;
				chosen.push(record);
				freed.bytes += record.size?.bytes ?? 0;
				freed.entries += record.size?.entries ?? 0;
			}
			if (chosen.length === 0) return undefined;
			await this.end(chosen, 'space');
		}
		return freed;
	}

	/** Waits until what was removed from a disk is free, if there is not room enough before. */
	async #untilFree(rootId: string | undefined, lackNow: () => Promise<TrashSize>): Promise<void> {
		const end = this.#parts.monotonic() + maxFreeingMs;
		while (this.#isFreeing(rootId) && this.#parts.monotonic() < end) {
			await wait(lookMs);
			if (isNothing(await lackNow())) return;
		}
	}

	/** Whether a disk, or a quota, has about as much more room as what gave way had. */
	async #hasHelped(
		rootId: string | undefined,
		before: TrashSize,
		given: TrashSize,
		lackNow: () => Promise<TrashSize>,
	): Promise<boolean> {
		await this.#untilFree(rootId, lackNow);
		const hasHelped = async () => {
			const left = await lackNow();
			if (isNothing(left) || this.#isFreeing(rootId)) return true;
			return before.bytes - left.bytes > given.bytes * leastShare || before.entries > left.entries;
		};
		// Some file systems count it as free some moments later.
		for (const ms of settlingMs) {
			if (await hasHelped()) return true;
			await wait(ms);
		}
		return hasHelped();
	}

	#isFreeing(rootId: string | undefined): boolean {
		return rootId !== undefined && (this.#freeing.get(rootId) ?? 0) > 0;
	}

	#onFreeing(rootId: string, freed: Promise<void>): void {
		const add = (count: number) => this.#freeing.set(rootId, (this.#freeing.get(rootId) ?? 0) + count);
		add(1);
		void freed.finally(() => add(-1));
	}

	async #rest(selection: GivingWay): Promise<void> {
		const key = JSON.stringify(selection);
		this.#restsUntil.set(key, this.#parts.monotonic() + restMs);
		// A full disk may have no room for that either.
		await this.#parts.inVain.set(key, true, restMs).catch((error: unknown) => warnOfTrash(this.#parts, error));
		this.#parts.log.warn(
			selection,
			'items of the trash gave way, and there is no more room than before (snapshots or copies may hold it): nothing more does for some minutes',
		);
	}

	/** An item has left the trash in another way. */
	onLeft(id: string): void {
		this.#room.forget();
		this.#removeCopies([id]);
	}

	/** Removes what is being purged. A root that is away keeps its items until it is back. */
	removePurged(): Promise<void> {
		this.#room.forget();
		return this.#freeSpace();
	}

	#freeSpace(): Promise<void> {
		// One after another: what is marked while one runs may be missed by it.
		this.#removing = this.#removing
			.then(() => this.#removePurged())
			.catch((error: unknown) => warnOfTrash(this.#parts, error));
		return this.#removing;
	}

	async #removePurged(): Promise<void> {
		const { store, now, onPurged, onChanged } = this.#parts;
		// Those that could not be removed, such as on a root that is away: they hold up no others. There may be any number of them.
		let hasWarned = false;
		for (let skip = 0; ; ) {
			const records = await store.inState('purging', { limit: trashBatch, skip });
			const removed: string[] = [];
			let ended = 0;
			for (const record of records) {
				try {
					// What has been restored since it was chosen takes its versions with it.
					const wasHere = await this.#removeItem(record);
					if (wasHere) {
						if (record.kind === 'item') ended += await this.#endVersions(record);
						onPurged(record);
					}
					if (record.kind === 'item') onChanged(record.ownerId);
					// What is still on its way has its row until it has arrived: nothing else would ever find it.
					if (wasHere || record.deletedAt < now() - lostMs) removed.push(record.id);
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

	/** Resolves to false if it is in no trash. */
	async #removeItem(record: TrashRecord): Promise<boolean> {
		const located = await locateTrashed(this.#parts, record);
		if (located === undefined) return false;
		const { storage } = located.mount;
		const onFreeing = (freed: Promise<void>) => this.#onFreeing(storage.rootId, freed);
		const removing = storage.remove(located.path, { onFreeing }).then(() => true);
		return (await undefinedIf(removing, 'notFound')) === true;
	}

	/** The versions of files that were in the trash, or in a folder there, go with them. */
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
}

/** Marks what is chosen as `purging`. Yields how many each time. */
async function* markPurging(parts: TrashParts, { ids, ...selection }: TrashSelection): AsyncGenerator<number> {
	if (ids !== undefined) return yield await parts.store.beginPurging({ ...selection, ids });
	for await (const page of chosenPages(parts, selection))
		yield await parts.store.beginPurging({ ids: page.map(({ id }) => id) });
}

/**
 * What is chosen to be purged, in small parts between which others have their turn, without what gets into the trash meanwhile. The
 * caller marks each part before it asks for the next.
 */
async function* chosenPages({ store, now }: TrashParts, selection: TrashSelection): AsyncGenerator<TrashRecord[]> {
	const begun = now();
	const yielder = new Yielder();
	for (let after: TrashRecord | undefined; ; ) {
		const page = { order: 'oldest', limit: trashBatch, ...(after === undefined ? {} : { after }) } as const;
		const found = await store.list({ ...selection, ...page });
		// One from a time to come was deleted before the clock was corrected.
		const meant = found.filter(({ deletedAt }) => deletedAt <= begun || deletedAt > now());
		if (meant.length > 0) yield meant;
		after = found.at(-1);
		if (found.length < trashBatch) return;
		if (yielder.shouldYield) await yielder.yield();
	}
}

function byOwner(records: readonly TrashRecord[]): Map<string, TrashRecord[]> {
	const owners = new Map<string, TrashRecord[]>();
	for (const record of records) addTo(owners, record.ownerId, record);
	return owners;
}
