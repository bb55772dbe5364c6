import { readdir, readFile, utimes } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { removeVisitorFile, visitorFiles } from '../../packages/core/src/trees/visitorFiles.js';
import { Client, field, file, testApp } from '../../packages/core/test/testApp.js';
import { run } from './program.js';

test.serial(
	'files of visitors are listed and removed by the time of their upload, not by their modification time',
	async (t) => {
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
		t.is(
			(await run(['public', 'purge', '--older-than', '1h', '--yes', ...flags])).stdout,
			'Moved 0 files to the trash.',
		);
		t.deepEqual((await readdir(tree)).sort(), ['b.txt', 'photo.jpg']);
		t.regex((await run(['public', 'purge', '--older-than', 'ages', ...flags])).stderr, /^--older-than: must be/);
		t.is((await run(['public', 'purge', ...flags])).code, 1, '--older-than is required');

		const { storage } = app.services;
		const all = [];
		for await (const each of visitorFiles(storage, Number.POSITIVE_INFINITY)) all.push(each);
		const photo = all.find((each) => each.path === 'photo.jpg');
		if (photo === undefined) return t.fail();
		const another = { ...photo, id: 'another' };
		for (const trash of [undefined, app.services.trashBin.moves])
			t.false((await removeVisitorFile(storage, another, trash)).isRemoved, 'a newer file of the same name is kept');
		t.deepEqual((await readdir(tree)).sort(), ['b.txt', 'photo.jpg']);
		t.deepEqual(await removeVisitorFile(storage, photo), { isRemoved: true });
		t.deepEqual(await removeVisitorFile(storage, photo), { isRemoved: false });
		t.deepEqual(await readdir(tree), ['b.txt']);
		t.deepEqual(await readdir(path.join(app.filesDir, 'users/anonymous')), ['Public']);
	},
);

test.serial(
	'what is removed of visitors is in the trash, from which the administrator restores it or removes it for good',
	async (t) => {
		const app = await testApp(t);
		const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
		const call = async (...words: string[]) => (await run([...words, ...flags])).stdout;
		const tree = path.join(app.filesDir, 'users/anonymous/Public');
		const visitor = new Client(app);
		const bob = new Client(app);
		await bob.register('bob');
		const upload = (name: string) => visitor.upload('/api/upload/public', [file(name, `of ${name}`)]);
		/** The files must have been there for a minute, by a clock that can't be set. */
		const purge = async (...words: string[]) => {
			const { now } = Date;
			Date.now = () => now() + 60 * 60_000;
			try {
				return await call('public', 'purge', '--older-than', '1m', '--yes', ...words);
			} finally {
				Date.now = now;
			}
		};
		await upload('a.txt');
		t.is(await purge(), 'Moved 1 file to the trash.');
		t.deepEqual(await readdir(tree), []);

		t.deepEqual(JSON.parse((await bob.get('/api/trash')).payload).entries, [], 'no user sees it');
		const [kept, ...others] = JSON.parse(await call('trash', 'list', '--public', '--json'));
		t.deepEqual(others, []);
		t.like(kept, { user: null, formerUser: 'anonymous', path: 'Public/a.txt', size: 8, deletedBy: 'administrator' });
		t.regex(await call('trash', 'list'), /\tanonymous\t.*\tPublic\/a\.txt$/);
		t.is(await call('trash', 'list', '--user', 'bob'), '');
		t.regex((await run(['trash', 'list', '--user', 'bob', '--public', ...flags])).stderr, /either --user or --public/);
		t.is((await bob.post('/api/trash/restore', { ids: [kept.id] })).statusCode, 200);
		t.deepEqual(await readdir(tree), [], 'no user restores it');

		await upload('a.txt');
		t.is(await call('trash', 'restore', kept.id), 'Restored a (1).txt of visitors.');
		t.is(await readFile(path.join(tree, 'a (1).txt'), 'utf8'), 'of a.txt');
		t.is((await visitor.get('/api/download/a%20(1).txt')).payload, 'of a.txt');
		t.is(await call('trash', 'list', '--public'), '');

		t.is(await purge(), 'Moved 2 files to the trash.');
		const { id } = JSON.parse(await call('trash', 'list', '--public', '--json'))[0];
		t.is(await call('trash', 'restore', id, '--to', 'bob'), 'Restored Public/a.txt of bob.');
		t.is(await call('trash', 'purge', '--public'), 'Removed 1 item.');
		t.is(await call('trash', 'list'), '');
		await upload('b.txt');
		t.is(await purge('--permanent'), 'Removed 1 file.');
		t.is(await call('trash', 'list'), '');
	},
);

test.serial('what visitors had is known again by the trash after the database was lost, as theirs', async (t) => {
	const app = await testApp(t);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	await new Client(app).upload('/api/upload/public', [file('a.txt', 'A')]);
	const { storage, trashBin, database } = app.services;
	for await (const each of visitorFiles(storage, Number.POSITIVE_INFINITY)) {
		const { trashId = '' } = await removeVisitorFile(storage, each, trashBin.moves);
		await trashBin.close();
		await database.trash.remove([trashId]);
		t.is((await run(['trash', 'recover', ...flags])).stdout, 'local: 1 item listed again.');
		t.is((await run(['trash', 'restore', trashId, ...flags])).stdout, 'Restored a.txt of visitors.');
	}
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/anonymous/Public')), ['a.txt']);
});
