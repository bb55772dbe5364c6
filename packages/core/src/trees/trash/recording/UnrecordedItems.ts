import type { StorageProvider, TrashedItem } from '@stowage/plugin-api';
import { isFailure, joinPath } from '@stowage/rules';
import { locateTrashed } from '../locateTrashed.js';
import { type TrashParts, trashBatch, warnOfTrash } from '../trashParts.js';
import { trashedPath, unrecordedFolder } from '../trashPaths.js';
import { writeNotes } from './TrashNotes.js';
import { parseUnrecordedName } from './unrecordedNames.js';

/** How long an item waits for others, so that a few statements and one file of notes record many. */
const recordAfterMs = 1_000;

const movesAtOnce = 16;

interface UnrecordedItem {
	name: string;
	record: TrashedItem;
}

/**
 * Deleted items that no row knows yet. Their names say what they are, so that a deletion is one rename and nothing is
 * written before it. Whoever asks for the trash records them first, whichever process has deleted them, also
 * before a crash: the row is added, a note written, and only then the item gets its own name.
 */
export class UnrecordedItems {
	readonly #parts: TrashParts;
	readonly #onRecorded: (record: TrashedItem) => void;
	#timer: NodeJS.Timeout | undefined;
	#running: Promise<void> = Promise.resolve();
	#next: Promise<void> | undefined;

	constructor(parts: TrashParts, onRecorded: (record: TrashedItem) => void) {
		this.#parts = parts;
		this.#onRecorded = onRecorded;
	}

	/** There may be a new one. */
	schedule(): void {
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			this.record().catch((error: unknown) => warnOfTrash(this.#parts, error));
		}, recordAfterMs).unref();
	}

	/** Resolves once all that were there have rows. Those of a root that is away get theirs when it is back. */
	record(): Promise<void> {
		// What runs may have listed the folder before the last one came.
		this.#next ??= this.#running
			.catch(() => {})
			.then(() => {
				this.#next = undefined;
				this.#running = this.#record();
				return this.#running;
			});
		return this.#next;
	}

	/** Records what waits. A process that has deleted nothing may have no storage. */
	async close(): Promise<void> {
		if (this.#timer === undefined) return void (await this.#running.catch(() => {}));
		clearTimeout(this.#timer);
		this.#timer = undefined;
		await this.record().catch((error: unknown) => warnOfTrash(this.#parts, error));
	}

	async #record(): Promise<void> {
		const roots = this.#parts.storage().mounts();
		throwFirst(await Promise.allSettled(roots.map(({ storage }) => this.#recordOn(storage))), 'unavailable');
	}

	async #recordOn(storage: StorageProvider): Promise<void> {
		const items = await unrecordedOn(storage);
		for (let at = 0; at < items.length; at += trashBatch)
			await this.#recordAll(storage, items.slice(at, at + trashBatch));
	}

	async #recordAll(storage: StorageProvider, items: readonly UnrecordedItem[]): Promise<void> {
		const { store } = this.#parts;
		const records = items.map(({ record }) => record);
		await store.addMissing(records);
		await writeNotes(storage, records);
		const moved: TrashedItem[] = [];
		const moves: PromiseSettledResult<void>[] = [];
		for (let at = 0; at < items.length; at += movesAtOnce) {
			const part = items.slice(at, at + movesAtOnce);
			const move = async (each: UnrecordedItem) => {
				if (await this.#giveOwnName(storage, each)) moved.push(each.record);
			};
			moves.push(...(await Promise.allSettled(part.map(move))));
		}
		await store.settle(moved.map(({ id }) => id));
		for (const record of moved) this.#onRecorded(record);
		throwFirst(moves);
	}

	/** Resolves to false if another process has done it. */
	async #giveOwnName(storage: StorageProvider, { name, record }: UnrecordedItem): Promise<boolean> {
		try {
			await storage.move(joinPath(unrecordedFolder, name), trashedPath(record.id));
			return true;
		} catch (error) {
			if (!isFailure(error, 'notFound')) throw error;
			// It may even have been restored or removed since, and its row with it, before this one was added.
			if ((await locateTrashed(this.#parts, record)) === undefined) await this.#parts.store.remove([record.id]);
			return false;
		}
	}
}

/** The items of a root that no row may know yet. */
export async function unrecordedOn(storage: StorageProvider): Promise<UnrecordedItem[]> {
	const items: UnrecordedItem[] = [];
	try {
		for await (const batch of storage.list(unrecordedFolder)) {
			for (const { name, type, size: bytes } of batch) {
				const info = parseUnrecordedName(name);
				if (info === undefined) continue;
				const size = type === 'file' ? { bytes, entries: 1 } : undefined;
				const { rootId } = storage;
				items.push({ name, record: { ...info, kind: 'item', rootId, type, size, state: 'moving' } });
			}
		}
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
	return items;
}

/** Throws the first error that is no failure of this kind. */
function throwFirst(results: readonly PromiseSettledResult<void>[], except?: 'unavailable'): void {
	for (const result of results)
		if (result.status === 'rejected' && !(except !== undefined && isFailure(result.reason, except)))
			throw result.reason;
}
