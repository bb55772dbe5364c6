import type { TrashRecord, TrashSelection, TrashSize } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import { currentNetwork } from '../../limits/currentNetwork.js';
import { FairQueue } from '../../limits/FairQueue.js';
import { type Amount, measureTree, TooDeep } from '../../quotas/measureTree.js';
import { SharedWalks } from '../../quotas/SharedWalks.js';
import { locateTrashed } from './locateTrashed.js';
import { type TrashParts, trashBatch, warnOfTrash } from './trashParts.js';

/**
 * The sizes of folders in the trash, which are measured once they are there: a folder of any size is deleted in the time of a file. So is
 * that of a file whose process ended before its row had it.
 */
export class TrashSizes {
	readonly #parts: TrashParts;
	/** By network and item. */
	readonly #measuring = new Map<string, Promise<TrashSize | undefined>>();
	/** Sizes that are measured and not written to the rows yet. */
	#measured = new Map<string, TrashSize>();
	#writing: Promise<void> = Promise.resolve();
	#nextWrite: Promise<void> | undefined;
	readonly #tooDeep = new Set<string>();
	readonly #walks = new SharedWalks<Amount>(
		new FairQueue(
			{ running: 2, runningPerClient: 1, waiting: 10_000, waitingPerClient: 1_000, leavesPlaces: true },
			'Too many folders are being measured. Please try again in a moment.',
		),
	);

	constructor(parts: TrashParts) {
		this.#parts = parts;
	}

	/** The size of an item; undefined where it could not be measured. It is measured at the first turn of any network that wants it. */
	of(record: TrashRecord, network = currentNetwork()): Promise<TrashSize | undefined> {
		const key = `${network} ${record.id}`;
		const measuring = this.#measuring.get(key) ?? this.#measure(record, network);
		this.#measuring.set(key, measuring);
		return measuring;
	}

	/** The sum; folders that are not measured yet are, unless that fails. Of one owner `TooDeep` where something can't be measured. */
	async totals(selection: TrashSelection): Promise<TrashSize> {
		const { store } = this.#parts;
		const known = await store.totals(selection);
		if (known.unmeasured === 0) return known;
		for (let measured = 1; measured > 0; ) {
			measured = 0;
			const records = await store.list({ order: 'oldest', limit: trashBatch, isUnmeasured: true, ...selection });
			for (const record of records) {
				if ((await this.of(record)) !== undefined) measured++;
				else if (selection.ownerId !== undefined && this.#tooDeep.has(record.id)) throw new TooDeep();
			}
		}
		return store.totals(selection);
	}

	/**
	 * All that is measured while others are written is written at once: everything else that is written to the database waits for one
	 * of these at most, however many folders somebody deletes.
	 */
	#keep(id: string, size: TrashSize): Promise<void> {
		this.#measured.set(id, size);
		this.#nextWrite ??= this.#writing
			// Those who wait for it have its error, and measure again when the size is wanted.
			.catch(() => {})
			.then(() => {
				const sizes = this.#measured;
				this.#measured = new Map();
				this.#nextWrite = undefined;
				this.#writing = this.#parts.store.setSizes(sizes);
				return this.#writing;
			});
		return this.#nextWrite;
	}

	async #measure(record: TrashRecord, network: string): Promise<TrashSize | undefined> {
		try {
			const located = await locateTrashed(this.#parts, record);
			if (located === undefined) return undefined;
			const { mount, item, path } = located;
			const measure = () => measureTree(mount.storage, path, async () => {});
			const isFolder = item.type === 'directory';
			const inside = isFolder
				? await this.#walks.join(record.id, record.ownerId, network, measure)
				: { bytes: 0, entries: 0 };
			const size = { bytes: inside.bytes + item.size, entries: inside.entries + 1 };
			await this.#keep(record.id, size);
			return size;
		} catch (error) {
			// Too many wait, or its root is away: it is measured when its size is wanted again.
			if (error instanceof TooDeep) this.#tooDeep.add(record.id);
			else if (!isFailure(error)) warnOfTrash(this.#parts, error);
			return undefined;
		} finally {
			this.#measuring.delete(`${network} ${record.id}`);
		}
	}
}
