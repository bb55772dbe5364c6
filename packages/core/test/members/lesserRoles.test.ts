import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { JoinedFolder, StorageProvider } from '@stowage/plugin-api';
import { Failure, parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { SharedFolders } from '../../src/members/SharedFolders.js';
import { trashedLinkPath } from '../../src/trees/trash/trashPaths.js';
import { field, file, json, type TestApp } from '../testApp.js';
import { memberFixture, sharedNames, sharedRows } from './memberFixture.js';

/** Bob may edit `docs`, and look at `docs/Photos`. */
async function lesserFixture(t: ExecutionContext) {
	const fixture = await memberFixture(t);
	const { bob, share } = fixture;
	await share({ bob: 'edit' }, 'docs');
	await share({ bob: 'view' }, 'docs/Photos');
	const statusOf = async (answer: Promise<{ statusCode: number }>) => (await answer).statusCode;
	return {
		...fixture,
		remove: (at: string) => statusOf(bob.call('DELETE', '/api/deleteItem', { type: 'shared', filePath: at })),
		upload: (at: string) =>
			statusOf(bob.upload('/api/upload', [field('type', 'shared'), field('directory', at), file('x.txt', 'bob')])),
		rename: (at: string, newName: string) =>
			statusOf(bob.call('POST', '/api/renameItem', { type: 'shared', oldPath: at, newName })),
		move: (fromPath: string, toPath: string) =>
			statusOf(bob.call('POST', '/api/moveItem', { fromPath, toPath, type: 'shared' })),
		makeFolder: (at: string, folderName: string) =>
			statusOf(bob.call('POST', '/api/createFolder', { type: 'shared', directory: at, folderName })),
	};
}

type Fixture = Awaited<ReturnType<typeof lesserFixture>>;

/** All that Bob could do to the folder, wherever it is, and what is in it. */
async function assertLocked(t: ExecutionContext, { remove, upload, rename: name, makeFolder }: Fixture, at: string) {
	const done = {
		file: await remove(`${at}/fox.txt`),
		deep: await remove(`${at}/2030/owl.txt`),
		inner: await remove(`${at}/2030`),
		upload: await upload(at),
		deepUpload: await upload(`${at}/2030`),
		folder: await makeFolder(at, 'new'),
		renamed: await name(`${at}/fox.txt`, 'mine.txt'),
		self: await name(at, 'mine'),
		whole: await remove(at),
	};
	for (const [what, status] of Object.entries(done)) t.is(status, 403, `${at}: ${what}`);
}

test('what a member may only look at stays so where another program has renamed it, or moved it deeper', async (t) => {
	const fixture = await lesserFixture(t);
	const { home, bob } = fixture;
	await assertLocked(t, fixture, 'docs/Photos');
	await rename(home('docs/Photos'), home('docs/Pics'));
	await assertLocked(t, fixture, 'docs/Pics');
	await mkdir(home('docs/a/b'), { recursive: true });
	await rename(home('docs/Pics'), home('docs/a/b/Pics'));
	await assertLocked(t, fixture, 'docs/a/b/Pics');
	t.is((await bob.get('/api/download/docs/a/b/Pics/fox.txt?type=shared')).statusCode, 200);
});

test('a folder that holds such a one, wherever that is, is neither removed, renamed nor moved', async (t) => {
	const { home, remove, rename: name, move, upload } = await lesserFixture(t);
	await mkdir(home('docs/a/b'), { recursive: true });
	await mkdir(home('docs/other/b'), { recursive: true });
	await writeFile(home('docs/a/own.txt'), 'bob');
	await rename(home('docs/Photos'), home('docs/a/b/Pics'));
	for (const at of ['docs/a', 'docs/a/b']) {
		t.is(await remove(at), 403, at);
		t.is(await name(at, 'mine'), 403, at);
		t.is(await move(at, 'docs/other/moved'), 403, at);
	}
	t.true(existsSync(home('docs/a/b/Pics/2030/owl.txt')));
	t.is(await upload('docs/a/b'), 200, 'beside it');
	t.is(await remove('docs/a/own.txt'), 200);
	t.is(await name('docs/other', 'others'), 200);
	t.is(await remove('docs/others'), 200);
	await chmod(home('docs/Photos-canary'), 0o300);
	t.teardown(() => chmod(home('docs/Photos-canary'), 0o700));
	if (process.getuid?.() !== 0) t.is(await remove('docs/Photos-canary'), 403, 'it may hold anything');
});

test('what lies at the path of a folder that is not there may only be looked at, until its owner says otherwise', async (t) => {
	const fixture = await lesserFixture(t);
	const { home, bob, share, remove, upload, rename: name, makeFolder } = fixture;
	// As after a restore: other objects at the same paths.
	await rm(home('docs/Photos'), { recursive: true });
	t.is(await makeFolder('docs', 'Photos'), 403);
	await mkdir(home('docs/Photos/2030'), { recursive: true });
	await writeFile(home('docs/Photos/fox.txt'), 'a fox');
	await writeFile(home('docs/Photos/2030/owl.txt'), 'an owl');
	await assertLocked(t, fixture, 'docs/Photos');
	const rows: { name: string; role?: string }[] = await sharedRows(bob, 'docs');
	t.is(rows.find((row) => row.name === 'Photos')?.role, 'view');
	t.is(await upload('docs'), 200);
	t.is(await upload('docs/Photos-canary'), 200);
	await share({ bob: 'edit' });
	t.is(await upload('docs/Photos'), 200);
	t.is(await remove('docs/Photos/fox.txt'), 200);
	t.is(await name('docs/Photos', 'Pics'), 200);
	t.is(await remove('docs/Pics'), 200);
});

test('a folder stays what it is while it moves to the trash or out of it, also where that ends in the middle', async (t) => {
	const fixture = await lesserFixture(t);
	const { app, bob } = fixture;
	const { database } = app.services;
	const row = (await database.members.list()).find(({ path: at }) => at === 'docs/Photos');
	const inTrash = trashedLinkPath('0'.repeat(32));
	const here = parsePath('docs/Photos');
	for (const [at, nextPath] of [
		[here, inTrash],
		[inTrash, here],
	] as const) {
		await database.links.planMoves(new Map([[row?.id ?? '', { path: at, nextPath }]]));
		await assertLocked(t, fixture, 'docs/Photos');
		t.deepEqual(await sharedNames(bob), ['Photos', 'docs']);
	}
	await database.links.setPaths(new Map([[row?.id ?? '', inTrash]]));
	t.deepEqual(await sharedNames(bob), ['docs']);
});

test('two folders that have changed places keep their roles', async (t) => {
	const { home, share, upload, remove } = await lesserFixture(t);
	await mkdir(home('docs/Music'));
	await share({ bob: 'edit' }, 'docs/Music');
	await rename(home('docs/Music'), home('docs/x'));
	await rename(home('docs/Photos'), home('docs/Music'));
	await rename(home('docs/x'), home('docs/Photos'));
	t.is(await upload('docs/Music'), 403);
	t.is(await remove('docs/Music/fox.txt'), 403);
	t.is(await remove('docs/Music'), 403);
});

test('who may edit what a folder lies in does not get round a lesser role by leaving it', async (t) => {
	const { bob, home, share, upload, remove } = await lesserFixture(t);
	await mkdir(home('docs/Photos/2030/Open'));
	await share({ bob: 'edit' }, 'docs/Photos/2030/Open');
	await share({ bob: 'view' }, 'docs/Photos/2030');
	await mkdir(home('plans'));
	await share({ bob: 'view' }, 'plans');
	const leave = async (name: string) => {
		const { statusCode, payload } = await bob.call('DELETE', `/api/members?path=${encodeURIComponent(name)}`);
		return statusCode === 403 ? JSON.parse(payload).error : statusCode;
	};
	const refusal = 'You may edit a folder that this one lies in: leave that one first.';
	t.is(await leave('Photos'), refusal);
	t.is(await leave('2030'), 200, 'in another one that is only looked at');
	t.is(await leave('Open'), 200);
	t.is(await leave('plans'), 200);
	t.is(await remove('docs/Photos/2030/owl.txt'), 403);
	await rename(home('docs/Photos'), home('docs/Pics'));
	t.is(await leave('Photos'), refusal, 'wherever another program has moved it to');
	t.is(await upload('docs/Pics'), 403);
	await rename(home('docs/Pics'), home('docs/Photos'));
	t.is(await leave('docs'), 200);
	t.is(await leave('Photos'), 200);
});

/** Makes the disk of the homes one that ignores case: each method of its storage gets paths in the spelling that the disk has. */
function ignoreCase({ services, filesDir }: TestApp): void {
	const { storage } = services.roots.first;
	const spelled = (at: string) => {
		let folder = filesDir;
		const names = at.split('/').map((name) => {
			const there = existsSync(folder) ? readdirSync(folder) : [];
			const found = there.find((each) => each.toLowerCase() === name.toLowerCase()) ?? name;
			folder = path.join(folder, found);
			return found;
		});
		return names.join('/');
	};
	const toSpelled = (given: unknown) =>
		typeof given === 'string' && given.startsWith('users/') ? spelled(given) : given;
	type Methods = Record<string, (...given: unknown[]) => unknown>;
	const methods = storage as unknown as Methods;
	const names = new Set<string>();
	for (let each: object = storage; each !== Object.prototype; each = Object.getPrototypeOf(each))
		for (const name of Object.getOwnPropertyNames(each)) names.add(name);
	for (const name of names) {
		const method = methods[name];
		if (name === 'constructor' || name === 'stage' || typeof method !== 'function') continue;
		methods[name] = (...given) => method.apply(storage, given.map(toSpelled));
	}
	const { stage } = storage;
	storage.stage = async (...given) => {
		const staged = await stage.apply(storage, given);
		const commit = staged.commit.bind(staged) as (...all: unknown[]) => ReturnType<typeof staged.commit>;
		staged.commit = (...all) => commit(...all.map(toSpelled));
		return staged;
	};
}

test('on a disk that ignores case no other spelling leads past the role of a folder', async (t) => {
	const fixture = await lesserFixture(t);
	const { app, ada, home, share, bob, remove, rename: name, upload } = fixture;
	await mkdir(home('docs/Sub/Inner'), { recursive: true });
	await share({ bob: 'view' }, 'docs/Sub/Inner');
	ignoreCase(app);
	t.is((await ada.get('/api/browse?type=private&directory=DOCS')).statusCode, 200);
	for (const at of ['docs/Photos', 'docs/photos', 'docs/PHOTOS']) await assertLocked(t, fixture, at);
	for (const at of ['docs/sub', 'docs/SUB']) {
		t.is(await remove(at), 403, at);
		t.is(await name(at, 'mine'), 403, at);
	}
	await share({ bob: 'edit' }, 'DOCS/SUB');
	t.is((await bob.call('DELETE', '/api/members?path=Inner')).statusCode, 403);
	t.is(await upload('docs/sub'), 200);
	t.is(json(await bob.get('/api/browse?type=shared&directory=docs/photos')).entries.length, 2);
	t.deepEqual((await readdir(home('docs'))).sort(), ['Photos', 'Photos-canary', 'Sub', 'canary.txt']);
});

test('on a disk that reuses ids a folder that has changed keeps its lesser role', async (t) => {
	const fixture = await lesserFixture(t);
	const { app, ada, home } = fixture;
	const { database, roots } = app.services;
	const storage: StorageProvider = roots.first.storage;
	const { stat } = storage;
	storage.stat = async (at) => ({ ...(await stat.call(storage, at)), mayReuseId: true });
	// As a move of the home to such a disk binds them.
	for (const each of await database.members.list()) {
		const item = await storage.stat(`users/ada/${each.path}` as never);
		await database.links.rebind(each.id, each.itemId, `${item.id} ${item.size} ${item.mtime}`);
	}
	await assertLocked(t, fixture, 'docs/Photos');
	await writeFile(home('docs/Photos/new.txt'), 'of ada');
	t.deepEqual(json(await ada.get('/api/members?path=docs/Photos')).members, []);
	await assertLocked(t, fixture, 'docs/Photos');
	ignoreCase(app);
	await assertLocked(t, fixture, 'docs/photos');
});

/** Bob's folders as rows alone, each at its place, with the stats that a call takes. */
function counted(rows: Readonly<Record<string, 'view' | 'edit'>>) {
	const owner = { id: 'a', username: 'ada' };
	let stats = 0;
	const joined = Object.entries(rows).map(([at, role], n) => ({
		...{ id: `${n}`, owner, path: parsePath(at), nextPath: undefined, itemId: `users/ada/${at}`, role, createdAt: n },
	}));
	const folders = new SharedFolders({
		store: { joined: async () => joined, joinedNames: async () => [] },
		rootOf: async () => 'first',
		storage: () => ({
			async stat(id: string) {
				stats++;
				return { type: 'directory', id };
			},
		}),
	} as never);
	return {
		async roleAt(at: string) {
			stats = 0;
			const { role } = await folders.at({ id: 'b' }, parsePath(at));
			return [role, stats];
		},
	};
}

test('ids are compared only for who may do less in another folder of the owner', async (t) => {
	const editor = counted({ docs: 'edit', music: 'edit', 'music/old': 'edit' });
	t.deepEqual(await editor.roleAt('docs/a/b/c'), ['edit', 1]);
	t.deepEqual(await editor.roleAt(`docs${'/a'.repeat(900)}`), ['edit', 1]);
	const both = counted({ docs: 'edit', plans: 'view' });
	t.deepEqual(await both.roleAt('docs'), ['edit', 1]);
	t.deepEqual(await both.roleAt('plans/a/b'), ['view', 1]);
	t.deepEqual(await both.roleAt('docs/a/b'), ['edit', 3], 'the folder, and two on the way');
	const elsewhere = Object.fromEntries(
		Array.from({ length: 240 }, (_, n) => [n < 120 ? `p${n}` : `plans/p${n}`, 'view'] as const),
	);
	const many = counted({ docs: 'edit', 'docs/a/c': 'view', ...elsewhere });
	t.deepEqual(
		await many.roleAt('docs/a/b'),
		['edit', 6],
		'and those of one that lies in it, and of one elsewhere that many lie in',
	);
	t.deepEqual(await many.roleAt('docs/a/c/d'), ['view', 2]);
});

test('what lies deeper than ids are compared may only be looked at, and is refused at once', async (t) => {
	const member = counted({ docs: 'edit', plans: 'view' });
	t.deepEqual(await member.roleAt(`docs${'/a'.repeat(100)}`), ['edit', 101]);
	t.deepEqual(await member.roleAt(`docs${'/a'.repeat(101)}`), ['view', 1]);
});

test('a folder whose items have very long paths is not looked through for one that is lost, which would take much memory', async (t) => {
	const owner = { id: 'a', username: 'ada' };
	const name = 'd'.repeat(62);
	const joined = (['docs edit', 'lost view'] as const).map((row, n) => {
		const [at = '', role] = row.split(' ');
		return { id: `${n}`, owner, path: parsePath(at), itemId: `users/ada/${at}`, role, createdAt: n } as JoinedFolder;
	});
	let looked = 0;
	const folders = new SharedFolders({
		store: { joined: async () => joined, joinedNames: async () => [] },
		rootOf: async () => 'first',
		storage: () => ({
			async stat(id: string) {
				looked++;
				if (id === 'users/ada/lost') throw new Failure('notFound', 'No such file or folder');
				return { type: 'directory', id };
			},
			async *list(at: string) {
				const depth = at.split('/').length;
				const here = depth < 900 ? [name] : depth === 900 ? Array.from({ length: 8000 }, (_, n) => `${n}`) : [];
				yield here.map((each) => ({ name: each, type: 'directory' }));
			},
		}),
	} as never);
	const place = await folders.at({ id: 'b' }, parsePath('docs/a'));
	t.true(await folders.hasLocked({ id: 'b' }, place));
	t.true(looked < 1000, `${looked} folders`);
});
