import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
	type StorageItem,
	type TrashRecord,
	type TrashSelection,
	type TrashSize,
	type TrashStore,
	trashFolder,
} from '@stowage/plugin-api';
import { Failure, isFailure, undefinedIf } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import { Counts } from '../../limits/Counts.js';
import { FairQueue } from '../../limits/FairQueue.js';
import { createKeyedMutex } from '../../limits/keyedMutex.js';
import type { Log } from '../../log.js';
import { measureTree } from '../../quotas/measureTree.js';
import { copyAcross } from '../copyAcross.js';
import type { MountedStorage } from '../MountedStorage.js';
import { type ItemStorage, ignoreMissing, type Mount } from '../Mounts.js';
import { trashContents, writeNotes } from './TrashNotes.js';
import { trashedPath } from './trashPaths.js';

/** An item of which it is not known yet whether it has arrived is looked for again after this time, and forgotten after that one. */
const movingMs = 60_000;
const dayMs = 24 * 60 * 60_000;
const lostMs = dayMs;

/** A suspended machine, whose monotonic clock stands still, is one whose clock was set as well. */
const maxJumpMs = 60 * 60_000;

/** How long an item that has arrived waits for others, so that one statement records many. */
const settleMs = 200;

/** Items that are handled together. */
const batchSize = 200;

/** Files of notes that there may be for no reason, and how many notes each of the others has at least. */
const maxNoteFiles = 50;
const notesOfFile = 1_000;

/** Items of one user that are kept at most, and how many new ones there may be before they are counted again. */
export const trashLimits = { items: 100_000, uncounted: 1_000 };

/** How long a list waits for the sizes of folders that are being measured. */
const sizesMs = 2_000;

type Kept = Omit<TrashRecord, 'id' | 'deletedAt' | 'state'>;

interface Dependencies {
	store: TrashStore;
	/** Throws until it is open. */
	storage(): MountedStorage;
	config: Pick<Config, 'trash'>;
	/** Called with each item whose space is free again. */
	onPurged(record: TrashRecord): void;
	/** Called with each item that was copied from the trash of one root to that of another one, before the first one is removed. */
	onBrought(record: TrashRecord, from: Mount, to: Mount): Promise<void>;
	log: Log;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** Where an item of the trash was found. */
interface Located {
	mount: Mount;
	item: StorageItem;
}

/**
 * The trash of all roots. An item gets there and back by one rename, and a row says what it was. The row is written before the item arrives and removed after it has left: whatever is
 * interrupted, the item is at its path or in the trash, and the row, `moving` until then, is completed by what the disk says.
 */
export class TrashBin {
	readonly #dependencies: Dependencies;
	readonly #alone = createKeyedMutex();
	/** Items that have arrived, and whose rows do not say so yet. */
	readonly #arrived = new Map<string, TrashRecord>();
	readonly #measuring = new Map<string, Promise<TrashSize | undefined>>();
	readonly #walks = new FairQueue(
		{ running: 2, runningPerClient: 1, waiting: 10_000, waitingPerClient: 1_000 },
		'Too many folders are being measured. Please try again in a moment.',
	);
	/** How many items each user has put in since their number was last read. */
	readonly #keptOf = new Counts();
	/** When both clocks were last in step, and until when the monotonic one keeps all that would expire. */
	#inStep: { now: number; monotonic: number };
	#keepsAllUntil = Number.NEGATIVE_INFINITY;
	#settling: NodeJS.Timeout | undefined;
	#purging: Promise<void> | undefined;

	constructor(
		dependencies: Dependencies,
		readonly limits = trashLimits,
	) {
		this.#dependencies = dependencies;
		this.#inStep = { now: dependencies.now(), monotonic: dependencies.monotonic() };
	}

	/** Whether what is deleted is kept at all. */
	get isOn(): boolean {
		return this.keepFor > 0;
	}

	/** Milliseconds. */
	get keepFor(): number {
		return this.#dependencies.config.trash.keepFor;
	}

	/** Puts an item into the trash by `move`, which gets its id, and resolves to that. */
	async keep(kept: Kept, move: (id: string) => Promise<unknown>): Promise<string> {
		const { store, now } = this.#dependencies;
		const record: TrashRecord = {
			...kept,
			id: randomBytes(16).toString('hex'),
			deletedAt: now(),
			state: 'moving',
		};
		await store.add(record);
		try {
			await move(record.id);
		} catch (error) {
			await this.#forgetUnlessHere(record);
			throw error;
		}
		this.#arrived.set(record.id, record);
		void this.#limit(record.ownerId);
		this.#settling ??= setTimeout(() => void this.#settle(), settleMs).unref();
		if (record.size === undefined) void this.#sizeOf(record);
		return record.id;
	}

