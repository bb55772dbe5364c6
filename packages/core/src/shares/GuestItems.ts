import { type BoundItem, type SharedItemRecord, Yielder } from '@stowage/plugin-api';
import { archiveNamer, type Guest, type SharedItem, type StoragePath } from '@stowage/rules';
import { PathInterner } from './PathInterner.js';
import { isInTrash } from './shareStates.js';

interface Dependencies {
	/** Finds an item whose move has not ended, as far as that was recorded. */
	locate(record: BoundItem): Promise<StoragePath | undefined>;
	/** Called with the bytes of memory that a further item takes; throws to refuse it. */
	keep(bytes: number): void;
	names: ReadonlySet<string> | undefined;
}

/** An object for an item, besides its name and path. */
const itemBytes = 200;

/**
 * The items of a share as its guests see them, with names of their own, which are given in the order of choice. With
 * `names` those of several items that have one of these names are kept, and no others: a share may have a thousand.
 */
export class GuestItems {
	readonly #parts: Dependencies;
	readonly #nameOf = archiveNamer();
	readonly #paths = new PathInterner();
	readonly #yielder = new Yielder();
	readonly #kept: SharedItem[] = [];
	/** The only item so far. */
	#only: SharedItem | undefined;
	#count = 0;

	constructor(parts: Dependencies) {
		this.#parts = parts;
	}

	/** Adds those that follow, without those in the trash. Throws what `keep` does. */
	async add(records: readonly SharedItemRecord[]): Promise<void> {
		const { locate, keep, names } = this.#parts;
		for (const record of records) {
			// Each takes a moment of this thread, and anybody may ask for all of them.
			if (this.#yielder.shouldYield) await this.#yielder.yield();
			if (isInTrash(record)) continue;
			const { type, itemId } = record;
			const path = record.nextPath === undefined ? record.path : await locate(record);
			if (path === undefined) continue;
			this.#count++;
			const name = this.#nameOf({ path, type });
			const isNamed = names === undefined || names.has(name);
			const isKept = isNamed || this.#count === 1;
			const before = this.#paths.bytes;
			const item = isKept ? this.#paths.intern({ name, type, path, itemId }) : undefined;
			if (isKept) keep(itemBytes + Buffer.byteLength(name) + this.#paths.bytes - before);
			this.#only = this.#count === 1 ? item : undefined;
			if (isNamed && item !== undefined) this.#kept.push(item);
		}
	}

	/** Whether those that follow change nothing. */
	get isComplete(): boolean {
		const { names } = this.#parts;
		return names !== undefined && this.#count > 1 && this.#kept.length === names.size;
	}

	/** What a guest has of them; undefined if there is no item. */
	get root(): Guest['root'] | undefined {
		if (this.#count === 0) return undefined;
		return this.#only?.type === 'directory'
			? { kind: 'folder', folder: this.#only }
			: { kind: 'items', items: this.#kept };
	}
}
