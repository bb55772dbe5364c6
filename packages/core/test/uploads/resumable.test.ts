import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { Failure } from '@stowage/rules';
import test from 'ava';
import { Client, json, setDiskClock, testApp } from '../testApp.js';
import { begin, checksum, create, head, metadata, patch, remove, uploadState } from '../tusClient.js';

/** All clocks of the server, ahead by the same time. */
const clocksAhead = (ahead: () => number) => ({
	now: () => Date.now() + ahead(),
	monotonic: () => performance.now() + ahead(),
});

const staged = (filesDir: string) => readdir(path.join(filesDir, '.stowage/staging'));

test('a file is uploaded in chunks, and is visible only after the last one', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	const begun = await create(ada, 11, { filename: 'ä b.txt', lastModified: '1700000000123' });
	t.deepEqual(uploadState(begun), [201, 0, undefined]);
	t.is(begun.headers['tus-resumable'], '1.0.0');
	const location = String(begun.headers.location);
	t.regex(location, /^\/api\/uploads\/[\w-]{43}$/);
	t.deepEqual(uploadState(await patch(ada, location, 0, 'hello ')), [204, 6, undefined]);
	t.deepEqual(await readdir(home), ['Public']);
	const seen = await head(ada, location);
	t.deepEqual(uploadState(seen), [200, 6, undefined]);
	t.is(seen.headers['upload-length'], '11');
	t.is(seen.headers['cache-control'], 'private, no-store');
	t.is(seen.headers['upload-metadata'], metadata({ filename: 'ä b.txt', lastModified: '1700000000123' }));
	t.deepEqual(uploadState(await patch(ada, location, 6, 'world')), [204, 11, '%C3%A4%20b.txt']);
	t.is(await readFile(path.join(home, 'ä b.txt'), 'utf8'), 'hello world');
	t.is(Math.round((await stat(path.join(home, 'ä b.txt'))).mtimeMs), 1_700_000_000_123);
	t.deepEqual(uploadState(await head(ada, location)), [200, 11, '%C3%A4%20b.txt']);
	t.deepEqual(await staged(app.filesDir), []);
});

test('a finished upload cannot be changed by its id', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const location = await begin(ada, 3, { filename: 'a' });
	await patch(ada, location, 0, 'abc');
	t.deepEqual(uploadState(await patch(ada, location, 3, '')), [204, 3, 'a']);
	t.is((await patch(ada, location, 0, 'xyz')).statusCode, 409);
	t.is((await patch(ada, location, 3, 'more')).statusCode, 413);
	t.is((await remove(ada, location)).statusCode, 204);
	t.is((await head(ada, location)).statusCode, 404);
	t.is(await readFile(path.join(app.filesDir, 'users/ada/a'), 'utf8'), 'abc');
});

test('a creation may contain the first bytes, and an empty file is published at once', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	t.deepEqual(uploadState(await create(ada, 3, { filename: 'a' }, {}, 'abc')), [201, 3, 'a']);
	t.deepEqual(uploadState(await create(ada, 0, { filename: 'empty' })), [201, 0, 'empty']);
	t.deepEqual(uploadState(await create(ada, 0, { filename: 'empty' })), [201, 0, 'empty%20(1)']);
	const half = await create(ada, 6, { filename: 'half' }, checksum('abc'), 'abc');
	t.deepEqual(uploadState(half), [201, 3, undefined]);
	t.deepEqual(uploadState(await patch(ada, String(half.headers.location), 3, 'def')), [204, 6, 'half']);
	t.is(await readFile(path.join(app.filesDir, 'users/ada/half'), 'utf8'), 'abcdef');
	t.is((await create(ada, 3, { filename: 'b' }, checksum('xyz'), 'abc')).statusCode, 460);
	t.is((await create(ada, 2, { filename: 'b' }, {}, 'abc')).statusCode, 413);
	t.is((await create(ada, 3, { filename: 'b' }, { 'content-type': 'text/plain' }, 'abc')).statusCode, 415);
	t.deepEqual(await staged(app.filesDir), []);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada')), ['Public', 'a', 'empty', 'empty (1)', 'half']);
});

