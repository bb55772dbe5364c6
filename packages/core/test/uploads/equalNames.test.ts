import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { Client, file, json, type TestApp, testApp } from '../testApp.js';

/** Counts the calls of the storage that give an item a name. */
function countNaming({
	services: {
		roots: {
			first: { storage },
		},
	},
}: TestApp) {
	const counts = { commits: 0, moves: 0, copies: 0 };
	const { stage, move, copy } = storage;
	storage.stage = async (id) => {
		const staged = await stage.call(storage, id);
		const commit = staged.commit.bind(staged);
		staged.commit = (...args) => {
			counts.commits++;
			return commit(...args);
		};
		return staged;
	};
	storage.move = (...args) => {
		counts.moves++;
		return move.apply(storage, args);
	};
	storage.copy = (...args) => {
		counts.copies++;
		return copy.apply(storage, args);
	};
	return counts;
}

const filesOfOneName = (count: number) => Array.from({ length: count }, (_, n) => file('same.txt', `content ${n}`));

test('each of many files of one name in a form is published by one commit, and a copy or move by one call', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const counts = countNaming(app);
	const { entries } = json(await ada.upload('/api/upload', filesOfOneName(200)));
	t.is(counts.commits, 200);
	const names = entries.map(({ name }: { name: string }) => name);
	t.deepEqual(names, ['same.txt', ...Array.from({ length: 199 }, (_, n) => `same (${n + 1}).txt`)]);
	for (const [n, name] of names.entries()) {
		if (n % 20 === 0) t.is(await readFile(path.join(app.filesDir, 'users/ada', name), 'utf8'), `content ${n}`);
	}
	const again = json(await ada.upload('/api/upload', filesOfOneName(2)));
	t.deepEqual(
		again.entries.map(({ name }: { name: string }) => name),
		['same (200).txt', 'same (201).txt'],
	);
	t.is(counts.commits, 202);
	await ada.post('/api/copyItem', { fromPath: 'same.txt', toPath: 'same.txt', type: 'private' });
	await ada.post('/api/createFolder', { directory: '', folderName: 'b', type: 'private' });
	await ada.post('/api/moveItem', { fromPath: 'same (5).txt', toPath: 'b/same.txt', type: 'private' });
	await ada.post('/api/moveItem', { fromPath: 'b/same.txt', toPath: 'same.txt', type: 'private' });
	t.deepEqual(counts, { commits: 202, moves: 2, copies: 1 });
	const kept = await readdir(path.join(app.filesDir, 'users/ada'));
	t.true(
		kept.includes('same (202).txt') && kept.includes('same (5).txt'),
		'the copy gets the next number, and the file that is moved back the free one',
	);
});

test('a form of files of one name that is retried with its key returns what was published', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', filesOfOneName(30));
	const key = { 'stowage-upload-key': 'k'.repeat(22) };
	const first = json(await ada.upload('/api/upload', filesOfOneName(30), key));
	const counts = countNaming(app);
	t.deepEqual(json(await ada.upload('/api/upload', filesOfOneName(30), key)).entries, first.entries);
	t.is(counts.commits, 0);
	t.is((await readdir(path.join(app.filesDir, 'users/ada'))).length, 61);
});

test('a form of more files of one name than there are free names is refused as a whole', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	for (let n = 0; n < 999; n++) await writeFile(path.join(home, n === 0 ? 'same.txt' : `same (${n}).txt`), '');
	const refused = await ada.upload('/api/upload', filesOfOneName(3));
	t.deepEqual([refused.statusCode, json(refused).code], [409, 'ALREADY_EXISTS']);
	t.is((await ada.upload('/api/upload', filesOfOneName(2))).statusCode, 200);
	const names = await readdir(home);
	t.is(names.length, 1002);
	t.true(names.includes('same (copy).txt'));
});
