import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { StorageProvider } from '@stowage/plugin-api';
import { Failure, parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { copyKind } from '../../src/pasting/copyKind.js';
import { moveKind } from '../../src/pasting/moveKind.js';
import { type Answer, Client, json, setDiskClock, testApp } from '../testApp.js';
import { until } from '../until.js';

async function setUp(
	t: ExecutionContext,
	flags: Record<string, string> = {},
	options: Parameters<typeof testApp>[2] = {},
) {
	const app = await testApp(t, flags, options);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	const writeFiles = async (files: Record<string, string>) => {
		for (const [name, content] of Object.entries(files)) {
			await mkdir(path.dirname(path.join(home, name)), { recursive: true });
			await writeFile(path.join(home, name), content);
		}
	};
	const start = (kind: 'copy' | 'move', directory: string, items: string[], more: object = {}) =>
		ada.post('/api/jobs', { kind, type: 'private', directory, items: items.map((item) => ({ path: item })), ...more });
	const ended = (id: string) =>
		until('the job has ended', async () => {
			const job = json(await ada.get(`/api/jobs/${id}`));
			return job.endTime === null ? undefined : job;
		});
	const staged = () => readdir(path.join(app.filesDir, '.stowage/staging'));
	return { app, ada, home, writeFiles, start, ended, staged };
}

/** Blocks copies at their first bytes until `open` is called; `isBlocked` resolves once one is blocked. */
function blockCopies(storage: StorageProvider) {
	const real = storage.copy.bind(storage);
	let open = () => {};
	const isOpen = new Promise<void>((resolve) => {
		open = resolve;
	});
	let onBlocked = () => {};
	const isBlocked = new Promise<void>((resolve) => {
		onBlocked = resolve;
	});
	storage.copy = (from, to, options = {}) =>
		real(from, to, {
			...options,
			async beforeBytes(bytes) {
				await options.beforeBytes?.(bytes);
				onBlocked();
				const { signal } = options;
				await Promise.race([isOpen, new Promise((resolve) => signal?.addEventListener('abort', resolve))]);
				signal?.throwIfAborted();
			},
		});
	return { open, isBlocked };
}

test('a paste whose answer was lost begins once when it is requested again with its key', async (t) => {
	const { ada, writeFiles, ended, home } = await setUp(t);
	await writeFiles({ 'a.txt': 'a', 'to/b.txt': 'b' });
	const body = { kind: 'move', type: 'private', directory: 'to', items: [{ path: 'a.txt' }] };
	const key = 'a1'.repeat(16);
	const send = (more: object = {}, with_ = key) =>
		ada.post('/api/jobs', { ...body, ...more }, { 'idempotency-key': with_ });
	const [one, two] = await Promise.all([send(), send()]);
	t.deepEqual([one.statusCode, two.statusCode], [202, 202]);
	const { id } = json(one);
	t.is(json(two).id, id);
	t.is((await ended(id)).status, 'completed');
	t.is(json(await send()).id, id, 'its item has left its place');
	t.is((await send({ directory: '' })).statusCode, 409);
	t.is((await send({}, 'guessed')).statusCode, 400);
	t.not(json(await send({ kind: 'copy' })).id, id, 'a key is of one kind');
	t.deepEqual((await readdir(path.join(home, 'to'))).sort(), ['a.txt', 'b.txt']);
});

test('a paste is a job that copies or moves items, with a title that describes it', async (t) => {
	const { ada, home, writeFiles, start, ended } = await setUp(t);
	await writeFiles({ a: 'one', 'docs/b': 'two', c: 'three' });
	const copied = await start('copy', 'Holiday', ['a', 'docs', 'none']);
	t.is(copied.statusCode, 202);
	t.like(await ended(json(copied).id), {
		kind: 'copy',
		status: 'completed',
		title: 'Copy 3 items to Holiday',
		...{ done: 6, total: 6, unit: 'bytes', canRetry: false, error: null },
		detail: {
			done: 2,
			failed: 1,
			errors: [{ index: 2, path: 'none', message: 'No such file or folder: none', code: 'NOT_FOUND' }],
		},
	});
	t.deepEqual((await readdir(path.join(home, 'Holiday'))).sort(), ['a', 'docs']);
	const moved = json(await start('move', '', ['c'], { toType: 'public' }));
	t.like(await ended(moved.id), {
		...{ kind: 'move', status: 'completed', title: 'Move c to Public', done: 1, total: 1, unit: 'items' },
		detail: { done: 1, failed: 0, entry: { path: 'Public/c' } },
	});
	t.is(await readFile(path.join(home, 'Public/c'), 'utf8'), 'three');
	const titles = json(await ada.get('/api/jobs')).map((job: { title: string }) => job.title);
	t.deepEqual(titles.sort(), ['Copy 3 items to Holiday', 'Move c to Public']);
});

test('a paste that can be refused as a whole is refused at once, without a job', async (t) => {
	const { app, ada, start, writeFiles } = await setUp(t);
	await writeFiles({ a: 'one' });
	const answers = [
		await start('copy', '', ['Public']),
		await start('move', '', ['a']),
		await start('copy', 'docs', []),
		await start('copy', '../x', ['a']),
		await start('move', '', [''], { toType: 'public' }),
		await start('copy', '', ['a'], { toType: 'nowhere' }),
		await start('copy', '', ['a'], { address: '::1' }),
		await new Client(app).post('/api/jobs', { kind: 'copy', type: 'public', directory: '', items: [{ path: 'a' }] }),
	];
	t.deepEqual(
		answers.map((answer) => [answer.statusCode, json(answer).code]),
		[
			[403, 'PROTECTED'],
			[400, 'INVALID'],
			[400, 'INVALID'],
			[400, 'INVALID_PATH'],
			[400, 'INVALID'],
			[400, 'INVALID'],
			[400, 'INVALID'],
			[401, 'NOT_SIGNED_IN'],
		],
	);
	t.deepEqual(json(await ada.get('/api/jobs')), []);
});

const async = { prefer: 'wait=10, Respond-Async' };

test('a call with Prefer: respond-async that takes less than a second gets the same response as one without', async (t) => {
	// On a clock that stands still no call takes a second, however slow this machine is.
	const { app, ada, writeFiles } = await setUp(t, { '--quotas-user-bytes': '64 KB' }, { monotonic: () => 1000 });
	await new Client(app).register('bob');
	await writeFiles({ a: 'one', 'docs/b': 'two', large: 'x'.repeat(40_000), 'from/a': 'one', 'from2/a': 'one' });
	const calls: [string, Record<string, unknown>][] = [
		['copyItem', { fromPath: 'a', toPath: 'docs/a' }],
		['copyItem', { fromPath: 'docs', toPath: 'docs again' }],
		['copyItem', { fromPath: 'none', toPath: 'docs/none' }],
		['copyItem', { fromPath: 'Public', toPath: 'docs/Public' }],
		['copyItem', { fromPath: 'docs', toPath: 'docs/in/itself' }],
		['copyItem', { fromPath: 'a', toPath: 'bad:name' }],
		['copyItem', { fromPath: 'large', toPath: 'larger' }],
		['copyItem', { fromPath: 'a', toPath: 'large/b' }],
		['copyItem', { fromPath: 'a', toPath: 'a', fromType: 'public', owner: 'bob' }],
		['moveItem', { fromPath: 'none', toPath: 'docs/none' }],
		['moveItem', { fromPath: 'Public', toPath: 'docs/Public' }],
		['moveItem', { fromPath: 'a', toPath: 'b' }],
		['moveItem', { fromPath: 'a', toPath: 'docs/bad:name' }],
		['moveItem', { fromPath: 'a', toPath: 'docs/moved', owner: 'bob' }],
	];
	/** The same call is sent twice; only the free names that the results got may differ. */
	const comparable = ({ statusCode, payload }: Answer) => {
		const { entry, ...answer } = JSON.parse(payload);
		return { statusCode, ...answer, entry: entry && { ...entry, name: '', path: '' } };
	};
	for (const [call, body] of calls) {
		const send = (headers: Record<string, string>) =>
			ada.post(`/api/${call}`, { type: 'private', ...body }, headers).then(comparable);
		t.deepEqual(await send(async), await send({}), `${call} ${JSON.stringify(body)}`);
	}
	const move = (fromPath: string, toPath: string, headers: Record<string, string> = {}) =>
		ada.post('/api/moveItem', { type: 'private', fromPath, toPath }, headers);
	const moved = await move('from/a', 'to/a', async);
	t.like(json(moved), { message: 'Moved.', entry: { path: 'to/a', size: 3 } });
	t.like(json(await move('from2/a', 'to/a')), { message: 'Moved.', entry: { path: 'to/a (1)', size: 3 } });
	t.is(moved.headers['preference-applied'], undefined);
	const kinds = json(await ada.get('/api/jobs')).map((job: { kind: string }) => job.kind);
	t.false(kinds.includes('move'), 'one item is one rename, for which no job is kept');
});

test('a call with Prefer: respond-async is refused with its reason, also if the database is away while that is saved', async (t) => {
	const { app, ada } = await setUp(t, {}, { monotonic: () => 1000 });
	app.services.database.jobs.renew = () => Promise.reject(new Failure('unavailable', 'The database is away.'));
	const body = { type: 'private', fromPath: 'none', toPath: 'docs/none' };
	const refused = await ada.post('/api/copyItem', body, async);
	t.is(refused.statusCode, 404, refused.payload);
	t.like(json(refused), { code: 'NOT_FOUND', message: 'No such file or folder: none' });
});

test('a move with Prefer: respond-async waits as a job while its home is on its way to another disk', async (t) => {
	const { app, ada, writeFiles, ended } = await setUp(t);
	await writeFiles({ 'docs/b': 'two' });
	const { homes } = app.services.roots;
	const changing = homes.changing.bind(homes);
	let tries = 0;
	homes.changing = async (home, work) => {
		if (tries++ < 2) throw new Failure('locked', 'These files are being moved to another disk.');
		return changing(home, work);
	};
	const body = { type: 'private', fromPath: 'docs/b', toPath: 'b' };
	t.is((await ada.post('/api/moveItem', body)).statusCode, 423);
	tries = 0;
	const answer = await ada.post('/api/moveItem', body, async);
	const { jobId, entry } = json(answer);
	if (jobId === undefined) t.like(entry, { path: 'b' });
	else t.like(await ended(jobId), { status: 'completed', detail: { entry: { path: 'b' } } });
	t.true(tries > 2);
});

test('a call with Prefer: respond-async that takes longer is answered 202 with its job, which continues', async (t) => {
	const { app, ada, writeFiles, ended, home } = await setUp(t);
	await writeFiles({ 'docs/b': 'two' });
	const blocked = blockCopies(app.services.roots.first.storage);
	const body = { type: 'private', fromPath: 'docs', toPath: 'Copies/other' };
	const answer = await ada.post('/api/copyItem', body, async);
	t.is(answer.statusCode, 202);
	t.is(answer.headers['preference-applied'], 'respond-async');
	const { jobId } = json(answer);
	t.like(json(await ada.get(`/api/jobs/${jobId}`)), { status: 'processing', title: 'Copy docs to Copies' });
	blocked.open();
	t.like(await ended(jobId), { status: 'completed', detail: { done: 1, entry: { path: 'Copies/other', count: 1 } } });
	t.is(await readFile(path.join(home, 'Copies/other/b'), 'utf8'), 'two');
});

test('one small copy begins at once however long the large ones of two others take', async (t) => {
	const { app, home, start, ended } = await setUp(t);
	const [bob, carol] = [await new Client(app).register('bob'), await new Client(app).register('carol')];
	const { storage } = app.services.roots.first;
	const real = storage.copy.bind(storage);
	let open = () => {};
	const isOpen = new Promise<void>((resolve) => {
		open = resolve;
	});
	let blocked = 0;
	storage.copy = async (from, to, options) => {
		if (from.endsWith('large')) blocked++;
		if (from.endsWith('large')) await isOpen;
		return real(from, to, options);
	};
	for (const user of ['ada', 'bob', 'carol']) await writeFile(path.join(path.dirname(home), user, 'large'), 'large');
	await writeFile(path.join(path.dirname(home), 'carol/small'), '1');
	const large: string[] = [];
	for (let n = 0; n < 3; n++) large.push(json(await start('copy', `to ${n}`, ['large'])).id);
	const items = [{ path: 'large' }];
	const his = await bob.post('/api/jobs', { kind: 'copy', type: 'private', directory: 'to', items });
	t.is(his.statusCode, 202);
	await until('all of them copy', async () => blocked === 4);
	const small = { kind: 'copy', type: 'private', directory: 'to', items: [{ path: 'small' }] };
	const { id } = json(await carol.post('/api/jobs', small));
	await until('the small one ends', async () => json(await carol.get(`/api/jobs/${id}`)).status === 'completed');
	t.is(blocked, 4);
	open();
	for (const id of large) t.like(await ended(id), { status: 'completed' });
});

test('a running copy that is cancelled leaves nothing, and can be retried', async (t) => {
	const { app, ada, home, writeFiles, start, ended, staged } = await setUp(t);
	await writeFiles({ 'docs/b': 'two' });
	const blocked = blockCopies(app.services.roots.first.storage);
	const { id } = json(await start('copy', 'Copies', ['docs']));
	await blocked.isBlocked;
	t.is((await staged()).length, 1);
	t.is((await ada.call('DELETE', `/api/jobs/${id}`)).statusCode, 200);
	t.like(await ended(id), { status: 'cancelled', error: 'Nothing was done.', canRetry: true });
	t.deepEqual(await staged(), []);
	t.deepEqual((await readdir(home)).sort(), ['Public', 'docs']);
	blocked.open();
	t.is((await ada.post(`/api/jobs/${id}/retry`, {})).statusCode, 200);
	t.like(await ended(id), { status: 'completed' });
	t.is(await readFile(path.join(home, 'Copies/docs/b'), 'utf8'), 'two');
});

for (const kindOf of [copyKind, moveKind]) {
	const { name } = kindOf;
	test(`the staged copy of a paste that is cancelled while it waits after a crash is removed: ${name}`, async (t) => {
		const { app, writeFiles, staged } = await setUp(t);
		await writeFiles({ 'docs/b': 'two' });
		const { storage, files, sharedFolders, uploadLimits, walkQueue } = app.services;
		let marker = '';
		const leftover = storage.copy(parsePath('users/ada/docs'), parsePath('users/ada/x'), {
			staged: {
				async onBegin(id) {
					marker = id;
				},
			},
			beforeItem: () => Promise.reject(new Error('cut off')),
		});
		await t.throwsAsync(leftover, { message: 'cut off' });
		t.is((await staged()).length, 1);
		const kind = kindOf({
			...{ files, sharedFolders, uploadLimits, walkQueue },
			...{ log: app.services.log, monotonic: () => performance.now() },
		});
		const owner = { kind: 'user', id: 'unused', username: 'ada' } as const;
		await kind.discard?.({}, owner);
		await kind.discard?.({ next: 0, marker: `${marker} copied to docs` }, owner);
		t.is((await staged()).length, 1, 'what is published already is nothing staged');
		await kind.discard?.({ next: 0, marker }, owner);
		t.deepEqual(await staged(), []);
	});
}

test('a staged copy is swept once it is old and no job needs it', async (t) => {
	const clock = { ahead: 0 };
	const { app, writeFiles, start, ended, staged } = await setUp(t, {}, { now: () => Date.now() + clock.ahead });
	setDiskClock(app, () => Date.now() + clock.ahead);
	await writeFiles({ 'docs/b': 'two' });
	const blocked = blockCopies(app.services.roots.first.storage);
	const { id } = json(await start('copy', 'Copies', ['docs']));
	await blocked.isBlocked;
	const { storage, resumableUploads } = app.services;
	// A copy that no job has saved, as a crash leaves it.
	const cut = new Error('cut off');
	const staging = { onBegin: async () => {} };
	const leftover = storage.copy(parsePath('users/ada/docs'), parsePath('users/ada/x'), {
		staged: staging,
		beforeItem: () => Promise.reject(cut),
	});
	t.is(await t.throwsAsync(leftover), cut);
	t.is((await staged()).length, 2);
	await resumableUploads.sweep();
	t.is((await staged()).length, 2, 'a young copy may still be saved by its job');
	clock.ahead = 2 * 3_600_000;
	await resumableUploads.sweep();
	t.is((await staged()).length, 1);
	blocked.open();
	t.like(await ended(id), { status: 'completed' });
	t.deepEqual(await staged(), []);
});
