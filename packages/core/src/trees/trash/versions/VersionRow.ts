import type { FileVersion } from '@stowage/plugin-api';
import { assertRoomForRow, type TrashParts } from '../trashParts.js';

/** What is known of a former content before it is replaced. */
export type NewVersion = Omit<FileVersion, 'id' | 'kind' | 'deletedAt' | 'state'>;

/** The row of a version, which is added once. */
export class VersionRow {
	readonly id: string;
	readonly #parts: Pick<TrashParts, 'store' | 'now' | 'databaseReserve'>;
	readonly #version: NewVersion;
	#record: FileVersion | undefined;
	#added: Promise<void> | undefined;

	constructor(parts: Pick<TrashParts, 'store' | 'now' | 'databaseReserve'>, id: string, version: NewVersion) {
		this.id = id;
		this.#parts = parts;
		this.#version = version;
	}

	/** The row as it was written; undefined as long as there is none. */
	get record(): FileVersion | undefined {
		return this.#record;
	}

	/** A replacement that is tried again in a folder that was missing calls it again. */
	add(): Promise<void> {
		this.#added ??= this.#add();
		return this.#added;
	}

	async #add(): Promise<void> {
		const { store, now } = this.#parts;
		const record = { ...this.#version, id: this.id, kind: 'version', deletedAt: now(), state: 'moving' } as const;
		// Nothing is replaced without it: the former content would be lost.
		await assertRoomForRow(this.#parts, record);
		this.#record = record;
		await store.add(record);
	}
}
