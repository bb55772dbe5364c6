import { repositoriesSuite } from '@stowage/conformance';
import { openDatabase } from '@stowage/database';
import test from 'ava';
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
