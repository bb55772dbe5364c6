import { randomBytes } from 'node:crypto';
import { link, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Failure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { openEvents } from '../openEvents.js';
import { changed, fieldsOf, invalid, refusal, replacing, taken } from '../replacing.js';
import { type Answer, Client, field, file, json, recordsOf, testApp } from '../testApp.js';
import { create } from '../tusClient.js';
import { until } from '../until.js';

test('an upload replaces the file of its name if it is to, and fails if that is wished', async (t) => {
	const { home, put, read, send, assertStagingEmpty } = await replacing(t);
	await put({ 'a.txt': 'old' });
	t.deepEqual(refusal(await send('a.txt', 'other', { onConflict: 'fail' })), taken);
	t.is(await read('a.txt'), 'old');
	await assertStagingEmpty();

	const replaced = await send('a.txt', 'new one', { onConflict: 'replace' });
	t.is(replaced.statusCode, 200);
	t.like(json(replaced).entries, [{ path: 'a.txt', size: 7 }]);
	t.is(await read('a.txt'), 'new one');

	t.is(json(await send('b.txt', 'b', { onConflict: 'replace' })).entries[0].path, 'b.txt', 'there was none');
	t.is(json(await send('c.txt', 'c', { onConflict: 'fail' })).entries[0].path, 'c.txt');
	t.is(json(await send('a.txt', 'third', { onConflict: 'rename' })).entries[0].path, 'a (1).txt');
	t.deepEqual(await readdir(home), ['Public', 'a (1).txt', 'a.txt', 'b.txt', 'c.txt']);
	await assertStagingEmpty();
});

test('with ifMatch a file is replaced only as its ETag has it', async (t) => {
	const { put, read, send, etag, assertStagingEmpty } = await replacing(t);
	await put({ 'a.txt': 'old' });
	const seen = await etag('a.txt');
	const save = (content: string, ifMatch: string) => send('a.txt', content, { onConflict: 'replace', ifMatch });
	t.is((await save('first', seen)).statusCode, 200);
	t.deepEqual(refusal(await save('second', seen)), changed, 'it has another version by now');
	t.is(await read('a.txt'), 'first');
	await put({ 'a.txt': 'by another program' });
	t.deepEqual(refusal(await save('second', seen)), changed);
	t.is((await save('second', `"none", W/${await etag('a.txt')}`)).statusCode, 200, 'a proxy has made it weak');
	t.is((await save('third', '*')).statusCode, 200);
	t.is(await read('a.txt'), 'third');

	const other = await send('b.txt', 'b', { onConflict: 'replace', ifMatch: '*' });
	t.deepEqual(refusal(other), changed, 'there is no such file');
	t.deepEqual(refusal(await send('a.txt', 'x', { ifMatch: seen })), invalid, 'it is to be renamed');
	t.deepEqual(refusal(await send('a.txt', 'x', { onConflict: 'fail', ifMatch: seen })), invalid);
	for (const ifMatch of ['', 'unquoted', '"a" "b"', seen.slice(1)])
		t.deepEqual(refusal(await save('x', ifMatch)), invalid, ifMatch);
	t.deepEqual(refusal(await send('a.txt', 'x', { onConflict: 'overwrite' })), invalid);
	t.is(await read('a.txt'), 'third');
	await assertStagingEmpty();
});

test('a form of several files is checked as a whole before one of them is published', async (t) => {
	const { ada, home, put, read, assertStagingEmpty } = await replacing(t);
	await put({ 'a.txt': 'old a', 'c.txt/inside': 'a folder of that name' });
	const form = (fields: Record<string, string>, ...names: string[]) =>
		ada.upload('/api/upload', [...fieldsOf(fields), ...names.map((name) => file(name, `new ${name}`))]);
	t.deepEqual(refusal(await form({ onConflict: 'fail' }, 'b.txt', 'd.txt', 'a.txt')), taken);
	t.deepEqual(refusal(await form({ onConflict: 'replace' }, 'a.txt', 'b.txt', 'c.txt')), taken);
	t.deepEqual(
		refusal(await form({ onConflict: 'replace' }, 'b.txt', 'b.txt')),
		invalid,
		'they would replace each other',
	);
	t.deepEqual(refusal(await form({ onConflict: 'fail' }, 'b.txt', 'b.txt')), taken);
	t.deepEqual(refusal(await form({ onConflict: 'replace', ifMatch: '*' }, 'a.txt', 'b.txt')), invalid);
	t.deepEqual(await readdir(home), ['Public', 'a.txt', 'c.txt']);
	t.is(await read('a.txt'), 'old a');
	const answer = await form({ onConflict: 'replace' }, 'a.txt', 'b.txt');
	t.deepEqual(
		json(answer).entries.map((entry: { path: string }) => entry.path),
		['a.txt', 'b.txt'],
		'in the order of the form',
	);
	t.is(await read('a.txt'), 'new a.txt');
	await assertStagingEmpty();
});

/** A form of three files, of which two replace others and the last one can't be published at first. */
async function failingForm(t: ExecutionContext, flags: Record<string, string>) {
	const fixture = await replacing(t, flags);
	const { app, ada, put } = fixture;
	await put({ 'a.txt': 'old a', 'b.txt': 'old b' });
	const { storage } = app.services.roots.first;
	const stage = storage.stage.bind(storage);
	const failure = { isOver: false };
	storage.stage = async (id) => {
		const staged = await stage(id);
		const commit = staged.commit.bind(staged);
		staged.commit = (to, options) => {
			if (to.endsWith('/b.txt') && !failure.isOver) throw new Failure('storageFull', 'The storage is full.');
			return commit(to, options);
		};
		return staged;
	};
	const key = randomBytes(16).toString('hex');
	const parts = ['a.txt', 'n.txt', 'b.txt'].map((name) => file(name, `new ${name}`));
	const send = () =>
		ada.upload('/api/upload', [field('onConflict', 'replace'), ...parts], { 'stowage-upload-key': key });
	return { ...fixture, failure, send };
}

test('a form whose last replacement fails keeps nothing, and what it has replaced is there again', async (t) => {
	const { app, ada, home, read, failure, send, assertStagingEmpty } = await failingForm(t, {
		'--quotas-user-bytes': '100 KB',
	});
	const versions = async () => json(await ada.get('/api/versions/a.txt')).versions.length;
	const used = () =>
		until('the quota is known', async () => json(await ada.get('/api/checkLoginStatus')).quota?.used as number);
	t.is(await used(), 10);
	t.is((await send()).statusCode, 507);
	t.deepEqual(await readdir(home), ['Public', 'a.txt', 'b.txt']);
	t.deepEqual([await read('a.txt'), await read('b.txt')], ['old a', 'old b']);
	t.is(await versions(), 0);
	await app.services.trashBin.removePurged();
	t.is(await used(), 10);
	await assertStagingEmpty();
	failure.isOver = true;
	t.is((await send()).statusCode, 200, 'it is sent again');
	t.deepEqual(await readdir(home), ['Public', 'a.txt', 'b.txt', 'n.txt']);
	t.deepEqual([await read('a.txt'), await read('b.txt')], ['new a.txt', 'new b.txt']);
	t.is(await versions(), 1);
	await assertStagingEmpty();
});

test('where no versions are kept a form whose last replacement fails keeps what has replaced a file, and no other', async (t) => {
	const { home, read, failure, send, assertStagingEmpty } = await failingForm(t, { '--versions-keep-for': '0' });
	t.is((await send()).statusCode, 507);
	t.deepEqual(await readdir(home), ['Public', 'a.txt', 'b.txt']);
	t.deepEqual([await read('a.txt'), await read('b.txt')], ['new a.txt', 'old b']);
	await assertStagingEmpty();
	failure.isOver = true;
	t.is((await send()).statusCode, 200);
	t.deepEqual(await readdir(home), ['Public', 'a.txt', 'b.txt', 'n.txt']);
	t.deepEqual([await read('a.txt'), await read('b.txt')], ['new a.txt', 'new b.txt']);
	await assertStagingEmpty();
});

test('a form that is sent again with its key finds what it has replaced, also with ifMatch and at another server', async (t) => {
	const { app, ada, home, put, etag, read, send, assertStagingEmpty } = await replacing(t);
	await put({ 'a.txt': 'old' });
	const seen = await etag('a.txt');
	const headers = { 'stowage-upload-key': randomBytes(16).toString('hex') };
	const other = new Client(await testApp(t, { '--data-dir': app.dataDir }));
	other.cookie = ada.cookie;
	const save = (client: Client, content: string) =>
		client.upload(
			'/api/upload',
			[...fieldsOf({ onConflict: 'replace', ifMatch: seen }), file('a.txt', content)],
			headers,
		);
	const first = await save(ada, 'new');
	t.is(first.statusCode, 200);
	const saved = await etag('a.txt');
	for (const client of [ada, other, ada]) t.deepEqual(json(await save(client, 'new')), json(first));
	t.is(await etag('a.txt'), saved, 'it was replaced once');
	t.is(await read('a.txt'), 'new');
	t.deepEqual(await readdir(home), ['Public', 'a.txt']);
	await send('a.txt', 'by somebody else', { onConflict: 'replace' });
	t.deepEqual(refusal(await save(ada, 'new')), changed);
	t.is(await read('a.txt'), 'by somebody else');
	await assertStagingEmpty();
});

test('nobody replaces what they may not delete', async (t) => {
	const { app, ada, put } = await replacing(t);
	const visitor = new Client(app);
	const send = (client: Client, content: string, fields: Record<string, string>) =>
		client.upload('/api/upload/public', [...fieldsOf(fields), file('a.txt', content)]);
	const publicly = (owner: string) => readFile(path.join(app.filesDir, 'users', owner, 'Public/a.txt'), 'utf8');
	t.is((await send(visitor, 'a visitor’s', {})).statusCode, 200);
	t.deepEqual(refusal(await send(visitor, 'x', { onConflict: 'replace' })), [403, 'FORBIDDEN']);
	t.deepEqual(refusal(await send(visitor, 'x', { onConflict: 'replace', ifMatch: '*' })), [403, 'FORBIDDEN']);
	t.deepEqual(refusal(await send(visitor, 'x', { onConflict: 'fail' })), taken);
	t.is((await send(ada, 'ada’s', { onConflict: 'replace' })).statusCode, 200, 'in her own public tree');
	t.deepEqual([await publicly('anonymous'), await publicly('ada')], ['a visitor’s', 'ada’s']);
	const bob = await new Client(app).register('bob');
	t.is((await send(bob, 'bob’s', { onConflict: 'replace' })).statusCode, 200);
	t.is(await publicly('ada'), 'ada’s');
	await put({ 'x/Public': 'x' });
	const overPublic = { fromPath: 'x/Public', toPath: 'Public', type: 'private', onConflict: 'replace' };
	t.is((await ada.post('/api/copyItem', overPublic)).statusCode, 403);
	t.is((await ada.post('/api/moveItem', overPublic)).statusCode, 403);
});

test('a copy or a move replaces a file, fails, or gets another name, as is wished', async (t) => {
	const { ada, home, put, read, etag, assertStagingEmpty } = await replacing(t);
	const call = async (name: 'copyItem' | 'moveItem', fromPath: string, toPath: string, more: object, headers = {}) => {
		const answer = await ada.post(`/api/${name}`, { fromPath, toPath, type: 'private', ...more }, headers);
		return answer.statusCode === 202 ? outcomeOf(ada, json(answer).jobId, answer) : answer;
	};
	for (const headers of [{}, { prefer: 'respond-async' }]) {
		for (const name of ['copyItem', 'moveItem'] as const) {
			await put({ 'a.txt': 'new', 'to/a.txt': 'old', 'dir/inside': 'x', 'to/dir/own': 'y' });
			t.deepEqual(refusal(await call(name, 'a.txt', 'to/a.txt', { onConflict: 'fail' }, headers)), taken);
			const stale = { onConflict: 'replace', ifMatch: '"another"' };
			t.deepEqual(refusal(await call(name, 'a.txt', 'to/a.txt', stale, headers)), changed);
			t.deepEqual(refusal(await call(name, 'a.txt', 'to/none.txt', { ...stale, ifMatch: '*' }, headers)), changed);
			t.deepEqual(refusal(await call(name, 'a.txt', 'to/a.txt', { ifMatch: '*' }, headers)), invalid);
			t.deepEqual(await Promise.all([read('a.txt'), read('to/a.txt')]), ['new', 'old']);

			const replaced = await call(
				name,
				'a.txt',
				'to/a.txt',
				{ onConflict: 'replace', ifMatch: await etag('to/a.txt') },
				headers,
			);
			t.is(replaced.statusCode, 200, replaced.payload);
			t.like(json(replaced).entry, { path: 'to/a.txt', size: 3 });
			t.is(await read('to/a.txt'), 'new');
			t.is((await readdir(home)).includes('a.txt'), name === 'copyItem');

			// Folders replace nothing and are replaced by nothing.
			await put({ file: 'f', 'to/file/own': 'y', folder: 'f' });
			const replace = { onConflict: 'replace' };
			t.deepEqual(refusal(await call(name, 'file', 'to/file', replace, headers)), taken);
			t.deepEqual(refusal(await call(name, 'dir', 'to/dir', replace, headers)), taken);
			t.deepEqual(refusal(await call(name, 'dir', 'to/a.txt', replace, headers)), taken);
			t.is((await call(name, 'dir', 'to/new dir', replace, headers)).statusCode, 200);
			t.deepEqual((await readdir(path.join(home, 'to'))).sort(), ['a.txt', 'dir', 'file', 'new dir']);
			t.is(await read('to/dir/own'), 'y');
			await rm(path.join(home, 'to/new dir'), { recursive: true });
		}
	}
	await assertStagingEmpty();
});

/** What a job of one item, which took longer than its call waited, would have been answered with. */
async function outcomeOf(client: Client, id: string, answer: Answer): Promise<Answer> {
	const { status, detail } = await until('the job has ended', async () => {
		const job = json(await client.get(`/api/jobs/${id}`));
		return job.endTime !== null && job;
	});
	if (status === 'completed') return { ...answer, statusCode: 200, payload: JSON.stringify({ entry: detail.entry }) };
	const [{ code }] = detail.errors;
	const statuses: Record<string, number> = { ALREADY_EXISTS: 409, PRECONDITION_FAILED: 412 };
	return { ...answer, statusCode: statuses[code] ?? 500, payload: JSON.stringify({ code }) };
}

test('a file does not replace itself', async (t) => {
	const { ada, home, put, read } = await replacing(t);
	await put({ 'Public/a.txt': 'a' });
	const copy = {
		fromPath: 'a.txt',
		toPath: 'Public/a.txt',
		fromType: 'public',
		type: 'private',
		onConflict: 'replace',
	};
	t.deepEqual(refusal(await ada.post('/api/copyItem', copy)), invalid);
	t.like(json(await ada.post('/api/copyItem', copy)), { message: 'A file cannot take its own place.' });
	await put({ 'b.txt': 'b' });
	await link(path.join(home, 'b.txt'), path.join(home, 'Public/b.txt'));
	const move = { fromPath: 'b.txt', toPath: 'Public/b.txt', type: 'private', onConflict: 'replace' };
	t.deepEqual(refusal(await ada.post('/api/moveItem', move)), invalid);
	t.deepEqual([await read('Public/a.txt'), await read('b.txt'), await read('Public/b.txt')], ['a', 'b', 'b']);
});

test('of two who move the same file over another one at once the later one finds it gone', async (t) => {
	const { app, ada, home, put, read } = await replacing(t);
	await put({ 'a.txt': 'new', 'to/a.txt': 'old' });
	const { storage } = app.services.roots.first;
	const stat = storage.stat.bind(storage);
	let isMoved = false;
	storage.stat = async (at) => {
		if (at.endsWith('/to/a.txt') && !isMoved) {
			isMoved = true;
			await rename(path.join(home, 'a.txt'), path.join(home, 'to/a.txt'));
		}
		return stat(at);
	};
	const call = { fromPath: 'a.txt', toPath: 'to/a.txt', type: 'private', onConflict: 'replace' };
	t.deepEqual(refusal(await ada.post('/api/moveItem', call)), [404, 'NOT_FOUND']);
	t.true(isMoved);
	t.is(await read('to/a.txt'), 'new');
});

/** Two processes replace one file at once, so many times. */
async function replaceAtOnce(t: ExecutionContext, rounds: number): Promise<void> {
	const { app, ada, home, put, etag, read, assertStagingEmpty } = await replacing(t);
	const other = new Client(await testApp(t, { '--data-dir': app.dataDir }));
	other.cookie = ada.cookie;
	await put({ 'a.txt': 'old' });
	const save = (client: Client, content: string, more: Record<string, string>) =>
		client.upload('/api/upload', [...fieldsOf({ onConflict: 'replace', ...more }), file('a.txt', content)]);
	const clients = [ada, other];
	for (let n = 0; n < rounds; n++) {
		const ifMatch = await etag('a.txt');
		const answers = await Promise.all(clients.map((client, at) => save(client, `${n} by ${at}`, { ifMatch })));
		const codes = answers.map(({ statusCode }) => statusCode);
		t.deepEqual([...codes].sort(), [200, 412], `round ${n}`);
		t.is(await read('a.txt'), `${n} by ${codes.indexOf(200)}`);
	}
	for (let n = 0; n < rounds / 4; n++) {
		const answers = await Promise.all([0, 1, 2, 3].map((at) => save(clients[at % 2] as Client, `${n} by ${at}`, {})));
		t.deepEqual(
			answers.map(({ statusCode }) => statusCode),
			[200, 200, 200, 200],
			`round ${n}`,
		);
		t.regex(await read('a.txt'), new RegExp(`^${n} by \\d$`));
	}
	t.deepEqual(await readdir(home), ['Public', 'a.txt']);
	await assertStagingEmpty();
}

test('of two who replace the same version at once one gets 412, and without ifMatch both replace one after the other', (t) =>
	replaceAtOnce(t, 20));

test('of two who replace the same version at once one gets 412, two hundred times', (t) => replaceAtOnce(t, 200));

test('two who bring a first file of a name at once both do, the later one over the earlier', async (t) => {
	const { ada, home, send } = await replacing(t);
	for (let n = 0; n < 30; n++) {
		const answers = await Promise.all([0, 1, 2].map((at) => send(`${n}.txt`, `by ${at}`, { onConflict: 'replace' })));
		for (const answer of answers) t.is(json(answer).entries[0].path, `${n}.txt`, answer.payload);
		await ada.call('DELETE', '/api/deleteItem', { filePath: `${n}.txt`, type: 'private', permanent: true });
	}
	t.deepEqual(await readdir(home), ['Public']);
});

test('a name that something has which is not shown is not replaced', async (t) => {
	const { home, send, assertStagingEmpty } = await replacing(t);
	await symlink('/etc/hostname', path.join(home, 'a.txt'));
	t.deepEqual(refusal(await send('a.txt', 'x', { onConflict: 'replace' })), taken);
	t.deepEqual(refusal(await send('a.txt', 'x', { onConflict: 'fail' })), taken);
	t.is(await readlink(path.join(home, 'a.txt')), '/etc/hostname');
	await assertStagingEmpty();
});

test('pages of the folder are notified of a replacement, and the audit log says that it was one', async (t) => {
	const { app, ada, put, send } = await replacing(t);
	await put({ 'a.txt': 'old', 'docs/a.txt': 'old', 'docs/b.txt': 'old' });
	const page = await openEvents(app, '?type=private&directory=', ada.cookie);
	await send('a.txt', 'new', { onConflict: 'replace' });
	await page.next(({ event }) => event === 'changed');
	page.close();
	await send('n.txt', 'new', { onConflict: 'replace' });
	const call = (name: string, fromPath: string, toPath: string) =>
		ada.post(`/api/${name}`, { fromPath, toPath, type: 'private', onConflict: 'replace' });
	await call('copyItem', 'a.txt', 'docs/a.txt');
	await call('moveItem', 'n.txt', 'docs/b.txt');
	await call('copyItem', 'a.txt', 'docs/c.txt');
	await app.services.audit.close();
	const lines: (string | boolean | undefined)[][] = [];
	for (const { action, path: at, to, replaced } of await recordsOf(app))
		if (['upload', 'copy', 'move'].includes(action)) lines.push([action, at, to, replaced]);
	t.deepEqual(lines, [
		['upload', 'a.txt', undefined, true],
		['upload', 'n.txt', undefined, undefined],
		['copy', 'a.txt', 'docs/a.txt', true],
		['move', 'n.txt', 'docs/b.txt', true],
		['copy', 'a.txt', 'docs/c.txt', undefined],
	]);
});

test('a replacement needs room for the new bytes beside the old ones', async (t) => {
	const { ada, home, read, send, assertStagingEmpty } = await replacing(t, {
		'--quotas-user-bytes': '100 KB',
		'--versions-keep-for': '0',
	});
	const kb = (count: number) => 'x'.repeat(count * 1024);
	const used = () =>
		until('the quota is known', async () => json(await ada.get('/api/checkLoginStatus')).quota?.used as number);
	t.is((await send('a', kb(40), {})).statusCode, 200);
	t.is((await send('a', kb(61), { onConflict: 'replace' })).statusCode, 507);
	t.is((await read('a')).length, 40 * 1024);
	for (const size of [50, 40, 50]) {
		t.is((await send('a', kb(size), { onConflict: 'replace' })).statusCode, 200);
		t.is(await used(), size * 1024, 'what was replaced counts no more');
	}
	t.deepEqual(await readdir(home), ['Public', 'a']);
	await assertStagingEmpty();
});

test('a copy that is tried again, since its target was changed meanwhile, counts once in the quota', async (t) => {
	const { app, ada, home, read, send } = await replacing(t, { '--quotas-user-bytes': '100 KB' });
	for (const name of ['a', 'b']) await send(name, 'x'.repeat(20 * 1024), {});
	const used = () =>
		until('the quota is known', async () => json(await ada.get('/api/checkLoginStatus')).quota?.used as number);
	t.is(await used(), 40 * 1024);
	const { storage } = app.services.roots.first;
	const copy = storage.copy.bind(storage);
	let changes = 0;
	storage.copy = (from, to, options = {}) =>
		copy(from, to, {
			...options,
			async beforeItem(item) {
				await options.beforeItem?.(item);
				if (++changes < 4) await writeFile(path.join(home, 'Public/a'), `changed ${changes}`);
			},
		});
	await writeFile(path.join(home, 'Public/a'), 'old');
	const call = { fromPath: 'a', toPath: 'Public/a', type: 'private', onConflict: 'replace' };
	t.is((await ada.post('/api/copyItem', call)).statusCode, 200);
	t.is(changes, 4, 'it was tried as often');
	t.is((await read('Public/a')).length, 20 * 1024);
	t.true((await used()) <= 60 * 1024 + 'changed 3'.length, `${await used()}`);
	t.is((await send('c', 'x'.repeat(39 * 1024), {})).statusCode, 200);
});

test('where a disk can’t replace in one step it is refused as that, and nothing is kept', async (t) => {
	const { app, ada, home, put, read, send, assertStagingEmpty } = await replacing(t);
	Object.assign(app.services.roots.first.storage, { canReplace: async () => false });
	await put({ 'a.txt': 'old', 'b.txt': 'b' });
	const form = [field('onConflict', 'replace'), file('n.txt', 'n'), file('a.txt', 'a')];
	t.deepEqual(refusal(await ada.upload('/api/upload', form)), invalid);
	t.like(json(await create(ada, 1, { filename: 'a.txt', onConflict: 'replace' })), {
		message: 'Files can’t be replaced in one step on this disk.',
	});
	const move = { fromPath: 'b.txt', toPath: 'Public/b.txt', type: 'private', onConflict: 'replace' };
	t.is((await ada.post('/api/moveItem', move)).statusCode, 200);
	t.is((await send('c.txt', 'c', { onConflict: 'replace' })).statusCode, 200, 'a free name needs no such disk');
	t.deepEqual(await readdir(home), ['Public', 'a.txt', 'c.txt']);
	t.is(await read('a.txt'), 'old');
	await assertStagingEmpty();
});
