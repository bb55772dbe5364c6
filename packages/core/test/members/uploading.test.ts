import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { parsePath, undefinedIf } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { Client, field, file, json } from '../testApp.js';
import { begin, create, head, patch, remove, uploadState } from '../tusClient.js';
import { until } from '../until.js';
import { memberFixture, sharedNames } from './memberFixture.js';

const target = { type: 'shared', directory: 'Photos', filename: 'up.bin' };
const roomy = { bytes: 10_000_000, entries: null };

const setUp = async (t: ExecutionContext, role: 'view' | 'edit' = 'edit') => {
	const fixture = await memberFixture(t);
	await fixture.share({ bob: role });
	return fixture;
};

test('a resumable upload is continued in a shared folder by who began it', async (t) => {
	const { app, ada, bob, carol, home } = await setUp(t);
	const location = await begin(bob, 6, target);
	t.deepEqual(uploadState(await patch(bob, location, 0, 'abc')), [204, 3, undefined]);
	for (const client of [ada, carol]) t.is((await head(client, location)).statusCode, 404);
	t.is((await head(new Client(app), location)).statusCode, 401);
	const [row] = await app.services.database.uploads.listAllUnfinished();
	t.like(row, { area: 'shared', payerId: (await app.services.accounts.find('ada')).id });
	t.deepEqual(uploadState(await patch(bob, location, 3, 'def')), [204, 6, 'Photos/up.bin']);
	t.is(await readFile(home('docs/Photos/up.bin'), 'utf8'), 'abcdef');
	t.deepEqual(uploadState(await head(bob, location)), [200, 6, 'Photos/up.bin']);
	const again = await begin(bob, 1, target);
	t.is((await remove(bob, again)).statusCode, 204);
});

test('who may only look, strangers and former members upload nothing, whatever they had begun', async (t) => {
	const { bob, carol, share } = await setUp(t);
	const location = await begin(bob, 6, target);
	await patch(bob, location, 0, 'abc');
	await share({ bob: 'view' });
	t.is((await create(bob, 6, target)).statusCode, 403);
	t.is((await create(carol, 6, target)).statusCode, 404);
	t.is((await create(bob, 6, { ...target, directory: 'docs' })).statusCode, 404);
	t.is((await create(bob, 6, { ...target, directory: '' })).statusCode, 403);
	t.is((await patch(bob, location, 3, 'def')).statusCode, 403);
	await share({});
	t.is((await patch(bob, location, 3, 'def')).statusCode, 404);
	t.is((await head(bob, location)).statusCode, 404);
	await share({ bob: 'edit' });
	t.deepEqual(uploadState(await patch(bob, location, 3, 'def')), [204, 6, 'Photos/up.bin']);
});

