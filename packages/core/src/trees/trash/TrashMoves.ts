import { randomBytes } from 'node:crypto';
import type { StorageItem, TrashedItem, TrashRecord } from '@stowage/plugin-api';
import { isFailure, joinPath, type StoragePath } from '@stowage/rules';
import { currentNetwork } from '../../limits/currentNetwork.js';
import type { MemberAllowance } from './limits/MemberAllowance.js';
import { type NewReplaced, ReplacedRow } from './ReplacedRow.js';
import type { PendingRecords } from './recording/PendingRecords.js';
import { throwIfWithout, type UnrecordedItems } from './recording/UnrecordedItems.js';
import { unrecordedName } from './recording/unrecordedNames.js';
import { settleFailedMove } from './settleFailedMove.js';
import { assertRoomForRow, type NewContent, type TrashParts, warnOfTrash } from './trashParts.js';
import { trashedPath, unrecordedFolder } from './trashPaths.js';

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
	/** Called with each item that is there and has a row, and the network from which it was put there. */
	onAdded(record: TrashRecord, network: string): void;
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
	readonly #unrecorded: UnrecordedItems;
	readonly #pendingRecords: PendingRecords;
	readonly #allowance: Pick<MemberAllowance, 'assertRoom'>;
	readonly #listeners: Listeners;

	constructor(
		parts: TrashParts,
		unrecorded: UnrecordedItems,
		pendingRecords: PendingRecords,
		allowance: Pick<MemberAllowance, 'assertRoom'>,
		listeners: Listeners,
	) {
		this.#parts = parts;
		this.#unrecorded = unrecorded;
		this.#pendingRecords = pendingRecords;
		this.#allowance = allowance;
		this.#listeners = listeners;
	}

	/**
	 * Puts an item into the trash by `move`, which gets its id and the path to move it to, and resolves to what it has moved. Throws
	 * `storageFull`, with nothing moved, where a member of a folder has put in as much as they may, or where its row would take the last room
	 * of the database, unless it is to be removed for good: that makes room.
	 */
	async keep(
		kept: NewItem,
		move: (id: string, path: StoragePath) => Promise<StorageItem>,
		{ isForGood = false }: { isForGood?: boolean } = {},
	): Promise<Kept> {
		const { store, onChanged, now } = this.#parts;
		if (!isForGood) await this.#allowance.assertRoom({ ...kept, kind: 'item' });
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
				this.#unrecorded.schedule(id);
			}
		}
		const path = trashedPath(id);
		if (!isForGood) await assertRoomForRow(this.#parts, record);
		await store.add(record);
		let item: StorageItem;
		try {
			item = await move(id, path);
		} catch (error) {
			await settleFailedMove(this.#parts, record, 'moving', error);
			throw error;
		}
		this.#arrived(await this.#asFound(record, item));
		onChanged(ownerId);
		return { id, path, item };
	}

	/**
	 * Keeps a file that is replaced, whose identity is `replacedId`. `replace` gets the path to keep it at, and calls `begin` right before
	 * the exchange: once the new content is there, which may take hours. A row that is written earlier counts a content that may never be
	 * replaced, and is purged with what its owner removes meanwhile. Resolves to what `replace` does. `begin` throws `storageFull` where the
	 * database has no room for it. So does this itself where a member has put in as much as they may, unless the new content is a version,
	 * which leaves the trash.
	 */
	async keepReplaced<T>(
		replaced: NewReplaced,
		replacedId: string,
		replace: (path: StoragePath, begin: () => Promise<void>) => Promise<T>,
		content: NewContent,
	): Promise<T> {
		if (content.kind !== 'restored') await this.#allowance.assertRoom(replaced, { by: 'replace' });
		const row = new ReplacedRow(this.#parts, newId(), replaced);
		let result: T;
		try {
			result = await replace(trashedPath(row.id), () => row.add());
		} catch (error) {
			if (row.record !== undefined) await settleFailedMove(this.#parts, row.record, 'moving', error, replacedId);
			throw error;
		}
		// Without a row nothing was replaced: the new content was there from an interrupted call.
		if (row.record === undefined) return result;
		this.#arrived(row.record);
		if (replaced.kind === 'item') this.#parts.onChanged(replaced.ownerId);
		return result;
	}

	#arrived(record: TrashRecord): void {
		this.#pendingRecords.add(record);
		this.#listeners.onAdded(record, currentNetwork());
	}

	/** The record of what was in fact moved: something else may have got the path after the record was made. */
	async #asFound(record: TrashedItem, { type, size: bytes }: StorageItem): Promise<TrashedItem> {
		if (type !== record.type)
			await this.#parts.store.setType(record.id, type).catch((error: unknown) => warnOfTrash(this.#parts, error));
		return { ...record, type, size: type === 'file' ? { bytes, entries: 1 } : undefined };
	}

	/** Takes an item, of that user if one is given, out of the trash by `move`. Resolves to undefined if there is none, also since then. */
	takeOut<T>(
		id: string,
		ownerId: string | undefined,
		move: (record: TrashedItem) => Promise<T>,
	): Promise<T | undefined> {
		const isMeant = (record: TrashRecord) =>
			record.kind === 'item' && (ownerId === undefined || record.ownerId === ownerId);
		return this.take(id, isMeant, (record) => move(record as TrashedItem));
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
			const isHere = await settleFailedMove(this.#parts, record, 'leaving', error);
			// Removed for good since its row was read: what says so would name a file of the trash.
			if (isHere === false && isFailure(error, 'notFound')) return undefined;
			throw error;
		}
	}
}

function newId(): string {
	return randomBytes(16).toString('hex');
}
