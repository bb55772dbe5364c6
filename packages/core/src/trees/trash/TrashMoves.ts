import { randomBytes } from 'node:crypto';
import type { StorageItem, TrashedItem, TrashRecord } from '@stowage/plugin-api';
import { isFailure, joinPath, type StoragePath } from '@stowage/rules';
import { identityOf } from '../identity.js';
import { isTrashed, locateTrashed } from './locateTrashed.js';
import { PendingRecords } from './recording/PendingRecords.js';
import { UnrecordedItems, type WithoutRows } from './recording/UnrecordedItems.js';
import { unrecordedName } from './recording/unrecordedNames.js';
import { assertRoomForRow, type TrashParts, warnOfTrash } from './trashParts.js';
import { trashedPath, unrecordedFolder } from './trashPaths.js';
import { finishVersion, itemAt } from './versions/finishVersion.js';
import { type NewVersion, VersionRow } from './versions/VersionRow.js';

/** What is known of an item before it is in the trash. Its size is that of what has arrived there. */
export type NewItem = Omit<TrashedItem, 'id' | 'kind' | 'deletedAt' | 'state' | 'size'>;

/** An item that was put into the trash. */
export interface Kept {
	id: string;
	/** Where it has arrived; it may have its own name there by now (`trashedPath`). */
	path: StoragePath;
	item: StorageItem;
}

interface Listeners {
	/** Called with each item that is there and has a row. */
	onAdded(record: TrashRecord): void;
	/** Called when one has been taken out. */
	onLeft(id: string): void;
}

/**
 * Moves items into the trash and out of it, each by one rename, and keeps the rows that say what they were. What is
 * deleted gets a name there that says the same, and its row a moment later (`UnrecordedItems`). Where no name can say
 * it, the row is written before the item is moved; it is removed after the item has left. Whatever is interrupted, the
 * item is at its path or in the trash, and the row, `moving` or `leaving` until then, is completed by what the disk says.
 */
export class TrashMoves {
	readonly #parts: TrashParts;
	readonly #listeners: Listeners;
	readonly #unrecorded: UnrecordedItems;
	readonly #pendingRecords: PendingRecords;

	constructor(parts: TrashParts, listeners: Listeners) {
		this.#parts = parts;
		this.#listeners = listeners;
		this.#unrecorded = new UnrecordedItems(parts, (record) => listeners.onAdded(record));
		this.#pendingRecords = new PendingRecords(parts);
	}

	/**
	 * Puts an item into the trash by `move`, which gets its id and the path to move it to, and resolves to what it has moved. Throws
	 * `storageFull`, with nothing moved, where its row would take the last room of the database, unless it is to be removed for good: that
	 * makes room.
	 */
	async keep(
		kept: NewItem,
		move: (id: string, path: StoragePath) => Promise<StorageItem>,
		{ isForGood = false }: { isForGood?: boolean } = {},
	): Promise<Kept> {
		const { store, onChanged, now } = this.#parts;
		const id = newId();
		const record = { ...kept, id, kind: 'item', size: undefined, deletedAt: now(), state: 'moving' } as const;
		const { ownerId } = record;
		const name = unrecordedName(record);
		if (name !== undefined) {
			try {
				const path = joinPath(unrecordedFolder, name);
				const item = await move(id, path);
				onChanged(ownerId);
				return { id, path, item };
			} catch (error) {
				// A file system that has no names of that length.
				if (!isFailure(error, 'invalidName')) throw error;
			} finally {
				// Also after an error: only its sync may have failed.
				this.#unrecorded.schedule();
			}
		}
		const path = trashedPath(id);
		if (!isForGood) await assertRoomForRow(this.#parts, record);
		await store.add(record);
		let item: StorageItem;
		try {
			item = await move(id, path);
		} catch (error) {
			await this.#forgetUnlessHere(record, 'moving', error);
			throw error;
		}
		this.#arrived(await this.#asFound(record, item));
		onChanged(ownerId);
		return { id, path, item };
	}

	/**
	 * Keeps a former content by `replace`, which gets the path to keep it at, and calls `begin` before it is exchanged: once the new content
	 * is there, which may take hours. A row that is written earlier counts a content that may never be replaced. Resolves to what `replace`
	 * does.
	 */
	async keepVersion<T>(
		version: NewVersion,
		replace: (path: StoragePath, begin: () => Promise<void>) => Promise<T>,
	): Promise<T> {
		const row = new VersionRow(this.#parts, newId(), version);
		let result: T;
		try {
			result = await replace(trashedPath(row.id), () => row.add());
		} catch (error) {
			if (row.record !== undefined) await this.#forgetUnlessHere(row.record, 'moving', error);
			throw error;
		}
		// Without a row nothing was replaced: the new content was there from an interrupted call.
		if (row.record !== undefined) this.#arrived(row.record);
		return result;
	}

	#arrived(record: TrashRecord): void {
		this.#pendingRecords.add(record);
		this.#listeners.onAdded(record);
	}

	/** The record of what was in fact moved: something else may have got the path after the record was made. */
	async #asFound(record: TrashedItem, { type, size: bytes }: StorageItem): Promise<TrashedItem> {
		if (type !== record.type)
			await this.#parts.store.setType(record.id, type).catch((error: unknown) => warnOfTrash(this.#parts, error));
		return { ...record, type, size: type === 'file' ? { bytes, entries: 1 } : undefined };
	}

