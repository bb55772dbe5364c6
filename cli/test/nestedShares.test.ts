import { cp, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { Client, json, testApp } from '../../packages/core/test/testApp.js';
import { openBackup, openBackupFile } from '../src/backup/readBackup.js';
import { relinkAll } from '../src/backup/restore.js';
import { writeBackup } from '../src/backup/writeBackup.js';
import { createFile } from '../src/backup/writeDurably.js';
import { withProgress } from '../src/terminal/Progress.js';
import { dataFolder } from './program.js';

const depth = 30;
const links = 20;

test('what many links and shared folders within each other lead to is read once by a backup, and once when they are bound again', async (t) => {
	const app = await testApp(t);
	const { services } = app;
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	const folders = Array.from({ length: depth }, (_, level) =>
		Array(level + 1)
			.fill('in')
			.join('/'),
	);
	for (const folder of folders) {
		await mkdir(path.join(home, folder));
		await writeFile(path.join(home, folder, 'a.txt'), folder);
	}
	// The outermost one is shared neither first nor last.
	for (const folder of [...folders.slice(10), ...folders.slice(0, 10)])
		t.is((await ada.post('/api/shares', { items: [{ path: folder }], mode: 'view' })).statusCode, 201);
	for (let made = 0; made < links; made++)
		json(await ada.post('/api/generateTempLink', { filePath: `${folders.at(-1)}/a.txt`, expiration: '1w' }));

	const reads = new Map<string, number>();
	const { storage } = services;
	const { open, list } = storage;
	const counted = <T extends (at: never) => unknown>(read: T) =>
		((at: never) => {
			reads.set(at, (reads.get(at) ?? 0) + 1);
			return read.call(storage, at);
		}) as T;
	storage.open = counted(open);
	storage.list = counted(list);
	const each = Object.fromEntries(
		folders.flatMap((folder) => [folder, `${folder}/a.txt`]).map((at) => [`users/ada/${at}`, 1]),
	);
	const zip = path.join(await dataFolder(t), 'one.zip');
	const options = { hashesAll: false, configuration: undefined, settings: '' };
	const file = await createFile(zip, false);
	await withProgress({}, (progress) => writeBackup(services, file, options, progress)).finally(() => file.close());
	t.deepEqual(Object.fromEntries([...reads].sort()), each);

	await rename(path.join(home, 'in'), path.join(app.dataDir, 'former'));
	await cp(path.join(app.dataDir, 'former'), path.join(home, 'in'), { recursive: true });
	reads.clear();
	const backup = await openBackup(await openBackupFile(zip), zip);
	const counts = await withProgress({}, (progress) => relinkAll(backup, services, progress)).finally(() =>
		backup.close(),
	);
	t.deepEqual(counts, { bound: depth + links, held: 0, differs: [], unknown: 0, unavailable: [], memberless: [] });
	t.deepEqual(Object.fromEntries([...reads].sort()), each);
});
