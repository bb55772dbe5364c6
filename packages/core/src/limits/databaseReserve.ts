import type { Database } from '@stowage/database';
import type { KeyValueStore } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';

/** What stays free for rows that nobody can do without: sessions, accounts, links, where uploads stand. */
const reserveBytes = 64 * 1024 * 1024;

/** Keeps what is optional from taking the last room of the database's disk. */
export interface DatabaseReserve {
	/** Throws `storageFull` unless so many bytes can be written and the reserve stays free. */
	assertRoom(bytes: number): Promise<void>;
	/** The same rows; what would take from the reserve is refused by `storageFull`. */
	optional(rows: KeyValueStore): KeyValueStore;
}

export function createDatabaseReserve(database: Pick<Database, 'freeSpace'>, reserve = reserveBytes): DatabaseReserve {
	const assertRoom = async (bytes: number) => {
		if ((await database.freeSpace()) - bytes >= reserve) return;
		throw new Failure('storageFull', 'There is not enough free space on the disk of the database.');
	};
	return {
		assertRoom,
		optional: (rows) => ({
			...rows,
			async set(key, value, lifeMs) {
				await assertRoom(JSON.stringify(value).length);
				await rows.set(key, value, lifeMs);
			},
			async setMany(values, lifeMs) {
				await assertRoom(JSON.stringify([...values.values()]).length);
				await rows.setMany(values, lifeMs);
			},
		}),
	};
}
