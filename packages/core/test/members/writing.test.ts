import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { Failure, isFailure, parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { sharedChanges } from '../../src/files/shared/sharedChanges.js';
import { enterFolder } from '../../src/members/enterFolder.js';
import { type Client, field, file, json, recordsOf } from '../testApp.js';
import { begin, patch } from '../tusClient.js';
import { until } from '../until.js';
import { memberFixture, sharedNames } from './memberFixture.js';

type Change = readonly [method: string, url: string, payload: object];

/** Each call that changes something in a shared folder, of which an item is named. */
const changes: readonly Change[] = [
	['POST', '/api/createFolder', { directory: 'Photos', folderName: 'new', type: 'shared' }],
	['POST', '/api/createFile', { directory: 'Photos/2030', fileName: 'new.txt', type: 'shared' }],
	['POST', '/api/renameItem', { oldPath: 'Photos/fox.txt', newName: 'wolf.txt', type: 'shared' }],
	['POST', '/api/moveItem', { fromPath: 'Photos/fox.txt', toPath: 'Photos/2030/fox.txt', type: 'shared' }],
	['POST', '/api/copyItem', { fromPath: 'Photos/fox.txt', toPath: 'Photos/2030/fox.txt', type: 'shared' }],
	['POST', '/api/copyItem', { fromPath: 'mine.txt', fromType: 'private', toPath: 'Photos/mine.txt', type: 'shared' }],
	['DELETE', '/api/deleteItem', { filePath: 'Photos/fox.txt', type: 'shared' }],
	['DELETE', '/api/deleteItem', { filePath: 'Photos/2030', type: 'shared', owner: 'ada' }],
];

const call = (client: Client, [method, url, payload]: Change) => client.call(method, url, payload);
const upload = (client: Client, directory: string, name = 'up.txt', more: readonly ReturnType<typeof field>[] = []) =>
	client.upload('/api/upload', [field('type', 'shared'), field('directory', directory), ...more, file(name, 'sent')]);

const setUp = async (t: ExecutionContext, role: 'view' | 'edit', flags: Record<string, string> = {}) => {
	const fixture = await memberFixture(t, flags);
	await writeFile(`${fixture.app.filesDir}/users/bob/mine.txt`, 'mine');
	await fixture.share({ bob: role });
	return fixture;
};

for (const change of changes) {
	const title = `${change[1]} ${JSON.stringify(change[2])}`;
	test(`who edits may, who views may not: ${title}`, async (t) => {
		const { bob, carol, share } = await setUp(t, 'view');
		const before = [await sharedNames(bob, 'Photos'), await sharedNames(bob, 'Photos/2030')];
		t.is((await call(bob, change)).statusCode, 403);
		t.is((await call(carol, change)).statusCode, 404);
		t.deepEqual([await sharedNames(bob, 'Photos'), await sharedNames(bob, 'Photos/2030')], before);
		await share({ bob: 'edit' });
		const answer = await call(bob, change);
		t.is(answer.statusCode, 200, answer.payload);
		const { entry } = json(answer);
		if (entry !== undefined) t.regex(entry.path, /^Photos\//);
		t.notDeepEqual([await sharedNames(bob, 'Photos'), await sharedNames(bob, 'Photos/2030')], before);
		await share({});
		t.is((await call(bob, change)).statusCode, 404);
	});
}

test('the folder itself, its list and what lies beside it can’t be changed by who edits', async (t) => {
	const { bob, home } = await setUp(t, 'edit');
	const refused: readonly [Change, number][] = [
		[['POST', '/api/renameItem', { oldPath: 'Photos', newName: 'Mine', type: 'shared' }], 403],
		[['DELETE', '/api/deleteItem', { filePath: 'Photos', type: 'shared' }], 403],
		[['POST', '/api/moveItem', { fromPath: 'Photos', toPath: 'Photos/2030/Photos', type: 'shared' }], 403],
		[['POST', '/api/createFolder', { directory: '', folderName: 'new', type: 'shared' }], 403],
		[['POST', '/api/moveItem', { fromPath: 'Photos/fox.txt', toPath: 'fox.txt', type: 'shared' }], 404],
		[['POST', '/api/moveItem', { fromPath: 'Photos/fox.txt', toPath: 'docs/fox.txt', type: 'shared' }], 404],
		[['POST', '/api/moveItem', { fromPath: 'Photos/fox.txt', toPath: 'Photos/../fox.txt', type: 'shared' }], 400],
		[['POST', '/api/copyItem', { fromPath: 'Photos/fox.txt', toPath: 'docs/fox.txt', type: 'shared' }], 404],
		[['POST', '/api/moveItem', { fromPath: 'Photos/2030', toPath: 'Photos/2030/in/2030', type: 'shared' }], 400],
		[['DELETE', '/api/deleteItem', { filePath: 'Photos/fox.txt', type: 'shared', permanent: true }], 403],
		[['POST', '/api/createFolder', { directory: 'Photos/none', folderName: 'new', type: 'shared' }], 404],
		[['DELETE', '/api/deleteItem', { filePath: 'canary.txt', type: 'shared' }], 403],
		[['DELETE', '/api/deleteItem', { filePath: 'docs/canary.txt', type: 'shared' }], 404],
		[['DELETE', '/api/deleteItem', { filePath: 'docs/Photos/fox.txt', type: 'shared', owner: 'ada' }], 404],
		[['DELETE', '/api/deleteItem', { filePath: 'Photos/fox.txt', type: 'private', owner: 'ada' }], 403],
		[['PUT', '/api/members', { path: 'Photos', members: [] }], 404],
		[['POST', '/api/shares', { items: [{ path: 'Photos' }], mode: 'view' }], 404],
		[['POST', '/api/generateTempLink', { filePath: 'Photos/fox.txt', expiration: '1h' }], 404],
	];
	for (const [change, status] of refused) {
		const answer = await call(bob, change);
		t.is(answer.statusCode, status, `${change[1]} ${JSON.stringify(change[2])} ${answer.payload}`);
		if (!JSON.stringify(change[2]).includes('docs')) t.false(answer.payload.includes('docs'), answer.payload);
	}
	t.is(await readFile(home('docs/Photos/fox.txt'), 'utf8'), 'a fox');
	t.is(await readFile(home('docs/Photos/2030/owl.txt'), 'utf8'), 'an owl');
	t.is(await readFile(home('canary.txt'), 'utf8'), 'canary');
});

test('the owner reads what each member has changed, and nobody else does', async (t) => {
	const { app, ada, bob, carol, share } = await setUp(t, 'edit');
	await share({ bob: 'edit', carol: 'view' });
	const done = async (answer: Promise<{ statusCode: number }>, status = 200) => t.is((await answer).statusCode, status);
	const inPhotos = field('directory', 'Photos');
	await done(bob.upload('/api/upload', [field('type', 'shared'), inPhotos, file('a.txt', 'a'), file('b.txt', 'b')]));
	await done(
		bob.upload('/api/upload', [field('type', 'shared'), inPhotos, field('onConflict', 'replace'), file('a.txt', 'A')]),
	);
	await done(bob.post('/api/createFolder', { directory: 'Photos', folderName: 'new', type: 'shared' }));
	await done(bob.post('/api/renameItem', { oldPath: 'Photos/b.txt', newName: 'c.txt', type: 'shared' }));
	await done(bob.post('/api/renameItem', { oldPath: 'Photos/c.txt', newName: 'c.txt', type: 'shared' }));
	await done(bob.post('/api/moveItem', { fromPath: 'Photos/c.txt', toPath: 'Photos/new/c.txt', type: 'shared' }));
	await done(
		bob.post('/api/copyItem', { fromPath: 'mine.txt', fromType: 'private', toPath: 'Photos/mine.txt', type: 'shared' }),
	);
	await done(
		bob.post('/api/copyItem', { fromPath: 'Photos/a.txt', fromType: 'shared', toPath: 'a.txt', type: 'private' }),
	);
	await done(bob.call('DELETE', '/api/deleteItem', { filePath: 'Photos/a.txt', type: 'shared' }));
	await done(carol.post('/api/createFolder', { directory: 'Photos', folderName: 'no', type: 'shared' }), 403);
	await done(ada.post('/api/createFolder', { directory: 'docs/Photos', folderName: 'own', type: 'private' }));
	await app.services.memberChanges.flush();
	const changesOf = async (client: Client) => json(await client.get('/api/members/changes')).changes;
	const [line, ...more] = await changesOf(ada);
	t.like(line, { folder: 'Photos', member: 'bob', added: 4, changed: 3, removed: 1 });
	t.deepEqual([more, await changesOf(bob), await changesOf(carol)], [[], [], []]);
	await share({});
	t.is((await changesOf(ada)).length, 1, 'also once the folder is shared no more');
});

test('what a member deletes is in the trash of the owner, who is told who it was', async (t) => {
	const { app, ada, bob } = await setUp(t, 'edit');
	t.is((await call(bob, ['DELETE', '/api/deleteItem', { filePath: 'Photos/2030', type: 'shared' }])).statusCode, 200);
	t.deepEqual(json(await bob.get('/api/trash')).entries, []);
	const [row] = json(await ada.get('/api/trash')).entries;
	t.like(row, { name: '2030', path: 'docs/Photos/2030' });
	const [kept] = await app.services.database.trash.list({ order: 'newest', limit: 9 });
	t.like(kept, { deletedBy: 'bob', ownerName: 'ada' });
	t.is((await bob.call('DELETE', `/api/trash/${row.id}`)).statusCode, 404);
	await ada.post('/api/trash/restore', { ids: [row.id] });
	t.deepEqual(await sharedNames(bob, 'Photos/2030'), ['owl.txt']);
});

test('a member puts back what they have deleted themselves, while they may edit where it was', async (t) => {
	const { ada, bob, carol, home, share } = await setUp(t, 'edit');
	const deleted = async (client: Client, filePath: string, type: string) =>
		json(await call(client, ['DELETE', '/api/deleteItem', { filePath, type }])).trashId;
	const restore = async (client: Client, id: string) => json(await client.post('/api/trash/restore', { ids: [id] }));
	const id = await deleted(bob, 'Photos/2030', 'shared');
	await share({ bob: 'edit', carol: 'edit' });
	t.like(await restore(carol, id), { restored: [], failed: [{ code: 'NOT_FOUND' }] });
	await share({ bob: 'view', carol: 'edit' });
	t.like(await restore(bob, id), { restored: [], failed: [{ code: 'FORBIDDEN' }] });
	await share({ carol: 'edit' });
	t.like(await restore(bob, id), { restored: [], failed: [{ code: 'NOT_FOUND' }] });
	await share({ bob: 'edit', carol: 'edit' });
	await mkdir(home('docs/Photos/2030'));
	t.deepEqual(await restore(bob, id), { restored: [{ id, path: 'Photos/2030 (1)' }], failed: [] });
	t.is(await readFile(home('docs/Photos/2030 (1)/owl.txt'), 'utf8'), 'an owl');
	t.like(await restore(bob, id), { restored: [], failed: [{ code: 'NOT_FOUND' }] });
	t.deepEqual(json(await ada.get('/api/trash')).entries, []);
	// What its owner has deleted is the owner's to put back.
	const own = await deleted(ada, 'docs/Photos/fox.txt', 'private');
	t.like(await restore(bob, own), { restored: [], failed: [{ code: 'NOT_FOUND' }] });
	// Another folder of that path is not the one that it was in.
	const lost = await deleted(bob, 'Photos/2030 (1)', 'shared');
	await ada.post('/api/renameItem', { oldPath: 'docs/Photos', newName: 'Pictures', type: 'private' });
	await mkdir(home('docs/Photos'));
	t.like(await restore(bob, lost), { restored: [], failed: [{ code: 'NOT_FOUND' }] });
	t.is((await restore(ada, lost)).failed.length, 0);
});

test('what a member deletes, replaces or moves pushes nothing of the owner out of the trash for its long path', async (t) => {
	const { app, ada, bob, home } = await setUp(t, 'edit');
	const deep = Array(4).fill('d'.repeat(200)).join('/');
	await mkdir(home('docs/Photos', deep), { recursive: true });
	for (const name of ['a.txt', 'b.txt']) await writeFile(home('docs/Photos', deep, name), name);
	const replaced = [field('type', 'private'), field('directory', 'docs/Photos'), field('onConflict', 'replace')];
	t.is((await ada.upload('/api/upload', [...replaced, file('fox.txt', 'another fox')])).statusCode, 200);
	// Half of what each side may have, but for 500 bytes.
	const pathBytes = 32 * 1024 * 1024 - 500;
	const ofOthers = new Map([['bob', { items: 9, pathBytes }]]);
	app.services.database.trash.count = async () => ({ items: 18, pathBytes: 2 * pathBytes, ofOthers });
	const type = 'shared';
	const deletion: Change = ['DELETE', '/api/deleteItem', { filePath: `Photos/${deep}/a.txt`, type }];
	const move: Change = [
		'POST',
		'/api/moveItem',
		{ fromPath: 'Photos/fox.txt', toPath: `Photos/${deep}/fox.txt`, type },
	];
	for (const change of [deletion, move]) {
		const answer = await call(bob, change);
		t.is(answer.statusCode, 507, answer.payload);
	}
	const more = [field('onConflict', 'replace')];
	t.is((await upload(bob, `Photos/${deep}`, 'a.txt', more)).statusCode, 507);
	t.is(await readFile(home('docs/Photos', deep, 'a.txt'), 'utf8'), 'a.txt');
	t.is(await readFile(home('docs/Photos/fox.txt'), 'utf8'), 'another fox');
	const rename: Change = ['POST', '/api/renameItem', { oldPath: 'Photos/fox.txt', newName: 'wolves.txt', type }];
	for (const change of [rename, ['DELETE', '/api/deleteItem', { filePath: 'Photos/2030', type }] as const])
		t.is((await call(bob, change)).statusCode, 200, 'where its path is short');
	const own = [
		[
			'POST',
			'/api/moveItem',
			{ fromPath: 'docs/Photos/wolves.txt', toPath: `docs/Photos/${deep}/fox.txt`, type: 'private' },
		],
		['DELETE', '/api/deleteItem', { filePath: `docs/Photos/${deep}/b.txt`, type: 'private' }],
	] as const;
	for (const change of own) t.is((await call(ada, change)).statusCode, 200, 'what its owner does');
});

test('a member who has put very much into the trash of the owner deletes and replaces no more, and ends nothing', async (t) => {
	const { app, ada, bob, carol, home, share } = await setUp(t, 'edit');
	await share({ bob: 'edit', carol: 'edit' });
	const former = await readFile(home('docs/Photos/fox.txt'), 'utf8');
	const fields = [field('type', 'private'), field('directory', 'docs/Photos'), field('onConflict', 'replace')];
	t.is((await ada.upload('/api/upload', [...fields, file('fox.txt', 'another fox')])).statusCode, 200);
	const ofOthers = new Map([['bob', { items: 50_000, pathBytes: 1 }]]);
	app.services.database.trash.count = async () => ({ items: 149_000, pathBytes: 1, ofOthers });
	const deletion: Change = ['DELETE', '/api/deleteItem', { filePath: 'Photos/2030/owl.txt', type: 'shared' }];
	const replacement = (client: Client) => upload(client, 'Photos', 'fox.txt', [field('onConflict', 'replace')]);
	for (const answer of [await call(bob, deletion), await replacement(bob)])
		t.is(answer.statusCode, 507, answer.payload);
	t.is(await readFile(home('docs/Photos/2030/owl.txt'), 'utf8'), 'an owl');
	t.is(await readFile(home('docs/Photos/fox.txt'), 'utf8'), 'another fox');
	const viewer = { kind: 'user' as const, ...(await app.services.accounts.find('bob')) };
	const owl = { area: 'shared' as const, path: parsePath('Photos/2030/owl.txt') };
	const removal = await t.throwsAsync(app.services.files.assertRemovable(viewer, owl));
	t.like(removal, { kind: 'storageFull' }, 'before all of it is copied to where it is to be');
	const fox = { filePath: 'Photos/fox.txt', type: 'shared' };
	const [version] = json(await bob.get('/api/versions/Photos/fox.txt?type=shared')).versions;
	t.is((await bob.post('/api/versions/restore', { ...fox, id: version.id })).statusCode, 200);
	t.is(
		await readFile(home('docs/Photos/fox.txt'), 'utf8'),
		former,
		'one that is restored gives its place to another one',
	);
	t.is((await replacement(carol)).statusCode, 200, 'others have room');
	t.is((await call(carol, deletion)).statusCode, 200);
	const own = { filePath: 'docs/Photos/fox.txt', type: 'private' };
	t.is((await ada.call('DELETE', '/api/deleteItem', own)).statusCode, 200);
});

test('a member whose role ends while a change waits for another process that moves files of the owner changes nothing', async (t) => {
	const { app, bob, home, share } = await setUp(t, 'edit');
	t.is((await upload(bob, 'Photos', 'fox.txt', [field('onConflict', 'replace')])).statusCode, 200);
	const { leases, users } = app.services.database;
	const name = `versions ${(await users.find('ada'))?.id}`;
	const lease = await leases.acquire(name, 'another process', 60_000);
	const renaming = call(bob, [
		'POST',
		'/api/renameItem',
		{ oldPath: 'Photos/fox.txt', newName: 'wolf.txt', type: 'shared' },
	]);
	await until('it waits', async () => (await leases.find(name))?.isRequested === true);
	await share({});
	if (lease !== undefined) await leases.release(lease);
	t.is((await renaming).statusCode, 404);
	t.deepEqual((await readdir(home('docs/Photos'))).sort(), ['2030', 'fox.txt']);
});

test('a member whose role ends while a move is prepared moves nothing, be it where the item is or where it goes', async (t) => {
	const { app, bob, home, share } = await setUp(t, 'edit');
	t.is((await upload(bob, 'Photos', 'fox.txt', [field('onConflict', 'replace')])).statusCode, 200);
	await mkdir(home('docs/Other'));
	const { versions } = app.services.database;
	const { countsWithin } = versions;
	const move = { fromPath: 'Photos/fox.txt', toPath: 'Other/the same fox.txt', type: 'shared' };
	for (const lost of ['docs/Photos', 'docs/Other']) {
		for (const folder of ['docs/Photos', 'docs/Other']) await share({ bob: 'edit' }, folder);
		versions.countsWithin = async (...values) => {
			versions.countsWithin = countsWithin;
			await share({}, lost);
			return countsWithin(...values);
		};
		t.is((await call(bob, ['POST', '/api/moveItem', move])).statusCode, 404, lost);
		t.deepEqual(await readdir(home('docs/Other')), [], lost);
	}
	for (const folder of ['docs/Photos', 'docs/Other']) await share({ bob: 'edit' }, folder);
	t.is((await call(bob, ['POST', '/api/moveItem', move])).statusCode, 200);
});

test('a member renames and deletes what has versions while the database has no room for long paths', async (t) => {
	const { app, ada, bob } = await setUp(t, 'edit');
	const replaced = [field('type', 'private'), field('directory', 'docs/Photos'), field('onConflict', 'replace')];
	t.is((await ada.upload('/api/upload', [...replaced, file('fox.txt', 'another fox')])).statusCode, 200);
	app.services.databaseReserve.assertRoom = async () => {
		throw new Failure('storageFull', 'There is not enough free space on the disk of the database.');
	};
	const type = 'shared';
	const rename: Change = ['POST', '/api/renameItem', { oldPath: 'Photos/fox.txt', newName: 'wolves.txt', type }];
	for (const change of [rename, ['DELETE', '/api/deleteItem', { filePath: 'Photos/wolves.txt', type }] as const]) {
		const answer = await call(bob, change);
		t.is(answer.statusCode, 200, answer.payload);
	}
});

test('where no versions are kept, what a member replaces is in the trash of the owner, with the member’s name', async (t) => {
	const { app, ada, bob, home } = await setUp(t, 'edit', { '--versions-keep-for': '0' });
	const names = ['upload', 'tus', 'move', 'copy', longName];
	for (const name of names) await writeFile(home('docs/Photos', name), `of ada’s: ${name}`);
	const bring = async (client: Client, type: string, directory: string, name: string) => {
		const fields = [field('type', type), field('directory', directory), field('onConflict', 'replace')];
		t.is((await client.upload('/api/upload', [...fields, file(name, 'new')])).statusCode, 200);
	};
	for (const name of ['upload', names.at(-1) ?? '']) await bring(bob, 'shared', 'Photos', name);
	const target = { filename: 'tus', type: 'shared', directory: 'Photos', onConflict: 'replace' };
	t.is((await patch(bob, await begin(bob, 3, target), 0, 'new')).statusCode, 204);
	await bring(bob, 'shared', 'Photos/2030', 'move');
	for (const how of ['copy', 'move']) {
		const paths = { fromPath: 'Photos/2030/move', toPath: `Photos/${how}` };
		const answer = await bob.post(`/api/${how}Item`, { ...paths, type: 'shared', onConflict: 'replace' });
		t.is(answer.statusCode, 200, answer.payload);
	}
	for (const name of names) t.is(await readFile(home('docs/Photos', name), 'utf8'), 'new', name);
	const trashed = async () => json(await ada.get('/api/trash')).entries;
	const rows = await trashed();
	t.deepEqual(rows.map(({ path }: { path: string }) => path).sort(), names.map((name) => `docs/Photos/${name}`).sort());
	t.true(rows.every(({ deletedBy }: { deletedBy: string }) => deletedBy === 'bob'));
	const restored = json(await ada.post('/api/trash/restore', { ids: rows.map(({ id }: { id: string }) => id) }));
	t.is(restored.restored.length, names.length);
	const contents = await Promise.all(
		restored.restored.map(({ path: at }: { path: string }) => readFile(home(at), 'utf8')),
	);
	t.deepEqual(contents.sort(), names.map((name) => `of ada’s: ${name}`).sort());
	// What the owner replaces is gone, as the administrator has chosen.
	await bring(ada, 'private', 'docs/Photos', 'upload');
	t.deepEqual(await trashed(), []);
	t.is((await app.services.database.trash.count('ada', 'version')).items, 0);
});

const longName = `${'long '.repeat(45)}name`;

test('what a member replaces by a copy is deleted once it is replaced, and does not go with what the owner removes before', async (t) => {
	const { app, ada, bob, home } = await setUp(t, 'edit', { '--versions-keep-for': '0' });
	const { storage } = app.services.roots.first;
	const plain = storage.copy;
	let copiedAt = 0;
	storage.copy = async (...args) => {
		t.is((await ada.call('DELETE', '/api/trash')).statusCode, 200);
		copiedAt = Date.now();
		return plain.apply(storage, args);
	};
	for (const name of [longName, 'fox.txt']) {
		await writeFile(home('docs/Photos', name), 'of ada’s');
		const paths = { fromPath: 'Photos/2030/owl.txt', toPath: `Photos/${name}` };
		const answer = await bob.post('/api/copyItem', { ...paths, type: 'shared', onConflict: 'replace' });
		t.is(answer.statusCode, 200, answer.payload);
		const [deleted, ...others] = json(await ada.get('/api/trash')).entries;
		t.is(deleted?.path, `docs/Photos/${name}`);
		t.deepEqual(others, []);
		t.true(deleted.deletedAt >= copiedAt, name);
		const restored = json(await ada.post('/api/trash/restore', { ids: [deleted.id] })).restored;
		t.is(await readFile(home(restored[0].path), 'utf8'), 'of ada’s');
	}
});

test('what a member replaces keeps its place in the trash while a faulty disk holds it back', async (t) => {
	const { app, bob, home } = await setUp(t, 'edit', { '--versions-keep-for': '0' });
	const { database, roots } = app.services;
	await writeFile(home('docs/Photos', longName), 'of ada’s');
	const moving = () => database.trash.inState('moving', { limit: 9 });
	const copy = () => {
		const paths = { fromPath: 'Photos/2030/owl.txt', toPath: `Photos/${longName}` };
		return bob.post('/api/copyItem', { ...paths, type: 'shared', onConflict: 'replace' });
	};
	let isHeldBack = false;
	roots.first.storage.copy = async (_from, _to, { beforeNaming } = {}) => {
		await beforeNaming?.(longName);
		if (isHeldBack) await rename(home('docs/Photos', longName), home('held back'));
		throw new Failure('unavailable', 'The disk is away.');
	};
	t.is((await copy()).statusCode, 503);
	t.deepEqual(await moving(), [], 'the file is still there');
	isHeldBack = true;
	t.is((await copy()).statusCode, 503);
	t.deepEqual(
		(await moving()).map(({ path }) => path),
		[parsePath(`docs/Photos/${longName}`)],
	);
});

test('where no versions are kept, a member who has put very much into the trash of the owner replaces no more, and is told so', async (t) => {
	const { app, bob, home } = await setUp(t, 'edit', { '--versions-keep-for': '0' });
	const ofOthers = new Map([['bob', { items: 50_000, pathBytes: 1 }]]);
	app.services.database.trash.count = async () => ({ items: 149_000, pathBytes: 1, ofOthers });
	const refused = await upload(bob, 'Photos', 'fox.txt', [field('onConflict', 'replace')]);
	t.is(refused.statusCode, 507, refused.payload);
	t.regex(refused.payload, /for more that you replace/);
	t.is(await readFile(home('docs/Photos/fox.txt'), 'utf8'), 'a fox');
});

test('where neither versions nor a trash are kept, a member replaces files all the same', async (t) => {
	const { bob, home } = await setUp(t, 'edit', { '--versions-keep-for': '0', '--trash-keep-for': '0' });
	const fields = [field('type', 'shared'), field('directory', 'Photos'), field('onConflict', 'replace')];
	t.is((await bob.upload('/api/upload', [...fields, file('fox.txt', 'new')])).statusCode, 200);
	t.is(await readFile(home('docs/Photos/fox.txt'), 'utf8'), 'new');
});

test('where there is no trash members delete nothing', async (t) => {
	const { bob } = await setUp(t, 'edit', { '--trash-keep-for': '0' });
	t.is((await call(bob, ['DELETE', '/api/deleteItem', { filePath: 'Photos/2030', type: 'shared' }])).statusCode, 403);
	t.deepEqual(await sharedNames(bob, 'Photos/2030'), ['owl.txt']);
});

test('what a failed form of a member gives back to the quota of the owner is what was removed, also where nothing can be recorded', async (t) => {
	const { app, ada, bob } = await setUp(t, 'edit', { '--quotas-user-bytes': '100 KB' });
	const used = () =>
		until(
			'the quota is known',
			async () => (json(await ada.get('/api/checkLoginStatus')).quota as { used: number } | null)?.used,
		);
	const before = await used();
	const full = () => Promise.reject(new Failure('storageFull', 'The storage is full.'));
	const { storage } = app.services.roots.first;
	const { stage } = storage;
	let staged = 0;
	storage.stage = async (id) => {
		const one = await stage.call(storage, id);
		if (++staged === 2) one.commit = full;
		return one;
	};
	app.services.database.trash.addMissing = full;
	t.is((await upload(bob, 'Photos', 'one.txt', [file('two.txt', 'sent')])).statusCode, 507);
	t.deepEqual(await sharedNames(bob, 'Photos'), ['2030', 'fox.txt']);
	t.is(await used(), before);
});

test('a copy that goes on looks for itself only in the folder that is shared, not in one that has got its path', async (t) => {
	const { app, home } = await setUp(t, 'edit');
	const { sharedFolders, trees } = app.services;
	const bob = await app.services.accounts.find('bob');
	const path = parsePath('Photos');
	const { viewer } = await enterFolder(sharedFolders, { kind: 'user', ...bob }, { path }, 'edit');
	const { storage } = trees.own(viewer, 'private');
	const at = (name: string) => parsePath(`users/ada/docs/Photos/${name}`);
	const begun: string[] = [];
	const onBegin = async (id: string) => void begun.push(id);
	await storage.copyFrom(storage, at('fox.txt'), at('copy.txt'), { staged: { id: undefined, onBegin } });
	const find = () => storage.findCopy(storage, at('fox.txt'), at('copy.txt'), { id: begun[0] });
	t.is((await find())?.name, 'copy.txt');
	await rename(home('docs/Photos'), home('docs/Pictures'));
	await mkdir(home('docs/Photos'));
	for (const name of ['fox.txt', 'copy.txt']) await rename(home('docs/Pictures', name), home('docs/Photos', name));
	t.true(isFailure(await t.throwsAsync(find()), 'notFound'));
});

test('a form is published in a shared folder, and replaces what is there as a version of the owner’s', async (t) => {
	const { ada, bob, home, share } = await setUp(t, 'edit');
	t.like(json(await upload(bob, 'Photos')).entries[0], { path: 'Photos/up.txt', size: 4 });
	t.is(await readFile(home('docs/Photos/up.txt'), 'utf8'), 'sent');
	t.is(json(await upload(bob, 'Photos')).entries[0].path, 'Photos/up (1).txt');
	t.is((await upload(bob, 'Photos', 'fox.txt', [field('onConflict', 'replace')])).statusCode, 200);
	t.is(await readFile(home('docs/Photos/fox.txt'), 'utf8'), 'sent');
	const versions = async (client: Client, url: string) => {
		const answer = await client.get(url);
		return answer.statusCode === 200 ? json(answer).versions : answer.statusCode;
	};
	const [version] = await versions(ada, '/api/versions/docs/Photos/fox.txt?type=private');
	t.is(version.replacedBy, 'bob');
	t.deepEqual(await versions(bob, '/api/versions/Photos/fox.txt?type=shared'), [version]);
	t.is((await bob.get(`/api/download/Photos/fox.txt?type=shared&version=${version.id}`)).payload, 'a fox');
	t.is((await bob.call('DELETE', `/api/versions/${version.id}`)).statusCode, 404);
	await share({ bob: 'view' });
	t.is(await versions(bob, '/api/versions/Photos/fox.txt?type=shared'), 403);
	t.is((await bob.get(`/api/download/Photos/fox.txt?type=shared&version=${version.id}`)).statusCode, 403);
	const restore = { filePath: 'Photos/fox.txt', type: 'shared', id: version.id };
	t.is((await bob.post('/api/versions/restore', restore)).statusCode, 403);
	t.is((await upload(bob, 'Photos')).statusCode, 403);
	await share({ bob: 'edit' });
	t.like(json(await bob.post('/api/versions/restore', restore)).entry, { path: 'Photos/fox.txt', size: 5 });
	t.is((await upload(bob, 'docs')).statusCode, 404);
	t.is((await upload(bob, '')).statusCode, 403);
	await share({});
	t.is((await upload(bob, 'Photos')).statusCode, 404);
});

test('members copy from a shared folder into their own home, also all of it', async (t) => {
	const { bob, carol, app } = await setUp(t, 'view');
	const copy = (fromPath: string, toPath: string, client = bob) =>
		client.post('/api/copyItem', { fromPath, fromType: 'shared', toPath, type: 'private' });
	t.like(json(await copy('Photos', 'all')).entry, { path: 'all', type: 'directory' });
	t.is(await readFile(`${app.filesDir}/users/bob/all/2030/owl.txt`, 'utf8'), 'an owl');
	t.is(json(await copy('Photos/fox.txt', 'fox.txt')).entry.path, 'fox.txt');
	t.is((await copy('Photos/fox.txt', 'fox.txt', carol)).statusCode, 404);
	t.is((await copy('docs/canary.txt', 'canary.txt')).statusCode, 404);
});

test('of two folders with members that an item lies in the closer one counts', async (t) => {
	const { bob, home, share } = await setUp(t, 'edit');
	await mkdir(home('docs/Photos/2030/inner'));
	await share({ bob: 'view' }, 'docs/Photos/2030');
	const create = (directory: string) => bob.post('/api/createFolder', { directory, folderName: 'new', type: 'shared' });
	t.is((await create('Photos')).statusCode, 200);
	for (const directory of ['Photos/2030', 'Photos/2030/inner', '2030']) t.is((await create(directory)).statusCode, 403);
	const gone = (filePath: string) => bob.call('DELETE', '/api/deleteItem', { filePath, type: 'shared' });
	t.is((await gone('Photos/2030')).statusCode, 403);
	await mkdir(home('docs/Photos/above'));
	await share({ bob: 'view' }, 'docs/Photos');
	await share({ bob: 'edit' }, 'docs/Photos/2030');
	t.is((await create('Photos')).statusCode, 403);
	t.is((await create('Photos/2030')).statusCode, 200);
	t.is((await gone('Photos/2030')).statusCode, 403, 'its folder is not to be changed');
	t.is((await gone('2030/inner')).statusCode, 200);

	// What holds a folder that is only to be looked at is not taken away with it.
	await share({ bob: 'edit' }, 'docs/Photos');
	await share({ bob: 'view' }, 'docs/Photos/2030');
	const move = { fromPath: 'Photos/2030', toPath: 'Photos/above/2030', type: 'shared' };
	t.is((await bob.post('/api/moveItem', move)).statusCode, 403);
});

test('items move between two shared folders of one owner', async (t) => {
	const { bob, home, share } = await setUp(t, 'edit');
	await mkdir(home('inbox'));
	await share({ bob: 'edit' }, 'inbox');
	const move = { fromPath: 'Photos/2030', toPath: 'inbox/2030', type: 'shared' };
	t.like(json(await bob.post('/api/moveItem', move)).entry, { path: 'inbox/2030' });
	t.is(await readFile(home('inbox/2030/owl.txt'), 'utf8'), 'an owl');
	await share({ bob: 'view' }, 'inbox');
	t.is((await bob.post('/api/moveItem', { ...move, fromPath: 'inbox/2030', toPath: 'Photos/2030' })).statusCode, 403);
	t.is((await bob.post('/api/moveItem', { ...move, fromPath: 'Photos/fox.txt' })).statusCode, 403);
});

const ended = (client: Client, id: string) =>
	until('the job ends', async () => {
		const job = json(await client.get(`/api/jobs/${id}`));
		return ['completed', 'failed', 'cancelled'].includes(job.status) && job;
	});

const jobOf = async (t: ExecutionContext, client: Client, input: object) => {
	const answer = await client.post('/api/jobs', input);
	t.is(answer.statusCode, 202, answer.payload);
	return ended(client, json(answer).id);
};

test('items move by a job into a shared folder, out of it and to that of another owner', async (t) => {
	const { app, ada, bob, carol, home, share } = await setUp(t, 'edit');
	await mkdir(`${app.filesDir}/users/bob/Photos`);
	await writeFile(`${app.filesDir}/users/bob/Photos/fox.txt`, 'of bob');
	const out = { kind: 'move', type: 'shared', toType: 'private', directory: '', items: [{ path: 'Photos/fox.txt' }] };
	t.like(await jobOf(t, bob, out), { status: 'completed' });
	t.is(await readFile(`${app.filesDir}/users/bob/fox.txt`, 'utf8'), 'a fox');
	t.is(await readFile(`${app.filesDir}/users/bob/Photos/fox.txt`, 'utf8'), 'of bob', 'nothing of the same path');
	t.like(json(await ada.get('/api/trash')).entries, [{ path: 'docs/Photos/fox.txt' }]);

	const into = {
		kind: 'move',
		type: 'private',
		toType: 'shared',
		directory: 'Photos/2030',
		items: [{ path: 'mine.txt' }],
	};
	t.like(await jobOf(t, bob, into), { status: 'completed' });
	t.is(await readFile(home('docs/Photos/2030/mine.txt'), 'utf8'), 'mine');
	t.like(json(await bob.get('/api/trash')).entries, [{ path: 'mine.txt' }]);

	await carol.post('/api/createFolder', { directory: '', folderName: 'of carol', type: 'private' });
	await share({ bob: 'edit' }, 'of carol', carol);
	const across = { fromPath: 'Photos/2030', toPath: 'of carol/2030', type: 'shared' };
	t.like(json(await bob.post('/api/moveItem', across)).entry, { path: 'of carol/2030', type: 'directory' });
	t.deepEqual(await sharedNames(bob, 'of carol/2030'), ['mine.txt', 'owl.txt']);
	t.deepEqual(await sharedNames(bob, 'Photos'), []);

	await share({ bob: 'view' }, 'of carol', carol);
	const taken = { ...out, items: [{ path: 'of carol/2030' }] };
	t.is((await bob.post('/api/jobs', taken)).statusCode, 403);
	t.is((await bob.get('/api/browse?type=private&directory=2030')).statusCode, 404, 'nothing is copied that stays');
	t.like(await jobOf(t, bob, { ...taken, kind: 'copy' }), { status: 'completed' });
	t.is((await bob.post('/api/jobs', { ...into, directory: 'of carol', items: [{ path: 'fox.txt' }] })).statusCode, 403);
	t.is(await readFile(`${app.filesDir}/users/bob/fox.txt`, 'utf8'), 'a fox');
});

test('what is changed while it moves to a folder of another owner stays, under the name that the member knows', async (t) => {
	const { app, bob, carol, home, share } = await setUp(t, 'edit');
	await carol.post('/api/createFolder', { directory: '', folderName: 'of carol', type: 'private' });
	await share({ bob: 'edit' }, 'of carol', carol);
	const user = await app.services.database.users.find('bob');
	const viewer = { kind: 'user', id: String(user?.id), username: 'bob' } as const;
	const { files, sharedFolders } = app.services;
	const item = { area: 'shared', path: parsePath('Photos/2030') } as const;
	const moves = (change: () => Promise<void>) =>
		sharedChanges(files, {
			folders: sharedFolders,
			trash: { isOn: true },
			async copyFor(_viewer, _ref, _to, options) {
				await change();
				await options?.beforeNaming?.('2030');
				throw new Error('It would get its name.');
			},
		}).move(viewer, item, parsePath('of carol/2030'));
	const changed = await t.throwsAsync(moves(() => writeFile(home('docs/Photos/2030/late.txt'), 'late')));
	t.is(
		changed?.message,
		'2030 was changed while it was copied, and stays where it was. Move it again once nothing changes in it.',
	);
	t.is(await readFile(home('docs/Photos/2030/late.txt'), 'utf8'), 'late');
	const gone = await t.throwsAsync(moves(() => rename(home('docs/Photos/2030'), home('docs/Photos/2031'))));
	t.is(gone?.message, 'No such file or folder: Photos/2030');
	await rename(home('docs/Photos/2031'), home('docs/Photos/2030'));
	t.is((await t.throwsAsync(moves(async () => {})))?.message, 'It would get its name.');
	// Once the copy has its name, and was compared.
	const late: typeof files = {
		...files,
		async remove(...given) {
			await writeFile(home('docs/Photos/2030/later.txt'), 'later');
			return files.remove(...given);
		},
	};
	const copied = sharedChanges(late, {
		folders: sharedFolders,
		trash: { isOn: true },
		copyFor: async () => ({ ...(await files.find(viewer, item)), path: 'of carol/2030' }),
	}).move(viewer, item, parsePath('of carol/2030'));
	t.is(
		(await t.throwsAsync(copied))?.message,
		'2030 was changed after it was copied, and stays where it was. The copy is kept too, without what was changed.',
	);
	t.is(await readFile(home('docs/Photos/2030/later.txt'), 'utf8'), 'later');
	t.is(json(await bob.get('/api/browse?type=shared&directory=of%20carol')).entries.length, 0);
});

test('a job that would change only what its user may look at is refused at once', async (t) => {
	const { bob, share } = await setUp(t, 'view');
	const [mine, fox] = [[{ path: 'mine.txt' }], [{ path: 'Photos/fox.txt' }]];
	const into = { type: 'private', toType: 'shared', directory: 'Photos/2030', items: mine };
	const within = { type: 'shared', directory: 'Photos/2030', items: fox };
	const out = { type: 'shared', toType: 'private', directory: '', items: fox };
	const refused = [
		...['copy', 'move'].flatMap((kind) => [into, within].map((input) => ({ kind, ...input }))),
		{ kind: 'move', ...out },
	];
	for (const input of refused) {
		const answer = await bob.post('/api/jobs', input);
		t.like(
			json(answer),
			{ statusCode: 403, message: 'You may look at this, and not change it.' },
			JSON.stringify(input),
		);
	}
	t.deepEqual(json(await bob.get('/api/jobs')), []);
	t.like(await jobOf(t, bob, { kind: 'copy', ...out }), { status: 'completed' });
	t.is((await bob.post('/api/jobs', { kind: 'copy', ...into, directory: 'None' })).statusCode, 404);

	await share({ bob: 'edit' }, 'docs/Photos/2030');
	const some = [...fox, { path: 'Photos/2030/owl.txt' }];
	const moved = await jobOf(t, bob, { kind: 'move', ...out, items: some });
	t.like(moved, { status: 'completed', detail: { done: 1, failed: 1, errors: [{ code: 'FORBIDDEN' }] } });
});

/** A job that could not be done as long as its item was not there, and is retried once something else has become of the folder. */
const retried = async (t: ExecutionContext, client: Client, input: object, change: () => Promise<unknown>) => {
	const { id } = json(await client.post('/api/jobs', input));
	t.is((await ended(client, id)).status, 'failed');
	await change();
	t.is((await client.post(`/api/jobs/${id}/retry`, {})).statusCode, 200);
	return ended(client, id);
};

for (const kind of ['copy', 'move']) {
	const into = { kind, type: 'private', toType: 'shared', directory: 'Photos', items: [{ path: 'late.txt' }] };

	test(`a ${kind} into a folder that is no longer shared never goes into one of another owner that has its name`, async (t) => {
		const { app, bob, carol, share } = await setUp(t, 'edit');
		const job = await retried(t, bob, into, async () => {
			await writeFile(`${app.filesDir}/users/bob/late.txt`, 'late');
			await share({});
			await carol.post('/api/createFolder', { directory: '', folderName: 'Photos', type: 'private' });
			await share({ bob: 'edit' }, 'Photos', carol);
		});
		t.like(job, { status: 'failed', error: 'This is not shared with you any more.' });
		t.deepEqual(await sharedNames(bob, 'Photos'), []);
		t.is(await readFile(`${app.filesDir}/users/bob/late.txt`, 'utf8'), 'late');
	});

	test(`a ${kind} into a folder that was renamed goes there, and not into another one that has got its name`, async (t) => {
		const { app, ada, bob, carol, home, share } = await setUp(t, 'edit');
		const job = await retried(t, bob, into, async () => {
			await writeFile(`${app.filesDir}/users/bob/late.txt`, 'late');
			await ada.post('/api/renameItem', { oldPath: 'docs/Photos', newName: 'Pictures', type: 'private' });
			await carol.post('/api/createFolder', { directory: '', folderName: 'Photos', type: 'private' });
			await share({ bob: 'edit' }, 'Photos', carol);
		});
		t.is(job.status, 'completed');
		t.is(await readFile(home('docs/Pictures/late.txt'), 'utf8'), 'late');
		t.deepEqual(await sharedNames(bob, 'Photos'), []);
	});
}

test('a move within shared folders takes nothing of another owner’s that has got the name of one, and puts nothing there', async (t) => {
	const { app, bob, carol, share } = await setUp(t, 'edit');
	const within = { kind: 'move', type: 'shared', toType: 'shared', directory: 'Photos/2030' };
	const job = await retried(t, bob, { ...within, items: [{ path: 'Photos/late.txt' }] }, async () => {
		await share({});
		await mkdir(`${app.filesDir}/users/carol/Photos/2030`, { recursive: true });
		await writeFile(`${app.filesDir}/users/carol/Photos/late.txt`, 'of carol');
		await share({ bob: 'edit' }, 'Photos', carol);
	});
	t.is(job.status, 'failed');
	t.deepEqual(await sharedNames(bob, 'Photos'), ['2030', 'late.txt']);
	t.deepEqual(await sharedNames(bob, 'Photos/2030'), []);
});

test('a reference with the id of its shared folder means no other one, also of the same name', async (t) => {
	const { app, bob, carol, share } = await setUp(t, 'edit');
	const { files, accounts, sharedFolders } = app.services;
	const { id, username } = await accounts.find('bob');
	const viewer = { kind: 'user' as const, id, username };
	const folderId = (await sharedFolders.joined(id))[0]?.folder.id ?? '';
	await share({});
	await mkdir(`${app.filesDir}/users/carol/Photos/2030`, { recursive: true });
	await writeFile(`${app.filesDir}/users/carol/Photos/fox.txt`, 'of carol');
	await share({ bob: 'edit' }, 'Photos', carol);
	const at = (name: string) => ({ area: 'shared' as const, path: parsePath(`Photos/${name}`) });
	const own = { area: 'private' as const, path: parsePath('mine.txt') };
	const fox = { ...at('fox.txt'), folderId };
	const stat = async () => {
		for await (const _ of files.stat(viewer, 'shared', [fox])) t.fail();
	};
	for (const attempt of [
		() => files.locate(viewer, fox),
		() => files.find(viewer, fox),
		stat,
		() => files.copy(viewer, own, { ...at('new.txt'), folderId }),
		() => files.copy(viewer, fox, { ...own, path: parsePath('new.txt') }),
		() => files.move(viewer, fox, at('2030/fox.txt').path),
		() => files.move(viewer, at('fox.txt'), at('2030/fox.txt').path, { toFolderId: folderId }),
		() => files.remove(viewer, fox),
		() => files.assertRemovable(viewer, fox),
	])
		t.like(await t.throwsAsync(attempt), { kind: 'notFound' }, `${attempt}`);
	t.deepEqual(await sharedNames(bob, 'Photos'), ['2030', 'fox.txt']);
	t.deepEqual(await sharedNames(bob, 'Photos/2030'), []);
});

test('a member’s many replacements end no former content of the owner’s, and what they end is in the audit log', async (t) => {
	const { app, ada, bob } = await setUp(t, 'edit');
	const replace = [field('onConflict', 'replace')];
	const own = (text: string) =>
		ada.upload('/api/upload', [
			...[field('type', 'private'), field('directory', 'docs/Photos'), ...replace],
			file('fox.txt', text),
		]);
	for (const text of ['second', 'third', 'fourth']) t.is((await own(text)).statusCode, 200);
	for (let n = 0; n < 55; n++) t.is((await upload(bob, 'Photos', 'fox.txt', replace)).statusCode, 200);
	const { versions } = json(await ada.get('/api/versions/docs/Photos/fox.txt?type=private'));
	t.is(versions.length, 50);
	const oldest = await Promise.all(
		versions.slice(-4).map(async ({ id }: { id: string }) => {
			const version = await ada.get(`/api/download/docs/Photos/fox.txt?type=private&version=${id}`);
			return version.payload;
		}),
	);
	t.deepEqual(oldest.reverse(), ['a fox', 'second', 'third', 'fourth']);
	await app.services.audit.close();
	const ended = (await recordsOf(app)).filter(({ action }) => action === 'purgeVersions');
	const { id: accountId } = await app.services.accounts.find('ada');
	for (const line of ended)
		t.like(line, { outcome: 'ok', account: 'ada', accountId, detail: 'number, by bob', user: undefined });
	const sum = ended.reduce((all, { entries = 0 }) => all + entries, 0);
	t.is(sum, 8, 'each content that goes for another one is in a line');
});

const lose = async (t: ExecutionContext, role: 'view' | undefined, intoShared: boolean) => {
	const { app, bob, share, home } = await setUp(t, 'edit');
	const { files, accounts, sharedFolders } = app.services;
	const { id, username } = await accounts.find('bob');
	const shared = { area: 'shared' as const, path: parsePath('Photos/2030') };
	const own = { area: 'private' as const, path: parsePath('copied') };
	await mkdir(`${app.filesDir}/users/bob/own`);
	await writeFile(`${app.filesDir}/users/bob/own/a.txt`, 'a');
	const [from, to] = intoShared
		? [
				{ ...own, path: parsePath('own') },
				{ ...shared, path: parsePath('Photos/copied') },
			]
		: [shared, own];
	const copying = files.copy({ kind: 'user', id, username }, from, to, {
		// The last moment that a copy shows: after it the whole is published.
		async beforeItem({ type }) {
			if (type !== 'file') return;
			await share(role === undefined ? {} : { bob: role });
			if (role === undefined) await until('it is known', () => sharedFolders.held.count === 0);
		},
	});
	const error = await t.throwsAsync(copying);
	// Who may still look is told so, unless the end is noticed first.
	t.true(isFailure(error, 'notFound') || (role === 'view' && isFailure(error, 'forbidden')), `${error}`);
	await t.throwsAsync(readFile(`${app.filesDir}/users/bob/copied/owl.txt`));
	await t.throwsAsync(readFile(home('docs/Photos/copied/a.txt')));
	t.is((await bob.get('/api/browse?type=private&directory=copied')).statusCode, 404);
};
test('a copy from a shared folder ends with the membership, and leaves nothing', lose, undefined, false);
test('a copy into a shared folder ends with the membership, and leaves nothing', lose, undefined, true);
test('a copy into a shared folder ends with the right to edit, and leaves nothing', lose, 'view', true);

test('nothing is moved or copied beside a shared folder, or into one that is only looked at, by a name that is taken there', async (t) => {
	const { bob, home, share } = await setUp(t, 'edit');
	await share({ bob: 'edit' }, 'docs/Photos/2030');
	const names = async () => [await readdir(home('docs')), await readdir(home('docs/Photos'))].map((all) => all.sort());
	const before = await names();
	const into = (toPath: string) =>
		[
			['/api/moveItem', { fromPath: 'Photos/2030/owl.txt', toPath, type: 'shared' }],
			['/api/moveItem', { fromPath: 'Photos/2030/owl.txt', toPath, type: 'shared', onConflict: 'replace' }],
			['/api/copyItem', { fromPath: 'Photos/2030/owl.txt', toPath, type: 'shared' }],
			['/api/copyItem', { fromPath: 'mine.txt', fromType: 'private', toPath, type: 'shared' }],
		] as const;
	const refused = async (toPath: string) => {
		for (const [url, payload] of into(toPath))
			t.is((await bob.post(url, payload)).statusCode, 403, JSON.stringify(payload));
	};
	await refused('Photos');
	await share({ bob: 'view' });
	await refused('Photos/2030');
	t.deepEqual(await names(), before);
	t.deepEqual(await readdir(home('docs/Photos/2030')), ['owl.txt']);
});

test('who edits a folder within one that is only looked at brings items there by the path of either', async (t) => {
	const { bob, home, share } = await setUp(t, 'view');
	await share({ bob: 'edit' }, 'docs/Photos/2030');
	const copy = (toPath: string) =>
		bob.post('/api/copyItem', { fromPath: 'mine.txt', fromType: 'private', toPath, type: 'shared' });
	t.is((await copy('2030/new/mine.txt')).statusCode, 200);
	t.is((await copy('Photos/2030/other/mine.txt')).statusCode, 200);
	const move = { fromPath: 'Photos/2030/owl.txt', toPath: 'Photos/2030/other/owl.txt', type: 'shared' };
	t.is((await bob.post('/api/moveItem', move)).statusCode, 200);
	t.is((await copy('Photos/new/mine.txt')).statusCode, 403);
	t.deepEqual((await readdir(home('docs/Photos/2030'), { recursive: true })).sort(), [
		...['new', 'new/mine.txt', 'other', 'other/mine.txt', 'other/owl.txt'],
	]);
	t.deepEqual((await readdir(home('docs/Photos'))).sort(), ['2030', 'fox.txt']);
});
