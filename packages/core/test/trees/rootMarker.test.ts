import { readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { Client, file, json, testApp } from '../testApp.js';

test('a root whose marker is removed or replaced while the server runs is answered 503 and not written, until it is restored', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const marker = path.join(app.filesDir, '.stowage/root.json');
	await rename(marker, path.join(app.dataDir, 'kept.json'));
	const tryAll = async () => {
		t.is((await ada.upload('/api/upload', [file('a.txt', 'x')])).statusCode, 503);
		t.is((await ada.post('/api/createFolder', { directory: '', folderName: 'f', type: 'private' })).statusCode, 503);
		t.is((await ada.get('/api/browse?type=private')).statusCode, 503);
		t.is((await ada.get('/api/ready')).statusCode, 503);
	};
	await tryAll();
	await writeFile(marker, JSON.stringify({ id: '0'.repeat(32) }));
	await tryAll();
	await rename(path.join(app.dataDir, 'kept.json'), marker);
	t.deepEqual(
		json(await ada.get('/api/browse?type=private')).entries.map(({ name }: { name: string }) => name),
		['Public'],
	);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada')), ['Public']);
});