test('a chunk with a wrong checksum is dropped and can be sent again', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const location = await begin(ada, 6, { filename: 'a' });
	t.deepEqual(uploadState(await patch(ada, location, 0, 'abc', checksum('abc', 'sha1'))), [204, 3, undefined]);
	const damaged = await patch(ada, location, 3, 'dXf', checksum('def'));
	t.is(damaged.statusCode, 460);
	t.is(json(damaged).code, 'CHECKSUM_MISMATCH');
	t.is(damaged.headers['tus-resumable'], '1.0.0');
	t.deepEqual(uploadState(await head(ada, location)), [200, 3, undefined]);
	for (const wrong of ['md5 AAAA', 'sha256', 'sha256 AAAA', '']) {
		t.is((await patch(ada, location, 3, 'def', { 'upload-checksum': wrong })).statusCode, 400, wrong);
	}
	t.deepEqual(uploadState(await patch(ada, location, 3, 'def', checksum('def'))), [204, 6, 'a']);
	t.is(await readFile(path.join(app.filesDir, 'users/ada/a'), 'utf8'), 'abcdef');
});

test('requests that violate the protocol are refused and leave nothing', async (t) => {
	const app = await testApp(t, { '--uploads-max-file-size': '100' });
	const ada = await new Client(app).register('ada');
	const visitor = new Client(app);
	const status = async (client: Client, fields: Record<string, string>, headers = {}, length = 3) =>
		(await create(client, length, fields, headers)).statusCode;
	const ok = { filename: 'a' };
	t.is(await status(ada, ok, { 'tus-resumable': '0.2.2' }), 412);
	t.is((await ada.call('POST', '/api/uploads', undefined, { 'upload-length': '3' })).headers['tus-version'], '1.0.0');
	t.is(await status(ada, ok, { 'upload-length': '-3' }), 400);
	t.is(await status(ada, ok, { 'upload-length': '99999999999999999999' }), 400);
	t.is(await status(ada, ok, { 'upload-defer-length': '1' }), 400);
	t.is(await status(ada, ok, { 'upload-concat': 'partial' }), 400);
	t.is(await status(ada, ok, {}, 101), 413);
	t.is(await status(ada, {}), 400);
	t.is(await status(ada, { filename: 'a/b' }), 400);
	t.is(await status(ada, { filename: ' ' }), 400);
	t.is(await status(ada, { ...ok, directory: '../bob' }), 400);
	t.is(await status(ada, { ...ok, directory: 'nowhere' }), 404);
	t.is(await status(ada, { ...ok, type: 'secret' }), 400);
	t.is(await status(ada, { ...ok, type: 'public', isPublic: 'false' }), 400);
	t.is(await status(ada, { ...ok, lastModified: 'today' }), 400);
	for (const wrong of ['filename YQ==,filename Yg==', 'filename !!', 'filename /w==', 'filename YQ== YQ==', ',']) {
		t.is(await status(ada, {}, { 'upload-metadata': wrong }), 400, wrong);
	}
	t.is(await status(visitor, { ...ok, type: 'private' }), 401);
	t.is(await status(visitor, { ...ok, directory: 'docs' }), 403);
	t.is(await status(ada, ok, { 'sec-fetch-site': 'cross-site' }), 403);
	t.is((await head(ada, '/api/uploads/unknown')).statusCode, 404);
	t.deepEqual(await staged(app.filesDir), []);

	const location = await begin(ada, 3, ok);
	t.is((await patch(ada, location, 1, 'bc')).statusCode, 409);
	t.is((await patch(ada, location, 0, 'abcd')).statusCode, 413);
	t.is((await patch(ada, location, 0, 'abc', { 'content-type': 'text/plain' })).statusCode, 415);
	t.is((await ada.call('PATCH', location, 'abc', { 'tus-resumable': '1.0.0' })).statusCode, 415);
	t.deepEqual(uploadState(await patch(ada, location, 0, 'abc')), [204, 3, 'a']);
});

test('OPTIONS returns the version, extensions and limits of the protocol without an account', async (t) => {
	const app = await testApp(t, { '--uploads-max-file-size': '5 MB' });
	for (const url of ['/api/uploads', '/api/uploads/any']) {
		const { statusCode, headers } = await new Client(app).call('OPTIONS', url);
		t.is(statusCode, 204);
		t.is(headers['tus-version'], '1.0.0');
		t.is(headers['tus-extension'], 'creation,creation-with-upload,termination,expiration,checksum');
		t.is(headers['tus-checksum-algorithm'], 'sha256,sha1');
		t.is(headers['tus-max-size'], String(5 * 1024 * 1024));
		t.is(headers['access-control-allow-origin'], undefined);
	}
});

