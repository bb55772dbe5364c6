import type { StorageProvider, TrashedItem } from '@stowage/plugin-api';
import { batchesOf, isFailure, joinPath } from '@stowage/rules';
import { currentNetwork, noNetwork } from '../../../limits/currentNetwork.js';
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

/** What lies where deleted items wait for their rows. */
interface Arrived {
	items: UnrecordedItem[];
	/** Names that say nothing: nobody can tell whose these items were, so they stay as they are. */
	unknown: string[];
}

/** Names that were logged, of those that say nothing: an administrator looks at the folder. */
const maxLogged = 100;

/** Items that could not get rows, and why. Of a root whose folder could not be read it is not known which they are. */
export interface WithoutRows {
	error: unknown;
	records?: readonly TrashedItem[];
}

/**
 * Deleted items that no row knows yet. Their names say what they are, so that a deletion is one rename and nothing is
 * written before it. Whoever asks for the trash records them first, whichever process has deleted them, also
 * before a crash: the row is added, a note written, and only then the item gets its own name. Where the disk has no
 * room for the note, an item with a row stays under the name by which it has arrived, which says the same: it is listed, restored and
 * removed from there (`locateTrashed`).
 */
export class UnrecordedItems {
	readonly #parts: TrashParts;
	readonly #onRecorded: (record: TrashedItem, network: string) => void;
	/** The networks from which items were deleted here, by their ids: whoever looks into their trash records those of all others, too. */
	readonly #networks = new Map<string, string>();
	#timer: NodeJS.Timeout | undefined;
	#running: Promise<WithoutRows[]> = Promise.resolve([]);
	#next: Promise<WithoutRows[]> | undefined;
	readonly #logged = new Set<string>();

	/** `onRecorded` is called with each item and the network from which it was deleted. */
	constructor(parts: TrashParts, onRecorded: (record: TrashedItem, network: string) => void) {
		this.#parts = parts;
		this.#onRecorded = onRecorded;
	}

	/** There may be a new one, with this id. */
	schedule(id: string): void {
		this.#networks.set(id, currentNetwork());
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			void this.recordIfPossible();
		}, recordAfterMs).unref();
	}

	/**
	 * Resolves once all that were there have rows, to those that could get none. Those of a root that is away get theirs when it is
	 * back. What one root has no room for holds up no other one.
	 */
	record(): Promise<WithoutRows[]> {
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

	/** Records what `record` does, but only logs a failure: for callers to whom the items with rows are enough. */
	async recordIfPossible(): Promise<void> {
		await this.record().catch((error: unknown) => warnOfTrash(this.#parts, error));
	}

	/** Records what waits. A process that has deleted nothing may have no storage. */
	async close(): Promise<void> {
		const isScheduled = this.#timer !== undefined;
		clearTimeout(this.#timer);
		this.#timer = undefined;
		if (isScheduled) await this.recordIfPossible();
		// What begins after the one that runs is for what has come meanwhile.
		else await (this.#next ?? this.#running).catch(() => {});
	}

	async #record(): Promise<WithoutRows[]> {
		const expected = [...this.#networks.keys()];
		const roots = this.#parts.storage().mounts();
		const without = await Promise.all(roots.map(({ storage }) => this.#recordOn(storage)));
		// Also those of which another process, or this one, could not record any: they may be gone.
		for (const id of expected) this.#networks.delete(id);
		const failed = without.flat().filter(({ error }) => !isFailure(error, 'unavailable'));
		for (const { error } of failed) warnOfTrash(this.#parts, error);
		return failed;
	}

	async #recordOn(storage: StorageProvider): Promise<WithoutRows[]> {
		let items: UnrecordedItem[];
		try {
			const arrived = await unrecordedOn(storage);
			items = arrived.items;
			this.#logUnknown(storage, arrived.unknown);
		} catch (error) {
			return [{ error }];
		}
		for (let at = 0; at < items.length; at += trashBatch) {
			const part = items.slice(at, at + trashBatch);
			try {
				await this.#parts.store.addMissing(part.map(({ record }) => record));
			} catch (error) {
				return [{ error, records: items.slice(at).map(({ record }) => record) }];
			}
			try {
				await this.#giveOwnNames(storage, part);
			} catch (error) {
				if (isFailure(error, 'unavailable')) continue;
				warnOfTrash(this.#parts, error);
				await this.#forgetGone(storage, part);
			}
		}
		return [];
	}

	/** Logs each of these names once: the folder is read whenever anybody looks into their trash. */
	#logUnknown({ rootId }: StorageProvider, names: readonly string[]): void {
		for (const item of names) {
			if (this.#logged.size >= maxLogged) return;
			const key = `${rootId} ${item}`;
			if (this.#logged.has(key)) continue;
			this.#logged.add(key);
			const where = { item, root: rootId, folder: unrecordedFolder };
			this.#parts.log.warn(where, 'an item in the trash is in no list, since its name does not say whose it was');
		}
	}

	/** Removes rows that were added while their items were restored or removed. A sweep does it where that is not possible now. */
	async #forgetGone(storage: StorageProvider, items: readonly UnrecordedItem[]): Promise<void> {
		try {
			const left = new Set((await unrecordedOn(storage)).items.map(({ name }) => name));
			for (const { name, record } of items)
				if (!left.has(name) && (await locateTrashed(this.#parts, record)) === undefined)
					await this.#parts.store.remove([record.id]);
		} catch (error) {
			warnOfTrash(this.#parts, error);
		}
	}

	async #giveOwnNames(storage: StorageProvider, items: readonly UnrecordedItem[]): Promise<void> {
		await writeNotes(
			storage,
			items.map(({ record }) => record),
		);
		const moved: TrashedItem[] = [];
		const moves: PromiseSettledResult<void>[] = [];
		for (const part of batchesOf(items, movesAtOnce)) {
			const move = async (each: UnrecordedItem) => {
				if (await this.#giveOwnName(storage, each)) moved.push(each.record);
			};
			moves.push(...(await Promise.allSettled(part.map(move))));
		}
		await this.#parts.store.settle(
			moved.map(({ id }) => id),
			'moving',
		);
		for (const record of moved) this.#onRecorded(record, this.#networks.get(record.id) ?? noNetwork);
		for (const move of moves) if (move.status === 'rejected') throw move.reason;
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
export async function unrecordedOn(storage: StorageProvider): Promise<Arrived> {
	const arrived: Arrived = { items: [], unknown: [] };
	try {
		for await (const batch of storage.list(unrecordedFolder)) {
			for (const { name, type, size: bytes } of batch) {
				const info = parseUnrecordedName(name);
				if (info === undefined) {
					arrived.unknown.push(name);
					continue;
				}
				const size = type === 'file' ? { bytes, entries: 1 } : undefined;
				const { rootId } = storage;
				arrived.items.push({ name, record: { ...info, kind: 'item', rootId, type, size, state: 'moving' } });
			}
		}
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
	return arrived;
}

/** Throws why one of these has no row. Where it is not known which have none, it may be one of them. */
export function throwIfWithout(without: readonly WithoutRows[], isMeant: (record: TrashedItem) => boolean): void {
	for (const { error, records } of without) if (records === undefined || records.some(isMeant)) throw error;
}
