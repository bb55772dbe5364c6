import { createRequire } from 'node:module';
import path from 'node:path';
import test from 'ava';
import { Client, testApp, file as upload } from '../../packages/core/test/testApp.js';
import { until } from '../../packages/core/test/until.js';
import { writeBackup } from '../src/backup/writeBackup.js';
import { createFile } from '../src/backup/writeDurably.js';
import { withProgress } from '../src/terminal/Progress.js';
import { dataFolder } from './program.js';

const Libsql = createRequire(import.meta.resolve('@stowage/core'))('libsql');

test('while a backup hashes files, the log of the database can be emptied', async (t) => {
	const app = await testApp(t);
	const { services } = app;
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [upload('a.txt', 'text')]);
	const database = new Libsql(services.config.databaseUrl.replace(/^sqlite:/, ''));
	t.teardown(() => database.close());
	const { storage } = services;
	const { open } = storage;
	let isEmptied = false;
	storage.open = async (at) => {
		// Another statement may be reading at that moment.
		await until('the log is emptied', () => {
			const [{ busy }] = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
			return busy === 0;
		});
		isEmptied = true;
		return open.call(storage, at);
	};
	const zip = path.join(await dataFolder(t), 'one.zip');
	const options = { hashesAll: true, configuration: undefined, settings: '' };
	const target = await createFile(zip, false);
	const { manifest } = await withProgress({}, (progress) => writeBackup(services, target, options, progress)).finally(
		() => target.close(),
	);
	t.true(isEmptied);
	t.like(manifest, { hasAllHashes: true, database: { tables: { users: 1 } } });
});
