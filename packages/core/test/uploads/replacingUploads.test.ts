import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { changed, invalid, refusal, replacing, taken } from '../replacing.js';
import { Client, json, testApp } from '../testApp.js';
import { begin, create, head, patch, uploadState } from '../tusClient.js';

const forbidden = [403, 'FORBIDDEN'];

test('a resumable upload that can’t replace its file is refused before its first byte', async (t) => {
	const { app, ada, home, put, assertStagingEmpty } = await replacing(t);
	await put({ 'a.txt': 'old', 'folder/inside': 'x' });
	const refused = async (fields: Record<string, string>, client = ada) => refusal(await create(client, 3, fields));
	t.deepEqual(await refused({ filename: 'a.txt', onConflict: 'fail' }), taken);
	t.deepEqual(await refused({ filename: 'folder', onConflict: 'replace' }), taken);
	t.deepEqual(await refused({ filename: 'a.txt', onConflict: 'replace', ifMatch: '"another"' }), changed);
	t.deepEqual(await refused({ filename: 'none.txt', onConflict: 'replace', ifMatch: '*' }), changed);
	t.deepEqual(await refused({ filename: 'a.txt', ifMatch: '*' }), invalid);
	t.deepEqual(await refused({ filename: 'a.txt', onConflict: 'fail', ifMatch: '*' }), invalid);
	t.deepEqual(await refused({ filename: 'a.txt', onConflict: 'over' }), invalid);
	t.deepEqual(await refused({ filename: 'a.txt', onConflict: 'replace', ifMatch: 'unquoted' }), invalid);
	t.deepEqual(await refused({ filename: 'a.txt', onConflict: 'replace', ifMatch: '"a\0"' }), invalid);
	t.deepEqual(await refused({ filename: 'a.txt', type: 'public', onConflict: 'replace' }, new Client(app)), forbidden);
	t.deepEqual(await readdir(home), ['Public', 'a.txt', 'folder']);
	await assertStagingEmpty();
});

test('a resumable upload replaces its file after a restart too, once, however often its last chunk is sent', async (t) => {
	const { app, ada, home, put, etag, read } = await replacing(t);
	await put({ 'a.txt': 'old' });
	const fields = { filename: 'a.txt', onConflict: 'replace', ifMatch: await etag('a.txt') };
	const key = { 'stowage-upload-key': 'k'.repeat(32) };
	const location = await begin(ada, 6, fields, key);
	await patch(ada, location, 0, 'new');
	await app.stop();
	const again = await testApp(t, { '--data-dir': app.dataDir });
	const after = new Client(again);
	after.cookie = ada.cookie;
	t.is(await read('a.txt'), 'old');

	// The file is replaced, and the process ends before it can record that.
	const { uploads } = again.services.database;
	const { finish } = uploads;
	uploads.finish = () => Promise.reject(new Error('the power went'));
	t.is((await patch(after, location, 3, ' one')).statusCode, 413, 'it was said to have 6 bytes');
	t.is((await patch(after, location, 3, 'est')).statusCode, 500);
	t.is(await read('a.txt'), 'newest');
	uploads.finish = finish;
	for (let n = 0; n < 3; n++) t.deepEqual(uploadState(await head(after, location)), [200, 6, 'a.txt']);
	t.deepEqual(uploadState(await create(after, 6, fields, key)), [201, 6, 'a.txt'], 'its creation is sent again');
	t.is((await patch(after, location, 3, 'est')).statusCode, 409, 'the upload is at its end');
	t.deepEqual(uploadState(await patch(after, location, 6, '')), [204, 6, 'a.txt']);
	t.is(await read('a.txt'), 'newest');
	t.deepEqual(await readdir(home), ['Public', 'a.txt']);
});

test('a file that is replaced while an upload arrives is replaced by it, or not if it has another version than wished', async (t) => {
	const { ada, home, put, etag, read, send, assertStagingEmpty } = await replacing(t);
	await put({ 'a.txt': 'old', 'b.txt': 'old', 'c.txt': 'old' });
	const fields = async (filename: string) => ({ filename, onConflict: 'replace', ifMatch: await etag(filename) });
	const whole = await begin(ada, 3, { filename: 'a.txt', onConflict: 'replace' });
	const stale = await begin(ada, 3, await fields('b.txt'));
	const gone = await begin(ada, 3, await fields('c.txt'));
	const late = await begin(ada, 3, { filename: 'd.txt', onConflict: 'fail' });
	for (const name of ['a.txt', 'b.txt', 'd.txt']) await send(name, 'by somebody else', { onConflict: 'replace' });
	await rm(path.join(home, 'c.txt'));
	t.is((await patch(ada, whole, 0, 'new')).statusCode, 204);
	t.is(await read('a.txt'), 'new');
	for (let n = 0; n < 2; n++) {
		t.deepEqual(refusal(await patch(ada, stale, n === 0 ? 0 : 3, n === 0 ? 'new' : '')), changed);
		t.deepEqual(refusal(await patch(ada, gone, n === 0 ? 0 : 3, n === 0 ? 'new' : '')), changed);
		t.deepEqual(refusal(await patch(ada, late, n === 0 ? 0 : 3, n === 0 ? 'new' : '')), taken);
	}
	t.is((await head(ada, stale)).statusCode, 412);
	t.is(await read('b.txt'), 'by somebody else');
	t.is(await read('d.txt'), 'by somebody else');
	t.deepEqual(await readdir(home), ['Public', 'a.txt', 'b.txt', 'd.txt']);
	// What could not be put there is there once it can be.
	await rm(path.join(home, 'd.txt'));
	t.deepEqual(uploadState(await head(ada, late)), [200, 3, 'd.txt']);
	for (const location of [stale, gone]) await ada.call('DELETE', location, undefined, { 'tus-resumable': '1.0.0' });
	await assertStagingEmpty();
});

test('an upload that two servers publish at once replaces its file once', async (t) => {
	const { app, ada, home, put, etag, read, assertStagingEmpty } = await replacing(t);
	const other = new Client(await testApp(t, { '--data-dir': app.dataDir }));
	other.cookie = ada.cookie;
	await put({ 'a.txt': 'old' });
	for (let n = 0; n < 20; n++) {
		const location = await begin(ada, 1, { filename: 'a.txt', onConflict: 'replace', ifMatch: await etag('a.txt') });
		await patch(ada, location, 0, '');
		const answers = await Promise.all([ada, other].map((client) => patch(client, location, 0, 'x')));
		// Whoever was later finds the upload in use or at its end.
		for (const { statusCode, payload } of answers) t.true([204, 409, 423].includes(statusCode), payload);
		t.deepEqual(uploadState(await head(other, location)), [200, 1, 'a.txt']);
		t.is(await read('a.txt'), 'x');
	}
	t.deepEqual(await readdir(home), ['Public', 'a.txt']);
	t.is(json(await ada.get('/api/browse?type=private')).entries.length, 2);
	await assertStagingEmpty();
});
