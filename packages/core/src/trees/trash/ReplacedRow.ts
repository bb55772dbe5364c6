import type { FileVersion, TrashedItem, TrashRecord } from '@stowage/plugin-api';
import { assertRoomForRow, type TrashParts } from './trashParts.js';

type Unknown = 'id' | 'deletedAt' | 'state';

/** What is known of a file before it is replaced, which is kept as a version of the new one, or as what is deleted. */
export type NewReplaced = Omit<FileVersion, Unknown> | (Omit<TrashedItem, Unknown> & Pick<FileVersion, 'size'>);

/** The row of a file that is about to be replaced, which is added once. */
export class ReplacedRow {
	readonly id: string;
	readonly #parts: Pick<TrashParts, 'store' | 'now' | 'databaseReserve'>;
	readonly #replaced: NewReplaced;
	#record: TrashRecord | undefined;
	#added: Promise<void> | undefined;

	constructor(parts: Pick<TrashParts, 'store' | 'now' | 'databaseReserve'>, id: string, replaced: NewReplaced) {
		this.id = id;
		this.#parts = parts;
		this.#replaced = replaced;
	}

	/** The row as it was written; undefined as long as there is none. */
	get record(): TrashRecord | undefined {
		return this.#record;
	}

	/** A replacement that is tried again in a folder that was missing calls it again. */
	add(): Promise<void> {
		this.#added ??= this.#add();
		return this.#added;
	}

	async #add(): Promise<void> {
		const { store, now } = this.#parts;
		const record: TrashRecord = { ...this.#replaced, id: this.id, deletedAt: now(), state: 'moving' };
		// Nothing is replaced without it: the former content would be lost.
		await assertRoomForRow(this.#parts, record);
		this.#record = record;
		await store.add(record);
	}
}
