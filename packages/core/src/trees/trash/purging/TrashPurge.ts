import { type TrashRecord, type TrashSelection, Yielder } from '@stowage/plugin-api';
import { addTo } from '@stowage/rules';
import { type TrashOwner, type TrashParts, trashBatch } from '../trashParts.js';
import type { PurgedRemoval } from './PurgedRemoval.js';

/** How many items of one user were removed for good. */
export interface PurgedOfOwner extends TrashOwner {
	entries: number;
}

/**
 * Choosing what leaves the trash for good, and marking it as `purging`, with which it is gone for everybody. Its space is freed by and by
 * (`PurgedRemoval`).
 */
export class TrashPurge {
	readonly #parts: TrashParts;
	readonly #removal: Pick<PurgedRemoval, 'removePurged'>;

	constructor(parts: TrashParts, removal: Pick<PurgedRemoval, 'removePurged'>) {
		this.#parts = parts;
		this.#removal = removal;
	}

	/** Resolves to how many were chosen. */
	async purge(selection: TrashSelection): Promise<number> {
		let count = 0;
		try {
			for await (const marked of markPurging(this.#parts, selection)) count += marked;
		} finally {
			if (count > 0 && selection.ownerId !== undefined) this.#parts.onChanged(selection.ownerId);
			if (count > 0) void this.#removal.removePurged();
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
			if (purged.size > 0) void this.#removal.removePurged();
		}
		return [...purged.values()];
	}

	/**
	 * Purges what nobody chose, since there is too much of it. Gone for everybody once it resolves, to how many there were, with a line for
	 * each of its users. `member` is who has caused it, where that is not the owner.
	 */
	async endSuperfluous(records: readonly TrashRecord[], member?: string): Promise<number> {
		const ended = await this.end(records, 'number', member);
		if (ended > 0) void this.#removal.removePurged();
		return ended;
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
