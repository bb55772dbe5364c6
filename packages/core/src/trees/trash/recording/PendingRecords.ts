import type { TrashRecord, TrashSize } from '@stowage/plugin-api';
import { isTrashed } from '../locateTrashed.js';
import { type TrashParts, warnOfTrash } from '../trashParts.js';
import { writeNotes } from './TrashNotes.js';

/** How long an item waits for others, so that one statement and one file of notes record many. */
const collectMs = 200;

/**
 * Items in the trash whose rows and notes do not say yet that they are there. Nothing waits for them: until then
 * the disk says it.
 */
export class PendingRecords {
	readonly #parts: TrashParts;
	readonly #waiting = new Map<string, TrashRecord>();
	#timer: NodeJS.Timeout | undefined;
	#pending: Promise<void> = Promise.resolve();

	constructor(parts: TrashParts) {
		this.#parts = parts;
	}

	add(record: TrashRecord): void {
		this.#waiting.set(record.id, record);
		this.#timer ??= setTimeout(() => void this.#recordNext(), collectMs).unref();
	}

	/** Whether an item is there, also where its row does not say so yet. */
	async isHere(record: TrashRecord): Promise<boolean> {
		return record.state === 'kept' || this.#waiting.has(record.id) || isTrashed(this.#parts, record);
	}

	/** Called when an item leaves again. What is being written meanwhile records nothing that is leaving. */
	cancel(id: string): void {
		this.#waiting.delete(id);
	}

	/** Writes what waits, after what is being written. */
	async close(): Promise<void> {
		clearTimeout(this.#timer);
		await this.#recordNext();
	}

	#recordNext(): Promise<void> {
		this.#pending = this.#pending.then(() => this.#record());
		return this.#pending;
	}

	async #record(): Promise<void> {
		this.#timer = undefined;
		const { store } = this.#parts;
		const records = [...this.#waiting.values()];
		this.#waiting.clear();
		if (records.length === 0) return;
		try {
			await store.setSizes(sizesOf(records));
			const saved = await store.settle(
				records.map(({ id }) => id),
				'moving',
			);
			await this.#note(await this.#current(records));
			if (saved === records.length) return;
			// Another process may have taken one for lost while this one was suspended.
			for (const record of records) {
				if ((await store.get(record.id)) === undefined && (await isTrashed(this.#parts, record)))
					await store.add({ ...record, state: record.kind === 'version' ? 'moving' : 'kept' });
			}
		} catch (error) {
			warnOfTrash(this.#parts, error);
		}
	}

	/** Versions as they are now: they belong to another file than when they were replaced. */
	async #current(records: readonly TrashRecord[]): Promise<TrashRecord[]> {
		const ids = records.filter(({ kind }) => kind === 'version').map(({ id }) => id);
		const { store } = this.#parts;
		const versions = ids.length === 0 ? [] : await store.list({ order: 'oldest', limit: ids.length, ids });
		return [...records.filter(({ kind }) => kind === 'item'), ...versions];
	}

	/** Writes beside the items what they are. */
	async #note(records: readonly TrashRecord[]): Promise<void> {
		for (const { storage } of this.#parts.storage().mounts()) {
			const here = records.filter(({ rootId }) => rootId === storage.rootId);
			if (here.length > 0) await writeNotes(storage, here);
		}
	}
}

/** The sizes of files: what has arrived may be another one than was there when its row was written. */
function sizesOf(records: readonly TrashRecord[]): Map<string, TrashSize> {
	const sizes = new Map<string, TrashSize>();
	for (const { id, kind, size } of records) if (kind === 'item' && size !== undefined) sizes.set(id, size);
	return sizes;
}
