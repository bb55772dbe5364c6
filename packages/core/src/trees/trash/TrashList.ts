import { setTimeout as wait } from 'node:timers/promises';
import { type TrashedItem, type TrashSize, Yielder } from '@stowage/plugin-api';
import type { TrashMoves } from './TrashMoves.js';
import type { TrashSizes } from './TrashSizes.js';
import { type TrashParts, trashBatch } from './trashParts.js';

/** How long a list waits for the sizes of folders that are being measured. */
const sizesMs = 2_000;

/** The lists that users see of their trash. */
export class TrashList {
	readonly #parts: TrashParts;
	readonly #moves: Pick<TrashMoves, 'isHere'>;
	readonly #sizes: Pick<TrashSizes, 'of'>;

	constructor(parts: TrashParts, moves: Pick<TrashMoves, 'isHere'>, sizes: Pick<TrashSizes, 'of'>) {
		this.#parts = parts;
		this.#moves = moves;
		this.#sizes = sizes;
	}

	/**
	 * The newest deleted items of a user that are there, with their sizes where those are found in time, and the bytes
	 * of all that are measured by then. Of what is measured later the user's pages are notified. Beyond this many characters of paths
	 * no more are read; `isAll` says whether there are more.
	 */
	async of(
		ownerId: string,
		limit: number,
		maxCharacters = Number.POSITIVE_INFINITY,
	): Promise<{ items: TrashedItem[]; bytes: number; isAll: boolean }> {
		const records: TrashedItem[] = [];
		const yielder = new Yielder();
		let characters = 0;
		let isAll = false;
		while (records.length < limit && characters <= maxCharacters) {
			const page = {
				order: 'newest',
				limit: Math.min(trashBatch, limit - records.length),
				after: records.at(-1),
			} as const;
			const found = await this.#parts.store.list({ ...page, ownerId, kind: 'item' });
			records.push(...found);
			for (const { path } of found) characters += path.length;
			isAll = found.length < page.limit;
			if (isAll) break;
			if (yielder.shouldYield) await yielder.yield();
		}
		const here = await Promise.all(records.map((record) => this.#moves.isHere(record)));
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
}
