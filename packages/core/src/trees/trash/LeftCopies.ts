import type { TrashRecord } from '@stowage/plugin-api';
import { batchesOf, isFailure } from '@stowage/rules';
import { ignoreMissing, type Mount } from '../storage/Mounts.js';
import { locateTrashed } from './locateTrashed.js';
import { trashContents } from './recording/TrashNotes.js';
import { type TrashParts, trashBatch, warnOfTrash } from './trashParts.js';
import { trashedPath } from './trashPaths.js';

/** How long a copy must have been seen before it is removed: a move that goes on has both for a moment. */
const leftForMs = 30 * 60_000;

/**
 * Sweeps what interrupted moves between roots have left in the trash: items whose row names another root, where they are as well. An item
 * without a row is left alone, since a lost database is recovered by it.
 */
export class LeftCopies {
	readonly #parts: TrashParts;
	/** The times at which each was seen first, by the monotonic clock. */
	#seen = new Map<string, number>();

	constructor(parts: TrashParts) {
		this.#parts = parts;
	}

	/** Removes those that an earlier sweep has seen as well. */
	async sweep(): Promise<void> {
		const mounts = this.#parts.storage().mounts();
		const before = this.#seen;
		this.#seen = new Map();
		if (mounts.length === 1) return;
		for (const mount of mounts) {
			try {
				await this.#sweepRoot(mount, before);
			} catch (error) {
				if (!isFailure(error, 'unavailable')) warnOfTrash(this.#parts, error);
			}
		}
	}

	async #sweepRoot(mount: Mount, before: ReadonlyMap<string, number>): Promise<void> {
		const { store, monotonic } = this.#parts;
		const { storage } = mount;
		const { ids } = await trashContents(storage);
		for (const some of batchesOf(ids, trashBatch)) {
			const records = await store.list({ order: 'oldest', limit: trashBatch, ids: some });
			for (const record of records.filter(({ rootId }) => rootId !== storage.rootId)) {
				if (!(await this.#isLeft(record, mount))) continue;
				const key = `${storage.rootId} ${record.id}`;
				const since = before.get(key) ?? monotonic();
				if (monotonic() - since >= leftForMs) await storage.remove(trashedPath(record.id)).catch(ignoreMissing);
				else this.#seen.set(key, since);
			}
		}
	}

	/** Whether another root has it as well. Where none has, its row names this one from now on. */
	async #isLeft(record: TrashRecord, { storage }: Mount): Promise<boolean> {
		const located = await locateTrashed(this.#parts, record);
		return located !== undefined && located.mount.storage !== storage;
	}
}