test('an upload belongs to its user, and a visitor’s upload to any client with its id', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	const visitor = new Client(app);
	const location = await begin(ada, 3, { filename: 'a' });
	for (const call of [head(bob, location), patch(bob, location, 0, 'abc'), remove(bob, location)]) {
		t.is((await call).statusCode, 404);
	}
	for (const call of [head(visitor, location), patch(visitor, location, 0, 'abc'), remove(visitor, location)]) {
		t.is((await call).statusCode, 401);
	}
	await ada.get('/api/logout');
	await ada.post('/api/login', { username: 'ada', password: 'correct horse' });
	t.deepEqual(uploadState(await patch(ada, location, 0, 'abc')), [204, 3, 'a']);

	const open = await begin(visitor, 3, { filename: 'open.txt' });
	t.deepEqual(uploadState(await patch(visitor, open, 0, 'a')), [204, 1, undefined]);
	t.deepEqual(uploadState(await patch(bob, open, 1, 'bc')), [204, 3, 'open.txt']);
	t.is(await readFile(path.join(app.filesDir, 'users/anonymous/Public/open.txt'), 'utf8'), 'abc');
});

test('an upload without an area is private for a user, refused for an ended session and public for a visitor', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { cookie } = ada;
	t.is(uploadState(await create(ada, 1, { filename: 'a' }, {}, 'x'))[2], 'a');
	await ada.get('/api/logout');
	ada.cookie = cookie;
	t.is((await create(ada, 1, { filename: 'b' }, {}, 'x')).statusCode, 401);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada')), ['Public', 'a']);
	t.is((await create(new Client(app), 1, { filename: 'c' }, {}, 'x')).statusCode, 201);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/anonymous/Public')), ['c']);
});

test('a file is stored in the requested area and directory', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.post('/api/createFolder', { directory: '', folderName: 'docs', type: 'public' });
	const put = async (fields: Record<string, string>) => uploadState(await create(ada, 1, fields, {}, 'x'))[2];
	t.is(await put({ filename: '1', type: 'public', directory: 'docs' }), 'docs/1');
	t.is(await put({ filename: '2', isPublic: 'true' }), '2');
	t.is(
		await put({ filename: '3', isPublic: 'false', directory: 'Public/docs', relativePath: 'x', filetype: 'y' }),
		'Public/docs/3',
	);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada/Public')), ['2', 'docs']);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada/Public/docs')), ['1', '3']);
});

test('PATCH and DELETE can be sent as POST with a method override, HEAD can’t', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const location = await begin(ada, 3, { filename: 'a' });
	const override = (method: string, headers = {}, body?: string) =>
		ada.call('POST', location, body, { 'tus-resumable': '1.0.0', 'x-http-method-override': method, ...headers });
	const chunkHeaders = { 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' };
	t.deepEqual(uploadState(await override('PATCH', chunkHeaders, 'ab')), [204, 2, undefined]);
	t.is((await override('HEAD')).statusCode, 405);
	t.is((await override('DELETE')).statusCode, 204);
	t.is((await head(ada, location)).statusCode, 404);
	t.deepEqual(await staged(app.filesDir), []);
});

test('a failed commit is an error, is retried by later requests and never makes a second file', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.post('/api/createFolder', { directory: '', folderName: 'docs', type: 'private' });
	const location = await begin(ada, 3, { filename: 'a', directory: 'docs' });
	const home = path.join(app.filesDir, 'users/ada');
	await rename(path.join(home, 'docs'), path.join(home, 'away'));
	t.is((await patch(ada, location, 0, 'abc')).statusCode, 404);
	t.is((await head(ada, location)).statusCode, 404);
	t.is((await patch(ada, location, 3, '')).statusCode, 404);
	await rename(path.join(home, 'away'), path.join(home, 'docs'));
	await writeFile(path.join(home, 'docs/a'), 'mine');
	t.deepEqual(uploadState(await head(ada, location)), [200, 3, 'docs/a%20(1)']);
	t.deepEqual(uploadState(await patch(ada, location, 3, '')), [204, 3, 'docs/a%20(1)']);
	t.deepEqual(await readdir(path.join(home, 'docs')), ['a', 'a (1)']);
});

