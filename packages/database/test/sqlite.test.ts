import { repositoriesSuite } from '@stowage/conformance';
import { DatabaseError, openDatabase } from '@stowage/database';
import test from 'ava';
import { prepareFile } from '../src/connection/sqlite/sqliteFile.js';
import { placeDatabase } from './emptyDatabase.js';
import { temporaryFolder } from './temporaryFolder.js';

repositoriesSuite(test, 'SQLite', async (clock) => {
	const folder = await temporaryFolder();
	const file = `${folder.path}/stowage.db`;
	await placeDatabase(file);
	const db = await openDatabase(`sqlite:${file}`, { now: () => clock.now });
	return {
		db,
		async close() {
			await db.close();
			await folder.remove();
		},
	};
});

test('a database on a network file system is refused, and on others not', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	for (const type of [0x6969, 0xff534d42, 0x00c36400])
		t.throws(() => prepareFile(`${folder.path}/stowage.db`, () => type), {
			instanceOf: DatabaseError,
			message: /lies on a network file system/,
		});
	for (const type of [0xef53, 0x65735546]) t.notThrows(() => prepareFile(`${folder.path}/stowage.db`, () => type));
});
