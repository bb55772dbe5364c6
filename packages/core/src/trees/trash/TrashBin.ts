import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
	type FileVersion,
	type TrashedItem,
	type TrashRecord,
	type TrashSelection,
	type TrashSize,
	Yielder,
} from '@stowage/plugin-api';
import { isFailure, joinPath, type StoragePath } from '@stowage/rules';
import type { Mount } from '../Mounts.js';
import { ArrivingItems } from './ArrivingItems.js';
import { arrivalName } from './arrivalNames.js';
import { bringAllTrash, bringTrashed } from './bringTrash.js';
import { finishVersion } from './finishVersion.js';
import { isTrashed, locateTrashed } from './locateTrashed.js';
import { ClockJumps, completeTrash } from './sweepTrash.js';
import { TrashArrivals } from './TrashArrivals.js';
import { TrashPurge } from './TrashPurge.js';
import { TrashSizes } from './TrashSizes.js';
import { type TrashParts, trashBatch, warnOfTrash } from './trashParts.js';
import { arrivalFolder, trashedPath } from './trashPaths.js';

type Arriving<Kept extends TrashRecord> = Omit<Kept, 'id' | 'deletedAt' | 'state'>;

/** How long a list waits for the sizes of folders that are being measured. */
const sizesMs = 2_000;

/**
 * The trash of all roots. An item gets there and back by one rename, and a row says what it was. What is deleted
 * arrives under a name that says the same, and gets its row by and by (`ArrivingItems`). Where no name can say it, the
 * row is written before the item arrives; it is removed after the item has left. Whatever is interrupted, the item is
 * at its path or in the trash, and the row, `moving` until then, is completed by what the disk says.
 */
export class TrashBin {
	readonly #parts: TrashParts;
	readonly #arriving: ArrivingItems;
	readonly #arrivals: TrashArrivals;
	readonly #sizes: TrashSizes;
	readonly #purge: TrashPurge;
	readonly #clock: ClockJumps;

	constructor(parts: TrashParts) {
		this.#parts = parts;
		this.#arriving = new ArrivingItems(parts, (record) => this.#hasArrived(record));
		this.#arrivals = new TrashArrivals(parts);
		this.#sizes = new TrashSizes(parts);
		this.#purge = new TrashPurge(parts, this.#sizes);
		this.#clock = new ClockJumps(parts);
	}

	/** Whether what is deleted is kept at all. */
	get isOn(): boolean {
		return this.keepFor > 0;
	}

	/** Milliseconds. */
	get keepFor(): number {
		return this.#parts.config.trash.keepFor;
	}

	/** Puts an item into the trash by `move`, which gets its id and the path to move it to. Resolves to what that does. */
	async keep<T>(
		kept: Arriving<TrashedItem> | Arriving<FileVersion>,
		move: (id: string, path: StoragePath) => Promise<T>,
	): Promise<T> {
		const { store, now } = this.#parts;
		const id = randomBytes(16).toString('hex');
		const record: TrashRecord = { ...kept, id, deletedAt: now(), state: 'moving' };
		const name = record.kind === 'item' ? arrivalName(record) : undefined;
		if (name !== undefined) {
			try {
				const result = await move(id, joinPath(arrivalFolder, name));
				this.#parts.onChanged(record.ownerId);
				return result;
			} catch (error) {
				// A file system that has no names of that length.
				if (!isFailure(error, 'invalidName')) throw error;
			} finally {
				// Also after an error: only its sync may have failed.
				this.#arriving.schedule();
			}
		}
		await store.add(record);
		let result: T;
		try {
			result = await move(id, trashedPath(id));
		} catch (error) {
			await this.#forgetUnlessHere(record, error);
			throw error;
		}
		this.#arrivals.add(record);
		this.#hasArrived(record);
		if (record.kind === 'item') this.#parts.onChanged(record.ownerId);
		return result;
	}

	/**
	 * Resolves once what this process or another one has just deleted is among the rows, if the database has room: for
	 * who reads those without this class.
	 */
	async recordArrived(): Promise<void> {
		await this.#arriving.record().catch((error: unknown) => warnOfTrash(this.#parts, error));
	}

	/** Takes an item, of that user if one is given, out of the trash by `move`. Resolves to undefined if there is none. */
	takeOut<T>(
		id: string,
		ownerId: string | undefined,
		move: (record: TrashedItem) => Promise<T>,
	): Promise<T | undefined> {
		const isItem = (record: TrashRecord) =>
			record.kind === 'item' && (ownerId === undefined || record.ownerId === ownerId);
		return this.take(
			id,
			(record) => isItem(record),
			(record) => move(record as TrashedItem),
		);
	}