test('a file that was published before its upload could be marked as finished is found again', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	await writeFile(path.join(home, 'a.txt'), 'older');
	const { uploads } = app.services.database;
	const { finish } = uploads;
	uploads.finish = () => Promise.reject(new Error('the power went'));
	const location = await begin(ada, 6, { filename: 'a.txt' });
	t.is((await patch(ada, location, 0, 'abcdef')).statusCode, 500);
	t.deepEqual(await readdir(home), ['Public', 'a (1).txt', 'a.txt']);
	uploads.finish = finish;
	// The first name is free again: that must not make a second file.
	await rm(path.join(home, 'a.txt'));
	t.deepEqual(uploadState(await head(ada, location)), [200, 6, 'a%20(1).txt']);
	t.deepEqual(await readdir(home), ['Public', 'a (1).txt']);
});

test('a creation that is retried with its key returns the same upload with its offset', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	const key = { 'stowage-upload-key': 'k'.repeat(22) };
	const first = await create(ada, 6, { filename: 'a' }, key, 'abc');
	const again = await create(ada, 6, { filename: 'a' }, key, 'abc');
	t.deepEqual(uploadState(again), [201, 3, undefined]);
	t.is(again.headers.location, first.headers.location);
	await patch(ada, String(first.headers.location), 3, 'def');
	t.deepEqual(uploadState(await create(ada, 6, { filename: 'a' }, key, 'abc')), [201, 6, 'a']);
	t.deepEqual(uploadState(await create(bob, 6, { filename: 'a' }, key, 'abc')), [201, 3, undefined]);
	t.is((await create(ada, 6, { filename: 'a' }, { 'stowage-upload-key': 'short' })).statusCode, 400);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada')), ['Public', 'a']);
});

test('an abandoned upload expires with its staged file', async (t) => {
	let ahead = 0;
	const app = await testApp(
		t,
		{ '--uploads-expire-after': '2 hours' },
		clocksAhead(() => ahead),
	);
	const ada = await new Client(app).register('ada');
	const begun = await create(ada, 3, { filename: 'a' });
	const location = String(begun.headers.location);
	const expires = Date.parse(String(begun.headers['upload-expires']));
	t.true(Math.abs(expires - Date.now() - 2 * 3_600_000) < 60_000);
	const { resumableUploads } = app.services;
	await resumableUploads.sweep();
	t.deepEqual(uploadState(await patch(ada, location, 0, 'a')), [204, 1, undefined]);
	ahead = 3 * 3_600_000;
	const expired = await head(ada, location);
	t.is(expired.statusCode, 410);
	await resumableUploads.sweep();
	t.deepEqual(await staged(app.filesDir), []);
	t.is((await patch(ada, location, 1, 'bc')).statusCode, 410);
	ahead = 6 * 3_600_000;
	await resumableUploads.sweep();
	t.is((await head(ada, location)).statusCode, 404);
});

test('what is being written is not swept by a server whose database has a clock that is days ahead of the disk’s', async (t) => {
	const app = await testApp(t, {}, { now: () => Date.now() + 3 * 24 * 3_600_000 });
	const { resumableUploads, storage, roots } = app.services;
	const written = await storage.stage();
	await written.append(Readable.from([Buffer.from('half of a film')]), 0);
	const copies = path.join(app.filesDir, 'copies');
	await mkdir(path.join(copies, 'a'.repeat(32)), { recursive: true });
	await resumableUploads.sweep();
	t.is(await written.size(), 'half of a film'.length);
	t.deepEqual(await readdir(copies), ['a'.repeat(32)]);
	// A disk that is full can't be asked.
	Object.assign(roots.first.storage, {
		currentTime: () => Promise.reject(new Failure('storageFull', 'The disk is full.')),
	});
	await resumableUploads.sweep();
	await t.throwsAsync(written.size());
	t.deepEqual(await readdir(copies), []);
});

test('what a crash has left of a form or of a copied file is swept after a day, and an upload waits for its client', async (t) => {
	let ahead = 0;
	const app = await testApp(
		t,
		{},
		clocksAhead(() => ahead),
	);
	setDiskClock(app, () => Date.now() + ahead);
	const ada = await new Client(app).register('ada');
	const location = await begin(ada, 3, { filename: 'a' });
	await patch(ada, location, 0, 'ab');
	const known = await staged(app.filesDir);
	const { resumableUploads, storage } = app.services;
	const left = await storage.stage();
	await left.append(Readable.from([Buffer.from('half of a film')]), 0);
	t.is((await staged(app.filesDir)).length, 2);
	ahead = 23 * 3_600_000;
	await resumableUploads.sweep();
	t.is((await staged(app.filesDir)).length, 2);
	ahead = 25 * 3_600_000;
	await resumableUploads.sweep();
	t.deepEqual(await staged(app.filesDir), known);
	t.deepEqual(uploadState(await patch(ada, location, 2, 'c')), [204, 3, 'a']);
});