test('an upload under way ends with the role, and leaves nothing in the folder', async (t) => {
	const { app, ada, bob, share } = await setUp(t);
	const location = await begin(bob, 1_000_000, target);
	const { hostname, port } = new URL(app.server.info.uri);
	const boundary = 'x';
	const formHead = [
		...['type', 'directory'].map(
			(name) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${target[name as 'type']}\r\n`,
		),
		`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="form.bin"\r\n\r\n`,
	].join('');
	const open = (method: string, path: string, headers: Record<string, string | number>, first: string) => {
		const sent = request({
			...{ hostname, port, path, method, agent: false },
			headers: { cookie: bob.cookie ?? '', 'content-length': 1_000_000, ...headers },
		});
		const ended = Promise.race([
			once(sent, 'response').then(([answer]) => (answer as IncomingMessage).statusCode),
			once(sent, 'close').then(() => 'closed'),
			new Promise((resolve) => sent.on('error', () => resolve('closed'))),
		]);
		sent.write(first);
		return { sent, ended };
	};
	const chunk = open(
		'PATCH',
		location,
		{ 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream', 'upload-offset': 0 },
		'begun',
	);
	const form = open(
		'POST',
		'/api/upload',
		{ 'content-type': `multipart/form-data; boundary=${boundary}` },
		`${formHead}begun`,
	);
	await until('both are held', () => app.services.sharedFolders.held.count === 2);
	await share({ bob: 'view' });
	for (const { ended } of [chunk, form]) t.not(await ended, 200);
	t.deepEqual(await sharedNames(bob, 'Photos'), ['2030', 'fox.txt']);
	t.is(json(await ada.get('/api/browse?type=private&directory=docs/Photos')).entries.length, 2);
});

test('an upload lands in the folder that it was begun in, whatever its owner calls it and wherever it lies by then', async (t) => {
	const { ada, bob, home, share } = await setUp(t);
	const own = await begin(bob, 6, target);
	const below = await begin(bob, 6, { ...target, directory: 'Photos/2030' });
	for (const location of [own, below]) await patch(bob, location, 0, 'abc');
	await ada.post('/api/renameItem', { oldPath: 'docs/Photos', newName: 'Pictures', type: 'private' });
	await ada.post('/api/createFolder', { directory: 'docs', folderName: 'Photos', type: 'private' });
	await share({ bob: 'edit' });
	t.deepEqual(uploadState(await head(bob, own)), [200, 3, undefined]);
	t.deepEqual(uploadState(await patch(bob, own, 3, 'def')), [204, 6, 'Pictures/up.bin']);
	t.is(await readFile(home('docs/Pictures/up.bin'), 'utf8'), 'abcdef');
	await ada.post('/api/moveItem', { fromPath: 'docs/Pictures', toPath: 'Pictures', type: 'private' });
	t.deepEqual(uploadState(await patch(bob, below, 3, 'def')), [204, 6, 'Pictures/2030/up.bin']);
	t.is(await readFile(home('Pictures/2030/up.bin'), 'utf8'), 'abcdef');
	t.deepEqual(await sharedNames(bob, 'Photos'), [], 'another folder of the old name');
});

test('an upload whose folder was renamed while it arrived is published in it', async (t) => {
	const { app, ada, bob, home } = await setUp(t);
	const location = await begin(bob, 6, target);
	const { hostname, port } = new URL(app.server.info.uri);
	const headers = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' };
	const sent = request({
		...{ hostname, port, path: location, method: 'PATCH', agent: false },
		headers: { ...headers, cookie: bob.cookie ?? '', 'upload-offset': 0, 'content-length': 6 },
	});
	const answered = once(sent, 'response');
	sent.write('abc');
	await until('it is held', () => app.services.sharedFolders.held.count === 1);
	await ada.post('/api/renameItem', { oldPath: 'docs/Photos', newName: 'Pictures', type: 'private' });
	sent.end('def');
	const [answer] = (await answered) as [IncomingMessage];
	answer.resume();
	t.is(answer.statusCode, 204);
	t.is(await readFile(home('docs/Pictures/up.bin'), 'utf8'), 'abcdef');
});

test('an upload whose folder is no longer shared never goes into a folder of another owner that has its name', async (t) => {
	const { app, bob, carol, share } = await setUp(t);
	const location = await begin(bob, 6, target);
	t.deepEqual(uploadState(await patch(bob, location, 0, 'abc')), [204, 3, undefined]);
	await share({});
	await carol.post('/api/createFolder', { directory: '', folderName: 'Photos', type: 'private' });
	await share({ bob: 'edit' }, 'Photos', carol);
	t.deepEqual(await sharedNames(bob, 'Photos'), []);
	t.is((await head(bob, location)).statusCode, 404);
	t.is((await patch(bob, location, 3, 'def')).statusCode, 404);
	t.deepEqual(await sharedNames(bob, 'Photos'), []);
	await app.services.members.leave({ kind: 'user', ...(await app.services.accounts.find('bob')) }, parsePath('Photos'));
	await share({ bob: 'edit' });
	t.deepEqual(uploadState(await patch(bob, location, 3, 'def')), [204, 6, 'Photos/up.bin']);
});

test('a form whose folder was renamed while it arrived is published in it, and not in another one that has got its name', async (t) => {
	const { app, ada, bob, carol, home, share } = await setUp(t);
	const { hostname, port } = new URL(app.server.info.uri);
	const part = (name: string, more = '') => `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
	const begun = `${part('type')}shared\r\n${part('directory')}Photos\r\n${part('file', '; filename="form.txt"')}abc`;
	const rest = 'def\r\n--x--\r\n';
	const sent = request({
		...{ hostname, port, path: '/api/upload', method: 'POST', agent: false },
		headers: {
			cookie: bob.cookie ?? '',
			'content-type': 'multipart/form-data; boundary=x',
			'content-length': begun.length + rest.length,
		},
	});
	const answered = once(sent, 'response');
	sent.write(begun);
	await until('it is held', () => app.services.sharedFolders.held.count === 1);
	await ada.post('/api/renameItem', { oldPath: 'docs/Photos', newName: 'Pictures', type: 'private' });
	await carol.post('/api/createFolder', { directory: '', folderName: 'Photos', type: 'private' });
	await share({ bob: 'edit' }, 'Photos', carol);
	sent.end(rest);
	const [answer] = (await answered) as [IncomingMessage];
	t.is(answer.statusCode, 200);
	answer.resume();
	t.is(await readFile(home('docs/Pictures/form.txt'), 'utf8'), 'abcdef');
	t.deepEqual(await sharedNames(bob, 'Photos'), []);
});

test('an upload whose subfolder was renamed says so, and is whole once that is there again', async (t) => {
	const { ada, bob, home } = await setUp(t);
	const location = await begin(bob, 6, { ...target, directory: 'Photos/2030' });
	await patch(bob, location, 0, 'abc');
	const rename = (oldPath: string, newName: string) =>
		ada.post('/api/renameItem', { oldPath, newName, type: 'private' });
	await rename('docs/Photos/2030', '2031');
	const refused = await patch(bob, location, 3, 'def');
	t.is(refused.statusCode, 404);
	t.is(json(refused).message, 'No such file or folder: 2030');
	await rename('docs/Photos/2031', '2030');
	t.deepEqual(uploadState(await head(bob, location)), [200, 6, 'Photos/2030/up.bin']);
	t.is(await readFile(home('docs/Photos/2030/up.bin'), 'utf8'), 'abcdef');
});

test('what members bring counts in the quota of the owner, and not in their own', async (t) => {
	const { app, bob, home } = await setUp(t);
	const { accounts } = app.services;
	await accounts.setQuota('bob', { bytes: 1, entries: null });
	await accounts.setQuota('ada', roomy);
	const fields = [field('type', 'shared'), field('directory', 'Photos')];
	const bytes = Buffer.alloc(50_000, 'x');
	const sent = await bob.upload('/api/upload', [...fields, file('form.bin', bytes)]);
	t.is(sent.statusCode, 200, sent.payload);
	const location = await begin(bob, bytes.length, target);
	t.deepEqual(uploadState(await patch(bob, location, 0, bytes)), [204, bytes.length, 'Photos/up.bin']);
	t.is((await readFile(home('docs/Photos/form.bin'))).length, bytes.length);
	t.is((await bob.upload('/api/upload', [field('type', 'private'), file('own.bin', bytes)])).statusCode, 507);

	const { used } = (await app.services.quotas.usage({ kind: 'user', ...(await accounts.find('ada')) }, 60_000)) as {
		used: { bytes: number };
	};
	await accounts.setQuota('ada', { bytes: used.bytes + 10, entries: null });
	await accounts.setQuota('bob', roomy);
	await until('the quota is known', async () => (await create(bob, bytes.length, target)).statusCode === 507);
	for (const parts of [
		[...fields, file('more.bin', bytes)],
		[file('more.bin', bytes), ...fields],
	]) {
		const refused = await bob.upload('/api/upload', parts);
		t.is(refused.statusCode, 507, refused.payload);
		t.false(json(refused).message.includes('left'), 'nobody learns how much the owner has used');
	}
	const copy = { fromPath: 'Photos/form.bin', toPath: 'Photos/2030/form.bin', type: 'shared' };
	t.is((await bob.post('/api/copyItem', copy)).statusCode, 507);
	t.deepEqual(await sharedNames(bob, 'Photos'), ['2030', 'form.bin', 'fox.txt', 'up.bin']);
});

test('what somebody has begun to upload keeps no room of the owner’s once they may not go on, and may be removed by them', async (t) => {
	const { app, ada, bob, share } = await setUp(t);
	const { accounts } = app.services;
	for (const name of ['ada', 'bob']) await accounts.setQuota(name, { bytes: 100_000, entries: null });
	const bytes = Buffer.alloc(60_000, 'x');
	const location = await begin(bob, 90_000, target);
	t.deepEqual(uploadState(await patch(bob, location, 0, bytes)), [204, bytes.length, undefined]);
	const own = [field('type', 'private'), file('own.bin', bytes)];
	t.is((await ada.upload('/api/upload', own)).statusCode, 507);
	await share({ bob: 'view' });
	// What others hold is looked up again from time to time.
	await until('the owner has room', async () => (await ada.upload('/api/upload', own)).statusCode === 200);
	t.is((await bob.upload('/api/upload', own)).statusCode, 507);
	t.is((await remove(bob, location)).statusCode, 204);
	t.is((await bob.upload('/api/upload', own)).statusCode, 200);
});

test('what a program writes for a shared folder counts in the quota of its owner as it grows, and nothing gives way to it', async (t) => {
	const { app, ada, bob } = await setUp(t);
	const { accounts, files } = app.services;
	const { id, username } = await accounts.find('bob');
	const viewer = { kind: 'user' as const, id, username };
	const folder = { area: 'shared' as const, path: parsePath('Photos') };
	for (const name of ['ada', 'bob']) await accounts.setQuota(name, { bytes: 60_000, entries: null });
	const bytes = Buffer.alloc(50_000, 'x');
	for (const client of [ada, bob]) {
		const fields = [field('type', 'private'), file('gone.bin', bytes)];
		t.is((await client.upload('/api/upload', fields)).statusCode, 200);
		await client.call('DELETE', '/api/deleteItem', { filePath: 'gone.bin', type: 'private' });
	}
	const make = async () => {
		const staged = await files.stage(viewer, undefined, folder);
		try {
			await files.withDescriptor(viewer, { staged, folder }, async ({ descriptor }) => writeSync(descriptor, bytes));
			return (await files.publish(viewer, folder, [{ staged, name: 'made.bin' }])).length;
		} finally {
			await staged.discard();
		}
	};
	const trashed = async (client: Client) => json(await client.get('/api/trash')).entries.length;
	t.like(await t.throwsAsync(make), { kind: 'storageFull' });
	await accounts.setQuota('ada', roomy);
	await until('the quota is known', () => undefinedIf(make(), 'storageFull'));
	t.deepEqual([await trashed(ada), await trashed(bob)], [1, 1]);
});

test('nothing of the owner’s trash gives way to what a member brings', async (t) => {
	const { app, ada, bob } = await setUp(t);
	await app.services.accounts.setQuota('ada', { bytes: 60_000, entries: null });
	const bytes = Buffer.alloc(50_000, 'x');
	const fields = (name: string) => [field('type', 'shared'), field('directory', 'Photos'), file(name, bytes)];
	t.is((await bob.upload('/api/upload', fields('one.bin'))).statusCode, 200);
	await bob.call('DELETE', '/api/deleteItem', { filePath: 'Photos/one.bin', type: 'shared' });
	t.is((await bob.upload('/api/upload', fields('two.bin'))).statusCode, 507);
	t.is(json(await ada.get('/api/trash')).entries.length, 1);
});