	/** The same for any that `isMeant`. */
	async take<T>(
		id: string,
		isMeant: (record: TrashRecord) => boolean,
		move: (record: TrashRecord) => Promise<T>,
	): Promise<T | undefined> {
		const { store } = this.#parts;
		await this.#arriving.record();
		const record = await store.get(id);
		if (record === undefined || !isMeant(record)) return undefined;
		await this.#arrivals.takeBack(id);
		if (!(await store.beginMoving(id))) return undefined;
		try {
			const result = await move(record);
			this.#purge.onLeft();
			// Without its row it would only be listed until a sweep finds that it has left.
			await store.remove([id]).catch((error: unknown) => warnOfTrash(this.#parts, error));
			if (record.kind === 'item') this.#parts.onChanged(record.ownerId);
			return result;
		} catch (error) {
			await this.#forgetUnlessHere(record, error);
			throw error;
		}
	}

	/** Whether an item has arrived. */
	async isHere(record: TrashRecord): Promise<boolean> {
		return record.state === 'kept' || this.#arrivals.has(record.id) || isTrashed(this.#parts, record);
	}

	/**
	 * The newest deleted items of a user that are there, with their sizes where those are found in time, and the bytes
	 * of all that are measured by then. Of what is measured later the user's pages are notified. Beyond this many letters of paths
	 * no more are read; `isAll` says whether there are more.
	 */
	async list(
		ownerId: string,
		limit: number,
		maxLetters = Number.POSITIVE_INFINITY,
	): Promise<{ items: TrashedItem[]; bytes: number; isAll: boolean }> {
		await this.recordArrived();
		const records: TrashedItem[] = [];
		const yielder = new Yielder();
		let letters = 0;
		let isAll = false;
		while (records.length < limit && letters <= maxLetters) {
			const page = {
				order: 'newest',
				limit: Math.min(trashBatch, limit - records.length),
				after: records.at(-1),
			} as const;
			const found = await this.#parts.store.list({ ...page, ownerId, kind: 'item' });
			records.push(...found);
			for (const { path } of found) letters += path.length;
			isAll = found.length < page.limit;
			if (isAll) break;
			if (yielder.shouldYield) await yielder.yield();
		}
		const here = await Promise.all(records.map((record) => this.isHere(record)));
		const late = wait(sizesMs, undefined, { ref: false });
		const items = await Promise.all(
			records.filter((_, n) => here[n]).map(async (record) => ({ ...record, size: await this.#sizeBy(late, record) })),
		);
		const { bytes } = await this.#parts.store.totals({ kind: 'item', ownerId });
		return { items, bytes, isAll };
	}

	async #sizeBy(late: Promise<undefined>, record: TrashedItem): Promise<TrashSize | undefined> {
		if (record.size !== undefined) return record.size;
		const measuring = this.#sizes.of(record);
		const size = await Promise.race([measuring, late]);
		if (size === undefined)
			void measuring.then((measured) => measured !== undefined && this.#parts.onChanged(record.ownerId));
		return size;
	}

	/** What is in the trash, with versions unless one kind is chosen; folders that are not measured yet are, unless that fails. */
	async totals(selection: TrashSelection): Promise<TrashSize> {
		await this.recordArrived();
		return this.#sizes.totals(selection);
	}

	/** Gone for everybody once it resolves; the space is freed by and by. Resolves to how many. */
	async purge(selection: TrashSelection): Promise<number> {
		await this.#arriving.record();
		return this.#purge.purge(selection);
	}

	/** Resolves once the space of what was purged before is free, except on roots that are away. */
	removePurged(): Promise<void> {
		return this.#purge.removePurged();
	}

	/**
	 * Whether so much could give way; nothing does. For what is announced: an announcement costs its client nothing, and
	 * what gives way is gone.
	 */
	async canGiveWay(selection: Pick<TrashSelection, 'ownerId' | 'rootId'>, lack: TrashSize): Promise<boolean> {
		await this.recordArrived();
		return this.#purge.canGiveWay(selection, lack);
	}

	/** For what is written now. Purges the oldest until this much is free again, if there is so much; resolves to whether it is. */
	async giveWay(selection: Pick<TrashSelection, 'ownerId' | 'rootId'>, lack: TrashSize): Promise<boolean> {
		await this.recordArrived();
		return this.#purge.giveWay(selection, lack);
	}

	/** Moves an item to the trash of the root on which its home lies now. Throws `notFound`. */
	bring(record: TrashRecord, target: Mount): Promise<void> {
		return bringTrashed(this.#parts, record, target);
	}

	/** The same for all of a user's items. */
	async bringAll(ownerId: string, target: Mount, signal: AbortSignal): Promise<void> {
		await this.#arriving.record();
		return bringAllTrash(this.#parts, ownerId, target, signal);
	}

	/** Removes what is older than it is kept, and completes what was interrupted. */
	async sweep(): Promise<void> {
		const { now, config, onEnded } = this.#parts;
		await this.recordArrived();
		if (this.#clock.isTrusted()) {
			const keepFor = { item: this.keepFor, version: config.versions.keepFor };
			for (const kind of ['item', 'version'] as const) {
				const expired = await this.#purge.mark({ kind, deletedUntil: now() - keepFor[kind] });
				if (expired > 0) onEnded(kind, expired, 'expired');
			}
		}
		await this.removePurged();
		await completeTrash(this.#parts);
	}

	/** Writes what waits. */
	async close(): Promise<void> {
		await this.#arriving.close();
		await this.#arrivals.close();
		await this.removePurged();
	}

	#hasArrived(record: TrashRecord): void {
		void this.#purge.limit(record.ownerId, record.kind);
		if (record.size === undefined) void this.#sizes.of(record);
	}

	/** After a failure: the row of an item that is not in the trash is of no use. */
	async #forgetUnlessHere(record: TrashRecord, error: unknown): Promise<void> {
		const { store } = this.#parts;
		try {
			const isHere = (await locateTrashed(this.#parts, record)) !== undefined;
			// A faulty disk may still hold a replaced file back, until its root is opened again.
			const mayArrive = record.kind === 'version' && !isRefusal(error);
			if (isHere) {
				if (record.kind === 'version') await finishVersion(this.#parts, record);
				await store.settle([record.id]);
			} else if (!mayArrive) await store.remove([record.id]);
		} catch (cause) {
			// A sweep does it.
			warnOfTrash(this.#parts, cause);
		}
	}
}

/** Whether nothing has changed after this error. */
function isRefusal(error: unknown): boolean {
	return isFailure(error) && error.kind !== 'unavailable' && error.kind !== 'storageFull';
}