	/** Takes an item, of that user if one is given, out of the trash by `move`, which gets its record. Resolves to undefined if there is none. */
	async takeOut<T>(
		id: string,
		ownerId: string | undefined,
		move: (record: TrashRecord) => Promise<T>,
	): Promise<T | undefined> {
		const { store } = this.#dependencies;
		const record = await store.get(id);
		if (record === undefined || (ownerId !== undefined && record.ownerId !== ownerId)) return undefined;
		if (!(await store.beginMoving(id))) return undefined;
		try {
			const result = await move(record);
			this.#arrived.delete(id);
			// Without its row it would only be listed until a sweep finds that it has left.
			await store.remove([id]).catch((error: unknown) => this.#warn(error));
			return result;
		} catch (error) {
			await this.#forgetUnlessHere(record);
			throw error;
		}
	}

	/** The newest items of a user that are there, with their sizes where those are found in time. */
	async list(ownerId: string, limit: number): Promise<TrashRecord[]> {
		const records = await this.#dependencies.store.list({ order: 'newest', limit, ownerId });
		const there = await Promise.all(
			records.map(async (record) => record.state === 'kept' || this.#arrived.has(record.id) || this.#isHere(record)),
		);
		const found = records.filter((_, n) => there[n]);
		const late = wait(sizesMs, undefined, { ref: false });
		return Promise.all(
			found.map(async (record) => {
				if (record.size !== undefined) return record;
				const size = await Promise.race([this.#sizeOf(record), late]);
				return size === undefined ? record : { ...record, size };
			}),
		);
	}

	/** What is in the trash; folders that are not measured yet are, unless that fails. */
	async totals(selection: TrashSelection): Promise<TrashSize> {
		const { store } = this.#dependencies;
		const known = await store.totals(selection);
		if (known.unmeasured === 0) return known;
		for (let measured = 1; measured > 0; ) {
			measured = 0;
			const records = await store.list({ order: 'oldest', limit: batchSize, isUnmeasured: true, ...selection });
			for (const record of records) if ((await this.#sizeOf(record)) !== undefined) measured++;
		}
		return store.totals(selection);
	}

	/** Gone for everybody once it resolves; the space is freed by and by. Resolves to how many. */
	async purge(selection: TrashSelection): Promise<number> {
		const count = await this.#dependencies.store.beginPurging(selection);
		if (count > 0) void this.removePurged();
		return count;
	}

	/** Purges the oldest until this much is free again, if there is so much; resolves to whether it is. */
	giveWay(selection: Pick<TrashSelection, 'ownerId' | 'rootId'>, lack: TrashSize): Promise<boolean> {
		return this.#alone(JSON.stringify(selection), async () => {
			const { store } = this.#dependencies;
			const all = await this.totals(selection);
			if (all.bytes < lack.bytes || all.entries < lack.entries) return false;
			const freed: TrashSize = { bytes: 0, entries: 0 };
			while (freed.bytes < lack.bytes || freed.entries < lack.entries) {
				const ids: string[] = [];
				for (const { id, size } of await store.list({ order: 'oldest', limit: batchSize, ...selection })) {
					if (freed.bytes >= lack.bytes && freed.entries >= lack.entries) break;
					ids.push(id);
					freed.bytes += size?.bytes ?? 0;
					freed.entries += size?.entries ?? 0;
				}
				if (ids.length === 0) return false;
				await store.beginPurging({ ids });
			}
			await this.removePurged();
			return true;
		});
	}

	/** Removes what is being purged. A root that is away keeps its items until it is back. */
	removePurged(): Promise<void> {
		// What is marked while the last one runs may be missed by it.
		const before = this.#purging ?? Promise.resolve();
		const own = before.then(() => this.#removePurged()).catch((error: unknown) => this.#warn(error));
		this.#purging = own;
		return own;
	}

	/** Removes what is older than it is kept, and completes what was interrupted. */
	async sweep(): Promise<number> {
		const { store, now } = this.#dependencies;
		const expired = this.#isClockRight() ? await store.beginPurging({ deletedUntil: now() - this.keepFor }) : 0;
		await this.removePurged();
		for (const record of await store.unfinished(now() - movingMs, batchSize)) {
			if (record.state !== 'moving') continue;
			try {
				const located = await this.locate(record);
				if (located !== undefined) await store.settle([record.id]);
				else if (record.deletedAt < now() - lostMs) await store.remove([record.id]);
			} catch (error) {
				if (!isFailure(error, 'unavailable')) throw error;
			}
		}
		await this.#tidyNotes();
		return expired;
	}

	/** Where an item is in the trash: on the root that its row names, or on the one to which its home was just moved. Throws `unavailable`. */
	async locate({ id, rootId }: Pick<TrashRecord, 'id' | 'rootId'>): Promise<Located | undefined> {
		const { storage, store } = this.#dependencies;
		const mounts = storage().mounts();
		const isNamed = (mount: Mount) => mount.storage.rootId === rootId;
		let away: unknown;
		for (const mount of [...mounts.filter(isNamed), ...mounts.filter((each) => !isNamed(each))]) {
			try {
				const item = await undefinedIf(mount.storage.stat(trashedPath(id)), 'notFound');
				if (item === undefined) continue;
				if (!isNamed(mount)) await store.setRoot(id, mount.storage.rootId);
				return { mount, item };
			} catch (error) {
				if (!isFailure(error, 'unavailable')) throw error;
				away ??= error;
			}
		}
		if (away !== undefined) throw away;
		return undefined;
	}

	/** Moves an item to the trash of the root on which its home lies now. Throws `notFound` for one that is in no trash. */
	async bring(record: TrashRecord, target: Mount): Promise<void> {
		const located = await this.locate(record);
		if (located === undefined) throw new Failure('notFound', 'This is not in the trash any more.');
		if (located.mount.storage === target.storage) return;
		const path = trashedPath(record.id);
		const { store, onBrought } = this.#dependencies;
		const source = located.mount.storage;
		const copy = () => copyAcross(source, path, target.storage, path, {});
		try {
			await withTrashFolder(target.storage, copy);
		} catch (error) {
			// A copy is there whole or not at all: an earlier call was interrupted after it.
			if (!isFailure(error, 'alreadyExists')) throw error;
		}
		await onBrought(record, located.mount, target);
		await store.setRoot(record.id, target.storage.rootId);
		await source.remove(path).catch(ignoreMissing);
	}

	/** Moves all of a user's items to the trash of the root on which their home lies now. */
	async bringAll(ownerId: string, target: Mount, signal: AbortSignal): Promise<void> {
		const { store, storage } = this.#dependencies;
		for (const { storage: source } of storage().mounts()) {
			if (source.rootId === target.storage.rootId) continue;
			for (;;) {
				const records = await store.list({ order: 'oldest', limit: batchSize, ownerId, rootId: source.rootId });
				if (records.length === 0) break;
				for (const record of records) {
					signal.throwIfAborted();
					// Restored or removed meanwhile.
					await this.bring(record, target).catch(ignoreMissing);
					if ((await store.get(record.id))?.rootId === source.rootId && (await this.locate(record)) === undefined)
						await store.remove([record.id]);
				}
			}
		}
	}

	/** Writes what waits. */
	async close(): Promise<void> {
		clearTimeout(this.#settling);
		await this.#settle();
		await this.#purging;
	}

	async #settle(): Promise<void> {
		this.#settling = undefined;
		const { store } = this.#dependencies;
		const arrived = [...this.#arrived.values()];
		this.#arrived.clear();
		try {
			if (arrived.length === 0) return;
			const settled = await store.settle(arrived.map(({ id }) => id));
			await this.#note(arrived);
			if (settled === arrived.length) return;
			// Another process may have taken one for lost while this one was suspended.
			for (const record of arrived) {
				if ((await store.get(record.id)) === undefined && (await this.#isHere(record)))
					await store.add({ ...record, state: 'kept' });
			}
		} catch (error) {
			// A sweep does it.
			this.#warn(error);
		}
	}

	/** False for a day after the time of day was set: a wrong clock must not remove what shall be kept for weeks. */
	#isClockRight(): boolean {
		const { now, monotonic, log } = this.#dependencies;
		const { now: time, monotonic: at } = this.#inStep;
		this.#inStep = { now: now(), monotonic: monotonic() };
		const jump = this.#inStep.now - time - (this.#inStep.monotonic - at);
		if (Math.abs(jump) > maxJumpMs) {
			this.#keepsAllUntil = this.#inStep.monotonic + dayMs;
			log.warn({ jump }, 'the clock was set: nothing in the trash expires for a day');
		}
		return this.#inStep.monotonic >= this.#keepsAllUntil;
	}

	/** Writes beside the items what they are. */
	async #note(records: readonly TrashRecord[]): Promise<void> {
		for (const { storage } of this.#dependencies.storage().mounts()) {
			const here = records.filter(({ rootId }) => rootId === storage.rootId);
			if (here.length > 0) await writeNotes(storage, here);
		}
	}

	/** Replaces many small files of notes, and those of items that are gone, by a few that have all rows of the root. */
	async #tidyNotes(): Promise<void> {
		const { storage: mounted, store } = this.#dependencies;
		for (const { storage } of mounted().mounts()) {
			try {
				const { notes, ids } = await trashContents(storage);
				if (notes.length <= maxNoteFiles + (2 * ids.length) / notesOfFile) continue;
				for (let after: TrashRecord | undefined; ; ) {
					const records = await store.list({
						...({ order: 'oldest', limit: notesOfFile, rootId: storage.rootId } as const),
						after,
					});
					if (records.length > 0) await writeNotes(storage, records);
					after = records.at(-1);
					if (records.length < notesOfFile) break;
				}
				for (const path of notes) await storage.remove(path);
			} catch (error) {
				this.#warn(error);
			}
		}
	}

	/** After a failure: the row of an item that is not in the trash is of no use. */
	async #forgetUnlessHere(record: TrashRecord): Promise<void> {
		const { store } = this.#dependencies;
		try {
			if ((await this.locate(record)) === undefined) await store.remove([record.id]);
			else await store.settle([record.id]);
		} catch (error) {
			// A sweep does it.
			this.#warn(error);
		}
	}

	async #isHere(record: TrashRecord): Promise<boolean> {
		try {
			return (await this.locate(record)) !== undefined;
		} catch (error) {
			if (isFailure(error, 'unavailable')) return false;
			throw error;
		}
	}

	/** Each item is a row, so a user has no more than so many: the oldest go. */
	async #limit(ownerId: string): Promise<void> {
		this.#keptOf.add(ownerId, 1);
		const { items, uncounted } = this.limits;
		if (this.#keptOf.of(ownerId) < uncounted) return;
		this.#keptOf.add(ownerId, -uncounted);
		const { store } = this.#dependencies;
		try {
			for (let excess = (await store.count(ownerId)) - items; excess > 0; excess -= batchSize) {
				const oldest = await store.list({ order: 'oldest', limit: Math.min(excess, batchSize), ownerId });
				await this.purge({ ids: oldest.map(({ id }) => id) });
			}
		} catch (error) {
			this.#warn(error);
		}
	}

	/** Undefined where it could not be measured. */
	#sizeOf(record: TrashRecord): Promise<TrashSize | undefined> {
		const measuring = this.#measuring.get(record.id) ?? this.#measure(record);
		this.#measuring.set(record.id, measuring);
		return measuring;
	}

	async #measure(record: TrashRecord): Promise<TrashSize | undefined> {
		try {
			const located = await this.locate(record);
			if (located === undefined) return undefined;
			const { mount, item } = located;
			const measure = () => measureTree(mount.storage, trashedPath(record.id), async () => {});
			const inside = await this.#walks.run(record.ownerId, measure);
			const size = { bytes: inside.bytes + item.size, entries: inside.entries + 1 };
			await this.#dependencies.store.setSize(record.id, size);
			return size;
		} catch (error) {
			// Too many wait, or its root is away: it is measured when its size is wanted again.
			if (!isFailure(error)) this.#warn(error);
			return undefined;
		} finally {
			this.#measuring.delete(record.id);
		}
	}

	async #removePurged(): Promise<void> {
		const { store, onPurged } = this.#dependencies;
		for (;;) {
			// None is `moving` since before the epoch.
			const records = await store.unfinished(-1, batchSize);
			const removed: string[] = [];
			for (const record of records) {
				try {
					const located = await this.locate(record);
					await located?.mount.storage.remove(trashedPath(record.id)).catch(ignoreMissing);
					removed.push(record.id);
					onPurged(record);
				} catch (error) {
					this.#warn(error);
				}
			}
			await store.remove(removed);
			if (removed.length === 0 || records.length < batchSize) return;
		}
	}

	#warn(error: unknown): void {
		this.#dependencies.log.warn({ err: error }, 'the trash could not be completed: a later sweep does it');
	}
}

/** Runs a move into the trash of a root, whose folder is made if it is missing. */
export async function withTrashFolder<T>(
	storage: Pick<ItemStorage, 'makeDirectory'>,
	move: () => Promise<T>,
): Promise<T> {
	try {
		return await move();
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
		try {
			await storage.makeDirectory(trashFolder);
		} catch (cause) {
			// The folder is there, so it is the item that is missing.
			throw isFailure(cause, 'alreadyExists') ? error : cause;
		}
		return move();
	}
}
