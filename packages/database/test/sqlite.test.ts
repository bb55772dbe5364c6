import { repositoriesSuite } from '@stowage/conformance';
import { openDatabase } from '@stowage/database';
import test from 'ava';
import { temporaryFolder } from './temporaryFolder.js';

repositoriesSuite(test, 'SQLite', async (clock) => {
	const folder = await temporaryFolder();
	const db = await openDatabase(`sqlite:${folder.path}/stowage.db`, { now: () => clock.now });
	return {
		db,
		async close() {
			await db.close();
			await folder.remove();
		},
	};
});
