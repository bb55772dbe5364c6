import type { StorageProvider, TrashedItem } from '@stowage/plugin-api';
import { isFailure, joinPath } from '@stowage/rules';
import { parseArrival } from './arrivalNames.js';
import { locateTrashed } from './locateTrashed.js';
import { writeNotes } from './TrashNotes.js';
import { type TrashParts, trashBatch, warnOfTrash } from './trashParts.js';
import { arrivalFolder, trashedPath } from './trashPaths.js';

/** How long an item waits for others, so that a few statements and one file of notes record many. */
const recordAfterMs = 1_000;

const movesAtOnce = 16;

interface Arrived {
	name: string;
	record: TrashedItem;
}

/**
 * Deleted items that no row knows yet. Their names say what they are, so that a deletion is one rename and nothing is
 * written before it. Whoever asks for the trash records first what has arrived, in whichever process that was, also
 * before a crash: the row is added, a note written, and only then the item gets its own name.
 */
export class ArrivingItems {
	readonly #parts: TrashParts;
	readonly #onRecorded: (record: TrashedItem) => void;
	#timer: NodeJS.Timeout | undefined;
	#running: Promise<void> = Promise.resolve();
	#next: Promise<void> | undefined;

	constructor(parts: TrashParts, onRecorded: (record: TrashedItem) => void) {
		this.#parts = parts;
		this.#onRecorded = onRecorded;
	}

	/** One may have arrived. */
	schedule(): void {
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			this.record().catch((error: unknown) => warnOfTrash(this.#parts, error));
		}, recordAfterMs).unref();
	}

	/** Resolves once all that had arrived have rows. Those of a root that is away get theirs when it is back. */
	record(): Promise<void> {
		// What runs may have listed the folder before the last one arrived.
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
		const arrived = await arrivedOn(storage);
		for (let at = 0; at < arrived.length; at += trashBatch)
			await this.#recordAll(storage, arrived.slice(at, at + trashBatch));
	}

	async #recordAll(storage: StorageProvider, arrived: readonly Arrived[]): Promise<void> {
		const { store } = this.#parts;
		const records = arrived.map(({ record }) => record);
		await store.addMissing(records);
		await writeNotes(storage, records);
		const moved: TrashedItem[] = [];
		const moves: PromiseSettledResult<void>[] = [];
		for (let at = 0; at < arrived.length; at += movesAtOnce) {
			const part = arrived.slice(at, at + movesAtOnce);
			const move = async (each: Arrived) => {
				if (await this.#giveOwnName(storage, each)) moved.push(each.record);
			};
			moves.push(...(await Promise.allSettled(part.map(move))));
		}
		await store.settle(moved.map(({ id }) => id));
		for (const record of moved) this.#onRecorded(record);
		throwFirst(moves);
	}

	/** Resolves to false if another process has done it. */
	async #giveOwnName(storage: StorageProvider, { name, record }: Arrived): Promise<boolean> {
		try {
			await storage.move(joinPath(arrivalFolder, name), trashedPath(record.id));
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
export async function arrivedOn(storage: StorageProvider): Promise<Arrived[]> {
	const arrived: Arrived[] = [];
	try {
		for await (const batch of storage.list(arrivalFolder)) {
			for (const { name, type, size: bytes } of batch) {
				const said = parseArrival(name);
				if (said === undefined) continue;
				const size = type === 'file' ? { bytes, entries: 1 } : undefined;
				const { rootId } = storage;
				arrived.push({ name, record: { ...said, kind: 'item', rootId, type, size, state: 'moving' } });
			}
		}
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
	return arrived;
}

/** Throws the first error that is no failure of this kind. */
function throwFirst(results: readonly PromiseSettledResult<void>[], except?: 'unavailable'): void {
	for (const result of results)
		if (result.status === 'rejected' && !(except !== undefined && isFailure(result.reason, except)))
			throw result.reason;
}