test('an upload in use survives a clock that is set ahead by years', async (t) => {
	let ahead = 0;
	const app = await testApp(t, {}, { now: () => Date.now() + ahead });
	const visitor = new Client(app);
	const location = await begin(visitor, 3, { filename: 'a' });
	t.deepEqual(uploadState(await patch(visitor, location, 0, 'a')), [204, 1, undefined]);
	const finished = await begin(visitor, 1, { filename: 'b' });
	await patch(visitor, finished, 0, 'b');
	ahead = 50 * 365 * 24 * 3_600_000;
	t.is((await head(visitor, location)).statusCode, 200);
	t.deepEqual(uploadState(await head(visitor, finished)), [200, 1, 'b']);
	await app.services.resumableUploads.sweep();
	t.is((await head(visitor, finished)).statusCode, 404);
	t.deepEqual(uploadState(await patch(visitor, location, 1, 'b')), [204, 2, undefined]);
	ahead = 0;
	await app.services.resumableUploads.sweep();
	t.deepEqual(uploadState(await patch(visitor, location, 2, 'c')), [204, 3, 'a']);
});

test('the location of an upload includes the base path', async (t) => {
	const app = await testApp(t, { '--base-path': '/files' });
	const visitor = new Client(app);
	const answer = await visitor.call('POST', '/files/api/uploads', undefined, {
		'tus-resumable': '1.0.0',
		'upload-length': '3',
		'upload-metadata': metadata({ filename: 'a' }),
	});
	t.regex(String(answer.headers.location), /^\/files\/api\/uploads\/[\w-]{43}$/);
	t.deepEqual(uploadState(await patch(visitor, String(answer.headers.location), 0, 'abc')), [204, 3, 'a']);
});

test('an expired upload that can’t be discarded does not keep others from being swept', async (t) => {
	let ahead = 0;
	const app = await testApp(
		t,
		{ '--uploads-expire-after': '2 hours' },
		clocksAhead(() => ahead),
	);
	const ada = await new Client(app).register('ada');
	const stuck = await begin(ada, 3, { filename: 'a' });
	const [stuckName = ''] = await staged(app.filesDir);
	await begin(ada, 3, { filename: 'b' });
	ahead = 3 * 3_600_000;
	const { resumableUploads, storage } = app.services;
	const { stage } = storage;
	storage.stage = async (id) => {
		const file = await stage.call(storage, id);
		if (id?.startsWith(stuckName)) file.discard = () => Promise.reject(new Failure('forbidden', 'That is not ours.'));
		return file;
	};
	await resumableUploads.sweep();
	t.deepEqual(await staged(app.filesDir), [stuckName]);
	storage.stage = stage;
	await resumableUploads.sweep();
	t.deepEqual(await staged(app.filesDir), []);
	t.is((await head(ada, stuck)).statusCode, 410);
});

test('expired uploads of a disk that is away keep none of another disk from being swept, however many they are', async (t) => {
	let ahead = 0;
	const app = await testApp(
		t,
		{ '--uploads-expire-after': '2 hours' },
		clocksAhead(() => ahead),
	);
	const ada = await new Client(app).register('ada');
	const { resumableUploads, storage, database } = app.services;
	const begun = await begin(ada, 3, { filename: 'a' });
	const [own] = await database.uploads.listAllUnfinished();
	if (own === undefined) throw new Error('No upload was begun.');
	for (let n = 0; n < 250; n++)
		await database.uploads.add(`away ${n}`, { ...own, stagedId: `away~${n}`, expiresAt: own.expiresAt - 1 });
	ahead = 3 * 3_600_000;
	const { stage, rootOfStaged } = storage;
	let asked = 0;
	storage.rootOfStaged = (id) => (id.startsWith('away~') ? 'away' : rootOfStaged.call(storage, id));
	storage.stage = async (id) => {
		if (!id?.startsWith('away~')) return stage.call(storage, id);
		asked++;
		throw new Failure('unavailable', 'The storage is not available right now.');
	};
	await resumableUploads.sweep();
	t.deepEqual(await staged(app.filesDir), []);
	t.is((await head(ada, begun)).statusCode, 410);
	t.is(asked, 1);
	t.is(await database.uploads.countStaged('away~'), 250);
});
