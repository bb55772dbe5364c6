import { readdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { removeVisitorFile, visitorFiles } from '../../packages/core/src/trees/visitorFiles.js';
import { Client, field, file, testApp } from '../../packages/core/test/testApp.js';
import { run } from './program.js';

test('files of visitors are listed and removed by the time of their upload, not by their modification time', async (t) => {
	const app = await testApp(t);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const visitor = new Client(app);
	await visitor.upload('/api/upload/public', [file('photo.jpg', 'old')]);
	await visitor.upload('/api/upload/public', [field('directory', ''), file('b.txt', 'B')]);
	const tree = path.join(app.filesDir, 'users/anonymous/Public');
	const longAgo = new Date('2001-02-03');
	await utimes(path.join(tree, 'photo.jpg'), longAgo, longAgo);
	const listed = JSON.parse((await run(['public', 'list', '--json', ...flags])).stdout) as { path: string }[];
	t.deepEqual(listed.map((each) => each.path).sort(), ['b.txt', 'photo.jpg']);
	t.is((await run(['public', 'list', '--older-than', '1h', ...flags])).stdout, '', 'both were uploaded just now');
	t.is((await run(['public', 'purge', '--older-than', '1h', '--yes', ...flags])).stdout, 'Removed 0.');
	t.deepEqual((await readdir(tree)).sort(), ['b.txt', 'photo.jpg']);
	t.regex((await run(['public', 'purge', '--older-than', 'ages', ...flags])).stderr, /^--older-than: must be/);
	t.is((await run(['public', 'purge', ...flags])).code, 1, '--older-than is required');

	const { storage } = app.services;
	const all = [];
	for await (const each of visitorFiles(storage, Number.POSITIVE_INFINITY)) all.push(each);
	const photo = all.find((each) => each.path === 'photo.jpg');
	if (photo === undefined) return t.fail();
	t.false(await removeVisitorFile(storage, { ...photo, id: 'another' }), 'a newer file of the same name is kept');
	t.deepEqual((await readdir(tree)).sort(), ['b.txt', 'photo.jpg']);
	t.true(await removeVisitorFile(storage, photo));
	t.false(await removeVisitorFile(storage, photo));
	t.deepEqual(await readdir(tree), ['b.txt']);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/anonymous')), ['Public']);
});
