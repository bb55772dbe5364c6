import type { Database } from '@stowage/database';
import type { KeyValueStore } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';

/** Bytes kept free for essential rows: sessions, accounts, links, offsets of uploads. */
const reserveBytes = 64 * 1024 * 1024;

/** Keeps optional rows from filling the disk of the database. */
export interface DatabaseReserve {
	/** Throws `storageFull` unless this many bytes can be written without touching the reserve. */
	assertRoom(bytes: number): Promise<void>;
	/** Wraps the store: a write that would touch the reserve is refused with `storageFull`. */
	optional(rows: KeyValueStore): KeyValueStore;
}

export function createDatabaseReserve(database: Pick<Database, 'freeSpace'>): DatabaseReserve {
	const assertRoom = async (bytes: number) => {
		if ((await database.freeSpace()) - bytes >= reserveBytes) return;
		throw new Failure('storageFull', 'There is not enough free space on the disk of the database.');
	};
	return {
		assertRoom,
		optional: (rows) => ({
			...rows,
			async set(key, value, ttlMs) {
				await assertRoom(JSON.stringify(value).length);
				await rows.set(key, value, ttlMs);
			},
			async setMany(values, ttlMs) {
				await assertRoom(JSON.stringify([...values.values()]).length);
				await rows.setMany(values, ttlMs);
			},
		}),
	};
}
