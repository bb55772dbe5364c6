import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parsePath } from '@stowage/rules';
import test from 'ava';
import { Client, testApp } from '../testApp.js';
import { begin, head, patch } from '../tusClient.js';

const content = 'the first half and the second';
const half = 'the first half'.length;

async function* body(text: string): AsyncGenerator<Uint8Array> {
	yield Buffer.from(text);
}

test('a stopped process that continues and publishes its upload while another takes it over leaves one file', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { database, storage } = app.services;
	const location = await begin(ada, content.length, { filename: 'a.txt' });
	t.is((await patch(ada, location, 0, content.slice(0, half))).statusCode, 204);
	const staging = path.join(app.filesDir, '.stowage/staging');

	// The other process has all bytes and the lock, and was stopped right before it published the file.
	const { id: userId } = (await database.users.find('ada')) ?? { id: '' };
	const [row] = await database.uploads.listUnfinished(userId);
	const staged = await storage.stage(row?.stagedId ?? '');
	const lock = await staged.lock?.();
	await staged.append(body(content.slice(half)), half);
	const restage = database.uploads.restage.bind(database.uploads);
	database.uploads.restage = async (...change) => {
		const isChanged = await restage(...change);
		await staged.commit(parsePath('users/ada/a.txt'));
		lock?.release();
		return isChanged;
	};

	const late = await patch(ada, location, half, content.slice(half));
	t.is(late.statusCode, 409, 'all bytes are stored already');
	const known = await head(ada, location);
	t.is(known.headers['upload-offset'], String(content.length));
	t.is(known.headers['stowage-entry-path'], 'a.txt');
	t.deepEqual((await readdir(path.join(app.filesDir, 'users/ada'))).sort(), ['Public', 'a.txt']);
	t.is(await readFile(path.join(app.filesDir, 'users/ada/a.txt'), 'utf8'), content);
	t.deepEqual(await readdir(staging), []);
});

test('who is taken over just before the file is published is told that the upload is in use, and goes on with it', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { database, files, storage } = app.services;
	const location = await begin(ada, content.length, { filename: 'a.txt' });
	const [row] = await database.uploads.listAllUnfinished();
	const publishOnce = files.publishOnce.bind(files);
	files.publishOnce = async (...request) => {
		files.publishOnce = publishOnce;
		const staged = await storage.stage(row?.stagedId ?? '');
		const other = await staged.fork?.(half);
		t.true(await database.uploads.restage(row?.idHash ?? '', staged.id, other?.id ?? ''));
		await staged.discard();
		return publishOnce(...request);
	};
	t.is((await patch(ada, location, 0, content)).statusCode, 423);
	const offset = Number((await head(ada, location)).headers['upload-offset']);
	t.is((await patch(ada, location, offset, content.slice(offset))).statusCode, 204);
	t.is(await readFile(path.join(app.filesDir, 'users/ada/a.txt'), 'utf8'), content);
});
