import type { TrashRecord } from '@stowage/plugin-api';
import { isTrashed } from './locateTrashed.js';
import { writeNotes } from './TrashNotes.js';
import { type TrashParts, warnOfTrash } from './trashParts.js';

/** How long an item that has arrived waits for others, so that one statement and one file of notes record many. */
const settleMs = 200;

/**
 * Items that have arrived in the trash, and whose rows and notes do not say so yet. Nothing waits for them: until then
 * the disk says it.
 */
export class TrashArrivals {
	readonly #parts: TrashParts;
	readonly #arrived = new Map<string, TrashRecord>();
	#timer: NodeJS.Timeout | undefined;
	#pending: Promise<void> = Promise.resolve();
	/** Those that are being recorded. */
	#settling: ReadonlySet<string> = new Set();

	constructor(parts: TrashParts) {
		this.#parts = parts;
	}

	add(record: TrashRecord): void {
		this.#arrived.set(record.id, record);
		this.#timer ??= setTimeout(() => void this.#settleNext(), settleMs).unref();
	}

	has(id: string): boolean {
		return this.#arrived.has(id);
	}

	/** Before an item leaves again: recorded as kept after that, it would be listed for good if this process ended now. */
	async takeBack(id: string): Promise<void> {
		this.#arrived.delete(id);
		if (this.#settling.has(id)) await this.#pending;
	}

	/** Writes what waits, after what is being written. */
	async close(): Promise<void> {
		clearTimeout(this.#timer);
		await this.#settleNext();
	}

	#settleNext(): Promise<void> {
		this.#pending = this.#pending.then(() => this.#settle());
		return this.#pending;
	}

	async #settle(): Promise<void> {
		this.#timer = undefined;
		const { store } = this.#parts;
		const arrived = [...this.#arrived.values()];
		this.#arrived.clear();
		if (arrived.length === 0) return;
		this.#settling = new Set(arrived.map(({ id }) => id));
		try {
			const settled = await store.settle(arrived.map(({ id }) => id));
			await this.#note(await this.#current(arrived));
			if (settled === arrived.length) return;
			// Another process may have taken one for lost while this one was suspended.
			for (const record of arrived) {
				if ((await store.get(record.id)) === undefined && (await isTrashed(this.#parts, record)))
					await store.add({ ...record, state: record.kind === 'version' ? 'moving' : 'kept' });
			}
		} catch (error) {
			warnOfTrash(this.#parts, error);
		} finally {
			this.#settling = new Set();
		}
	}

	/** Versions as they are now: they belong to another file than when they began to arrive. */
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