	/** Resolves once all that this process or another one has deleted has its row, to what could get none. */
	recordAll(): Promise<WithoutRows[]> {
		return this.#unrecorded.record();
	}

	/** Records what `recordAll` does, but only logs a failure: for callers to whom the items with rows are enough. */
	recordIfPossible(): Promise<void> {
		return this.#unrecorded.recordIfPossible();
	}

	/** Takes an item, of that user if one is given, out of the trash by `move`. Resolves to undefined if there is none, also since then. */
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

	/** Takes an item that `isMeant` out of the trash by `move`. Resolves to undefined if there is none. */
	async take<T>(
		id: string,
		isMeant: (record: TrashRecord) => boolean,
		move: (record: TrashRecord) => Promise<T>,
	): Promise<T | undefined> {
		const { store } = this.#parts;
		const without = await this.#unrecorded.record();
		const record = await store.get(id);
		// It is not gone.
		if (record === undefined) throwIfWithout(without, (each) => each.id === id);
		if (record === undefined || !isMeant(record)) return undefined;
		if (!(await store.beginLeaving(id))) return undefined;
		this.#pendingRecords.cancel(id);
		try {
			const result = await move(record);
			// Without its row it would only be listed until a sweep finds that it has left.
			await store.remove([id]).catch((error: unknown) => warnOfTrash(this.#parts, error));
			this.#listeners.onLeft(id);
			if (record.kind === 'item') this.#parts.onChanged(record.ownerId);
			return result;
		} catch (error) {
			const isHere = await this.#forgetUnlessHere(record, 'leaving', error);
			// Removed for good since its row was read: what says so would name a file of the trash.
			if (isHere === false && isFailure(error, 'notFound')) return undefined;
			throw error;
		}
	}

	/** Whether an item is there. */
	async isHere(record: TrashRecord): Promise<boolean> {
		return record.state === 'kept' || this.#pendingRecords.has(record.id) || isTrashed(this.#parts, record);
	}

	/** Writes what waits. */
	async close(): Promise<void> {
		await this.#unrecorded.close();
		await this.#pendingRecords.close();
	}

	/**
	 * Removes the row of an item after a failure, unless the item is in the trash. Resolves to whether it is there, and
	 * to undefined where that can't be said.
	 */
	async #forgetUnlessHere(
		record: TrashRecord,
		state: 'moving' | 'leaving',
		error: unknown,
	): Promise<boolean | undefined> {
		const { store } = this.#parts;
		try {
			const isHere = (await locateTrashed(this.#parts, record)) !== undefined;
			// A faulty disk may still hold a replaced file back, until its root is opened again.
			const mayAppear = record.kind === 'version' && !isRefusal(error);
			if (isHere) {
				if (record.kind === 'version') await finishVersion(this.#parts, record);
				await store.settle([record.id], state);
			} else if (!mayAppear || (await this.#isStillThere(record))) await store.remove([record.id]);
			return isHere;
		} catch (cause) {
			// A sweep does it.
			warnOfTrash(this.#parts, cause);
			return undefined;
		}
	}

	/** Whether the file that was to be replaced has its path: then nothing of it is held back. */
	async #isStillThere(record: TrashRecord): Promise<boolean> {
		if (record.kind !== 'version') return false;
		const item = await itemAt(this.#parts, record.ownerId, record.path);
		return item !== undefined && identityOf(item) === record.replacedId;
	}
}

function newId(): string {
	return randomBytes(16).toString('hex');
}

/** Throws why one of these has no row. Where it is not known which have none, it may be one of them. */
export function throwIfWithout(without: readonly WithoutRows[], isMeant: (record: TrashedItem) => boolean): void {
	for (const { error, records } of without) if (records === undefined || records.some(isMeant)) throw error;
}

/** Whether nothing has changed after this error. */
function isRefusal(error: unknown): boolean {
	return isFailure(error) && error.kind !== 'unavailable' && error.kind !== 'storageFull';
}
