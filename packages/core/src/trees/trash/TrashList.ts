import { setTimeout as wait } from 'node:timers/promises';
import { type TrashedItem, type TrashSize, type TrashStore, Yielder } from '@stowage/plugin-api';
import type { PendingRecords } from './recording/PendingRecords.js';
import type { TrashSizes } from './TrashSizes.js';
import { type TrashParts, trashBatch } from './trashParts.js';

/** How long a list waits for the sizes of folders that are being measured. */
const sizesMs = 2_000;

/** Items, the newest first. */
interface Page {
	records: TrashedItem[];
	/** Whether there are no more. */
	isAll: boolean;
}

type Chosen = Pick<Parameters<TrashStore['list']>[0], 'ownerId' | 'deletedBy' | 'after'>;

/** The lists that users see of their trash. */
export class TrashList {
	readonly #parts: TrashParts;
	readonly #pendingRecords: Pick<PendingRecords, 'isHere'>;
	readonly #sizes: Pick<TrashSizes, 'of'>;

	constructor(parts: TrashParts, pendingRecords: Pick<PendingRecords, 'isHere'>, sizes: Pick<TrashSizes, 'of'>) {
		this.#parts = parts;
		this.#pendingRecords = pendingRecords;
		this.#sizes = sizes;
	}

	/**
	 * The newest deleted items of a user that are there, with their sizes where those are found in time, and the bytes
	 * of all that are measured by then. Of what is measured later the user's pages are notified. Beyond this many characters of paths
	 * no more are read; `isAll` says whether there are more. Half of the room is for what the user has deleted: what members of their folders
	 * delete, of which there may be more than are listed, hides none of it.
	 */
	async of(
		ownerId: string,
		limit: number,
		maxCharacters = Number.POSITIVE_INFINITY,
	): Promise<{ items: TrashedItem[]; bytes: number; isAll: boolean }> {
		const { records, isAll } = await this.#newest(ownerId, limit, maxCharacters);
		const here = await Promise.all(records.map((record) => this.#pendingRecords.isHere(record)));
		const late = wait(sizesMs, undefined, { ref: false });
		const items = await Promise.all(
			records.filter((_, n) => here[n]).map(async (record) => ({ ...record, size: await this.#sizeBy(late, record) })),
		);
		const { bytes } = await this.#parts.store.totals({ kind: 'item', ownerId });
		return { items, bytes, isAll };
	}

	async #newest(ownerId: string, limit: number, maxCharacters: number): Promise<Page> {
		const newest = await this.#read({ ownerId }, limit, maxCharacters);
		if (newest.isAll) return newest;
		const isOwn = ({ deletedBy, ownerName }: TrashedItem) => deletedBy === ownerName;
		const own = newest.records.filter(isOwn);
		const lack = Math.floor(limit / 2) - own.length;
		const older = { ownerId, deletedBy: 'owner', after: newest.records.at(-1) } as const;
		const { records: more } = await this.#read(older, lack, Math.floor(maxCharacters / 2) - charactersOf(own));
		if (more.length === 0) return newest;
		let left = limit - own.length - more.length;
		let characters = maxCharacters - charactersOf(own) - charactersOf(more);
		const hasRoom = ({ path }: TrashedItem) => {
			left--;
			characters -= path.length;
			return left >= 0 && characters >= 0;
		};
		return { records: [...newest.records.filter((each) => isOwn(each) || hasRoom(each)), ...more], isAll: false };
	}

	/** The newest of these, until there are so many, or a few more with so many characters of paths. */
	async #read(selection: Chosen, limit: number, maxCharacters: number): Promise<Page> {
		const records: TrashedItem[] = [];
		const yielder = new Yielder();
		let characters = 0;
		while (records.length < limit && characters <= maxCharacters) {
			const page = { order: 'newest', limit: Math.min(trashBatch, limit - records.length) } as const;
			const after = records.at(-1) ?? selection.after;
			const found = await this.#parts.store.list({ ...selection, ...page, after, kind: 'item' });
			records.push(...found);
			characters += charactersOf(found);
			if (found.length < page.limit) return { records, isAll: true };
			if (yielder.shouldYield) await yielder.yield();
		}
		return { records, isAll: false };
	}

	async #sizeBy(late: Promise<undefined>, record: TrashedItem): Promise<TrashSize | undefined> {
		if (record.size !== undefined) return record.size;
		const measuring = this.#sizes.of(record);
		const size = await Promise.race([measuring, late]);
		if (size === undefined)
			void measuring.then((measured) => measured !== undefined && this.#parts.onChanged(record.ownerId));
		return size;
	}
}

function charactersOf(records: readonly TrashedItem[]): number {
	return records.reduce((sum, { path }) => sum + path.length, 0);
}
