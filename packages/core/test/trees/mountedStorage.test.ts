import { buffer } from 'node:stream/consumers';
import { MemoryStorage, memoryStorageDriver, storageSuite } from '@stowage/conformance';
import type { CommitOptions, CopyOptions, StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure, joinPath, maxListedDepth, parsePath, type StoragePath } from '@stowage/rules';
import test from 'ava';
import type { FileParts, PublishedNames } from '../../src/files/FileParts.js';
import { publishFileOnce } from '../../src/files/placing/publishing.js';
import { HomeComparison } from '../../src/trees/across/compareHomes.js';
import { copyContents } from '../../src/trees/across/copyContents.js';
import type { OwnTree } from '../../src/trees/OwnTree.js';
import { ensureFolder } from '../../src/trees/storage/folders.js';
import { MountedStorage } from '../../src/trees/storage/MountedStorage.js';
import type { Mount } from '../../src/trees/storage/Mounts.js';

const p = parsePath;
const utf8 = (text: string) => Buffer.from(text);
async function* chunks(...texts: string[]) {
	for (const text of texts) yield utf8(text);
}

/** A storage of two roots. Homes whose names begin with `far`, and those in `moved`, lie on the second one. */
function mounted(
	first = new MemoryStorage(),
	second = new MemoryStorage(),
	isSecondDefault = false,
	third = new MemoryStorage(),
	/** The name of the root of all other homes. */
	rootOfOthers = () => 'near',
) {
	const moved = new Set<string>();
	const frozen = new Set<string>();
	const mounts: Mount[] = [
		{ name: 'near', idPrefix: '', storage: first },
		{ name: 'far', idPrefix: 'far', storage: second },
		{ name: 'third', idPrefix: 'third', storage: third },
	];
	const [near, far] = mounts as [Mount, Mount];
	const storage = new MountedStorage({
		default: isSecondDefault ? far : near,
		all: () => mounts,
		homes: {
			mountOf: (username) =>
				username.startsWith('far') || moved.has(username)
					? far
					: (mounts.find(({ name }) => name === rootOfOthers()) ?? near),
			on: async (mount) => (mount === far ? ['far-1', 'far-2'] : []),
			assign: async () => {},
			assignOfRename: async () => {},
			changing: (_, work) => work(),
			assertUnfrozen: (username) => {
				if (frozen.has(username)) throw new Failure('locked', 'frozen');
			},
		},
	});
	return { storage, first, second, moved, frozen };
}

// A further root keeps all promises of a storage.
storageSuite(test, 'a second root', async () => {
	const driver = memoryStorageDriver();
	return {
		driver: {
			open: async (rootId) => mounted(new MemoryStorage(), (await driver.open(rootId)) as MemoryStorage, true).storage,
		},
	};
});

async function put(storage: MountedStorage, path: string, text: string, mtime = 1_700_000_000_000) {
	const staged = await storage.stage(undefined, p(path));
	await staged.append(chunks(text), 0);
	return staged.commit(p(path), { mtime });
}

async function textOf(storage: StorageProvider, path: string): Promise<string> {
	const file = await storage.open(p(path));
	try {
		return (await buffer(file.read())).toString();
	} finally {
		await file.close();
	}
}

async function homes(t: { teardown(end: () => void): void }) {
	const made = mounted();
	for (const root of [made.first, made.second]) await root.makeDirectory(p('users'));
	for (const name of ['near-1', 'far-1']) await made.storage.makeDirectory(p(`users/${name}`));
	t.teardown(() => void made.storage.close());
	return made;
}

/** As Linux folds names on a disk that ignores case. */
const folded = (name: string) => name.replace(/[\u00AD\u200D]/g, '').toLowerCase();

/** A root whose disk ignores case: a name leads to the item that has it in another spelling. */
function ignoringCase(storage: MemoryStorage): MemoryStorage {
	const spelled = async (path: string): Promise<StoragePath> => {
		let at = p('');
		for (const name of path.split('/')) {
			let found = name;
			try {
				for await (const rows of storage.list(at))
					for (const row of rows) if (folded(row.name) === folded(name)) found = row.name;
			} catch {}
			at = joinPath(at, found);
		}
		return at;
	};
	const byPath = [
		'stat',
		'count',
		'open',
		'makeDirectory',
		'move',
		'copy',
		'remove',
		'removeEmptyFolder',
		'canReplace',
	];
	return new Proxy(storage, {
		get(of, key) {
			if (key === 'list')
				return async function* (path: string) {
					yield* of.list(await spelled(path));
				};
			const value = Reflect.get(of, key);
			if (typeof value !== 'function') return value;
			if (!byPath.includes(String(key))) return value.bind(of);
			return async (...given: unknown[]) =>
				value.apply(of, await Promise.all(given.map((each) => (typeof each === 'string' ? spelled(each) : each))));
		},
	});
}

test('on a disk that ignores case `public` is no private name of the public tree', async (t) => {
	const { storage } = mounted(ignoringCase(new MemoryStorage()));
	for (const path of ['users', 'users/ada', 'users/ada/Public', 'users/ada/Public/site', 'users/ada/docs'])
		await storage.makeDirectory(p(path));
	await put(storage, 'users/ada/Public/a.txt', 'public');
	await put(storage, 'users/ada/b.txt', 'private');
	const missing = { message: /no such/i };
	t.is((await storage.stat(p('users/ada/DOCS'))).type, 'directory', 'the disk of this test ignores case');
	for (const name of ['public', 'PUBLIC', 'Pub\u00ADlic', '\u200Dpublic\u00AD']) {
		const [folder, inside] = [p(`users/ada/${name}`), p(`users/ada/${name}/a.txt`)];
		await t.throwsAsync(storage.stat(folder), missing);
		await t.throwsAsync(namesIn(storage, folder), missing);
		await t.throwsAsync(storage.count(folder), missing);
		await t.throwsAsync(storage.stat(inside), missing);
		await t.throwsAsync(storage.open(inside), missing);
		await t.throwsAsync(storage.remove(folder), missing);
		await t.throwsAsync(storage.remove(inside), missing);
		await t.throwsAsync(storage.removeEmptyFolder(p(`${folder}/site`)), missing);
		await t.throwsAsync(storage.move(folder, p('users/ada/moved')), missing);
		await t.throwsAsync(storage.copy(inside, p('users/ada/copied')), missing);
		await t.throwsAsync(storage.move(p('users/ada/b.txt'), p(`${folder}/b.txt`)), missing);
		await t.throwsAsync(storage.copy(p('users/ada/b.txt'), p(`${folder}/b.txt`)), missing);
		await t.throwsAsync(storage.makeDirectory(p(`${folder}/new`)), missing);
		await t.throwsAsync(put(storage, `${folder}/c.txt`, 'meant to be private'), missing);
		await t.throwsAsync(storage.makeDirectory(folder), { message: /already/ });
		await t.throwsAsync(ensureFolder(storage.home('ada'), p(`${folder}/deep`)), { message: /already/ });
	}
	t.deepEqual(await namesIn(storage, 'users/ada/Public'), ['a.txt', 'site']);
	t.deepEqual(await namesIn(storage, 'users/ada'), ['Public', 'b.txt', 'docs']);
});

test('where case counts `public` is a folder like any', async (t) => {
	const { storage } = await homes(t);
	for (const name of ['Public', 'public']) await storage.makeDirectory(p(`users/near-1/${name}`));
	await put(storage, 'users/near-1/public/a.txt', 'private');
	t.is(await textOf(storage, 'users/near-1/public/a.txt'), 'private');
	t.deepEqual(await namesIn(storage, 'users/near-1/public'), ['a.txt']);
	await storage.move(p('users/near-1/public'), p('users/near-1/docs'));
	t.deepEqual(await namesIn(storage, 'users/near-1'), ['Public', 'docs']);
});

async function namesIn(storage: Pick<MountedStorage, 'list'>, path: string): Promise<string[]> {
	const names: string[] = [];
	for await (const batch of storage.list(p(path))) names.push(...batch.map(({ name }) => name));
	return names.sort();
}

test('each home is stored on its root, and the homes of all roots are listed together', async (t) => {
	const { storage, first, second } = await homes(t);
	await put(storage, 'users/near-1/a.txt', 'near');
	await put(storage, 'users/far-1/a.txt', 'far');
	t.deepEqual(await namesIn(first, 'users'), ['near-1']);
	t.deepEqual(await namesIn(second, 'users'), ['far-1']);
	t.deepEqual(await namesIn(storage, 'users'), ['far-1', 'near-1']);
	t.is(await storage.count(p('users')), 2);
	t.is(await textOf(storage, 'users/near-1/a.txt'), 'near');
	t.is(await textOf(storage, 'users/far-1/a.txt'), 'far');
	t.not((await storage.stat(p('users/near-1/a.txt'))).id, (await storage.stat(p('users/far-1/a.txt'))).id);
});

test('a request that began before its home was moved to another disk changes and reads it there', async (t) => {
	const { storage, first, second, moved } = await homes(t);
	const home = storage.home('near-1');
	await home.makeDirectory(p('users/near-1/docs'));
	const staged = await home.begin();
	await staged.append(chunks('late'), 0);
	t.is((await home.mount()).name, 'near');

	await second.makeDirectory(p('users/near-1'));
	await second.makeDirectory(p('users/near-1/docs'));
	moved.add('near-1');
	await home.makeDirectory(p('users/near-1/docs/new'));
	t.is((await staged.commit(p('users/near-1/docs/a.txt'))).name, 'a.txt');
	t.deepEqual(await namesIn(second, 'users/near-1/docs'), ['a.txt', 'new']);
	t.deepEqual(await namesIn(first, 'users/near-1/docs'), [], 'nothing is written to the disk that the home has left');
	t.is((await home.mount()).name, 'far');

	moved.clear();
	const reader = storage.home('near-1');
	await reader.stat(p('users/near-1'));
	moved.add('near-1');
	await first.remove(p('users/near-1'));
	t.deepEqual(await namesIn(reader, 'users/near-1/docs'), ['a.txt', 'new']);
	t.is((await reader.stat(p('users/near-1/docs/a.txt'))).size, 4);
	await t.throwsAsync(reader.stat(p('users/near-1/none')), { message: /no such/i });
});

test('a home of which a move left a folder on another root is listed once', async (t) => {
	const { storage, first } = await homes(t);
	await first.makeDirectory(p('users/far-1'));
	t.deepEqual(await namesIn(storage, 'users'), ['far-1', 'near-1']);
});

test('the homes of an unavailable root are still listed, and other roots work', async (t) => {
	const { storage, second } = await homes(t);
	const away = () => {
		throw new Failure('unavailable', 'away');
	};
	Object.assign(second, { list: away, stat: away });
	t.deepEqual(await namesIn(storage, 'users'), ['far-1', 'far-2', 'near-1']);
	t.is((await put(storage, 'users/near-1/b.txt', 'b')).name, 'b.txt');
	t.true(isFailure(await t.throwsAsync(storage.stat(p('users/far-1'))), 'unavailable'));
});

test('a staged file is found by its id on the root of its home', async (t) => {
	const { storage } = await homes(t);
	const staged = await storage.stage(undefined, p('users/far-1'));
	await staged.append(chunks('hello'), 0);
	const again = await storage.stage(staged.id);
	t.is(await again.size(), 5);
	t.is((await again.commit(p('users/far-1/x'))).name, 'x');
	for (const id of ['nowhere~1', 'far~nothing', 'x']) {
		t.true(isFailure(await t.throwsAsync(async () => (await storage.stage(id)).size()), 'notFound'), id);
	}
});

/** A storage that throws before or after one of its calls, counted down by `count`, as if the process had died there. */
function dyingAt(storage: MemoryStorage, count: { left: number }): MemoryStorage {
	const die = () => {
		if (count.left-- === 0) throw new Error('cut off');
	};
	const wrapped = <T extends object>(object: T): T =>
		new Proxy(object, {
			get(owner, key) {
				const value = Reflect.get(owner, key, owner);
				if (typeof value !== 'function') return value;
				if (key === 'list') return value.bind(owner);
				return async (...args: unknown[]) => {
					die();
					const answer = await value.apply(owner, args);
					// The call was made, and the process dies before it gets the result.
					die();
					return typeof answer === 'object' && answer !== null && 'commit' in answer ? wrapped(answer) : answer;
				};
			},
		});
	return wrapped(storage);
}

test('a staged file is published once on the root that its home has moved to, wherever the process dies', async (t) => {
	const count = { left: Number.POSITIVE_INFINITY };
	let cutOff = 0;
	for (let n = 0; ; n++) {
		const [first, second] = [new MemoryStorage(), new MemoryStorage()];
		const { storage } = mounted(dyingAt(first, count), dyingAt(second, count));
		for (const root of [first, second]) await root.makeDirectory(p('users'));
		await second.makeDirectory(p('users/far-1'));
		// Staged while the home still lay on the first root.
		const staged = await storage.stage();
		await staged.append(chunks('hel', 'lo'), 0);
		const noted = new Map<string, string>();
		const names: PublishedNames = {
			set: async (id, name) => void noted.set(id, name),
			find: async (id) => noted.get(id),
		};
		const request = { staged, name: 'x', mtime: 1_700_000_000_000 };
		const assertMayStill = async () => {};
		const home = { area: 'private', storage: storage.home('far-1'), assertMayStill } as unknown as OwnTree;
		const folder = { tree: home, path: p(''), storagePath: p('users/far-1') };
		const parts = { names, versions: { created: async () => {} } } as unknown as FileParts;
		const commit = () => publishFileOnce(parts, home, folder, request);
		count.left = n;
		const outcome = await commit().catch(String);
		const isCutOff = outcome === 'Error: cut off';
		if (isCutOff) cutOff++;
		count.left = Number.POSITIVE_INFINITY;
		t.like(await commit(), { name: 'x', size: 5, mtime: 1_700_000_000_000 }, `died at call ${n}`);
		t.like(await commit(), { name: 'x' });
		t.deepEqual(await namesIn(second, 'users/far-1'), ['x']);
		t.is(await textOf(storage, 'users/far-1/x'), 'hello');
		if (isCutOff) continue;
		const [crossing] = await namesIn(first, 'copies');
		t.regex(String(await namesIn(first, `copies/${crossing}`)), /^to-[\w-]+\.done$/, 'its bytes are removed');
		break;
	}
	t.true(cutOff > 10, `${cutOff}`);
});

test('an upload that was cut off on its way to another root is published once where its home has moved meanwhile, wherever the process dies', async (t) => {
	const count = { left: Number.POSITIVE_INFINITY };
	for (const last of ['near', 'third'] as const) {
		let cutOff = 0;
		for (let n = 0; ; n++) {
			const [first, second, third] = [new MemoryStorage(), new MemoryStorage(), new MemoryStorage()];
			const at = { home: 'far' };
			const { storage } = mounted(
				...[dyingAt(first, count), dyingAt(second, count), false, dyingAt(third, count), () => at.home],
			);
			const roots = { near: first, far: second, third };
			for (const root of Object.values(roots)) {
				await root.makeDirectory(p('users'));
				await root.makeDirectory(p('users/ada'));
			}
			const staged = await storage.stage();
			await staged.append(chunks('hel', 'lo'), 0);
			const commit = () => staged.commit(p('users/ada/x'));
			first.open = async () => Promise.reject(new Error('cut off'));
			await t.throwsAsync(commit(), { message: 'cut off' });
			Reflect.deleteProperty(first, 'open');
			t.is((await namesIn(first, 'copies')).length, 1, 'its bytes have left staging');

			at.home = last;
			count.left = n;
			const outcome = await commit().catch(String);
			const isCutOff = outcome === 'Error: cut off';
			if (isCutOff) cutOff++;
			count.left = Number.POSITIVE_INFINITY;
			const published = async () => storage.home('ada').findPublished(staged.id, p('users/ada/x'));
			t.like((await published()) ?? (await commit()), { name: 'x', size: 5 }, `${last}: died at call ${n}`);
			t.like(await published(), { name: 'x', size: 5 });
			t.deepEqual(await namesIn(roots[last], 'users/ada'), ['x']);
			t.deepEqual(await namesIn(second, 'users/ada'), []);
			t.is(await textOf(storage, 'users/ada/x'), 'hello');
			if (!isCutOff) break;
		}
		t.true(cutOff > 8, `${last}: ${cutOff}`);
	}
});

test('a copy of an upload to another root ends when its home is frozen for the next move', async (t) => {
	const { storage, second, frozen } = await homes(t);
	await second.makeDirectory(p('users/near-1')).catch(() => {});
	const staged = await storage.stage(undefined, p('users/near-1'));
	await staged.append(chunks('hello'), 0);
	const to = p('users/far-1/x');
	frozen.add('far-1');
	t.true(isFailure(await t.throwsAsync(staged.commit(to)), 'locked'));
	t.deepEqual(await namesIn(second, 'users/far-1'), []);
	frozen.clear();
	t.like(await staged.commit(to), { name: 'x', size: 5 });
	t.is(await textOf(storage, to), 'hello');
});

test('an upload on its way to another root is swept on neither as long as its client may be back', async (t) => {
	const { storage, first, second, frozen } = await homes(t);
	const staged = await storage.stage(undefined, p('users/near-1'));
	await staged.append(chunks('hello'), 0);
	const other = await storage.stage(undefined, p('users/far-1'));
	const to = p('users/far-1/x');
	frozen.add('far-1');
	t.true(isFailure(await t.throwsAsync(staged.commit(to)), 'locked'));
	frozen.clear();
	// Days later: no upload and no job has the ids of these.
	const later = Date.now() + 60_000;
	const sweep = () => storage.sweepStaging({ staged: later, copies: later, uploadCopies: 0 }, async () => false);
	const { list } = first;
	first.list = (path) => {
		if (path === 'copies') throw new Failure('unavailable', 'away');
		return list.call(first, path);
	};
	await t.throwsAsync(sweep(), { message: 'away' });
	t.is(await other.size(), 0, 'what may be on its way from a root that is away is not swept');
	first.list = list;
	await sweep();
	await t.throwsAsync(other.size());
	t.like(await staged.commit(to), { name: 'x', size: 5 });
	t.is(await textOf(storage, to), 'hello');
	t.deepEqual(await namesIn(second, 'users/far-1'), ['x']);
});

async function tree(storage: MountedStorage) {
	await storage.makeDirectory(p('users/near-1/docs'));
	await storage.makeDirectory(p('users/near-1/docs/empty'));
	await storage.makeDirectory(p('users/near-1/docs/deep'));
	for (let n = 0; n < 5; n++) await put(storage, `users/near-1/docs/deep/${n}.txt`, `file ${n}`);
	await put(storage, 'users/near-1/docs/a.txt', 'a');
}

test('a copy to a home on another root is complete, keeps times and gets a free name', async (t) => {
	const { storage, first, second } = await homes(t);
	await tree(storage);
	const times = [
		['docs', 1_600_000_000_000],
		['docs/deep', 1_500_000_000_000],
		['docs/empty', 1_400_000_000_000],
	] as const;
	for (const [folder, mtime] of times) await first.setFolderTime(p(`users/near-1/${folder}`), mtime);
	const to = p('users/far-1/docs');
	t.is((await storage.copy(p('users/near-1/docs'), to)).name, 'docs');
	t.is((await storage.copy(p('users/near-1/docs'), to, { otherNames: ['docs (1)'] })).name, 'docs (1)');
	for (const name of ['docs', 'docs (1)']) {
		t.deepEqual(await namesIn(storage, `users/far-1/${name}`), ['a.txt', 'deep', 'empty']);
		t.is(await textOf(storage, `users/far-1/${name}/deep/3.txt`), 'file 3');
	}
	t.is((await storage.stat(p('users/far-1/docs/a.txt'))).mtime, 1_700_000_000_000);
	for (const [folder, mtime] of times) t.is((await storage.stat(p(`users/far-1/${folder}`))).mtime, mtime, folder);
	t.is((await storage.copy(p('users/near-1/docs/a.txt'), p('users/far-1/b.txt'))).size, 1);
	t.true(isFailure(await t.throwsAsync(storage.copy(p('users/near-1/docs'), to)), 'alreadyExists'));
	t.deepEqual(await namesIn(second, 'copies'), [], 'a failed copy leaves nothing');
	t.true(isFailure(await t.throwsAsync(storage.move(p('users/near-1/docs'), p('users/far-1/x'))), 'invalid'));
});

test('a copy or a commit replaces a file on another root if its version matches, or is refused without a change', async (t) => {
	const { storage, second } = await homes(t);
	await tree(storage);
	const to = p('users/far-1/kept');
	await put(storage, to, 'old');
	const stale = { onConflict: { replace: 'another' } };
	t.true(isFailure(await t.throwsAsync(storage.copy(p('users/near-1/docs/a.txt'), to, stale)), 'preconditionFailed'));
	t.is(await textOf(storage, to), 'old');
	const onConflict = { replace: (await storage.stat(to)).version };
	t.true(isFailure(await t.throwsAsync(storage.copy(p('users/near-1/docs'), to, { onConflict })), 'invalid'));
	const copy = await storage.copy(p('users/near-1/docs/a.txt'), to, { onConflict });
	t.like(copy, { name: 'kept', size: 1, mtime: 1_700_000_000_000 });
	t.deepEqual(await namesIn(storage, 'users/far-1'), ['kept']);

	// Staged on the first root, for a home that lies on the second by now.
	const staged = await storage.stage(undefined, p('users/near-1'));
	await staged.append(chunks('crossed'), 0);
	t.true(isFailure(await t.throwsAsync(staged.commit(to, { onConflict })), 'preconditionFailed'));
	t.is(await staged.size(), 'crossed'.length, 'the staged file is kept');
	t.is((await staged.commit(to, { onConflict: { replace: copy.version } })).size, 'crossed'.length);
	t.is(await textOf(storage, to), 'crossed');

	second.canReplace = async () => false;
	const other = await storage.stage(undefined, p('users/near-1'));
	await other.append(chunks('refused'), 0);
	const last = { onConflict: { replace: (await storage.stat(to)).version } };
	t.true(isFailure(await t.throwsAsync(other.commit(to, last)), 'invalid'));
	t.is(await other.size(), 'refused'.length, 'the staged file is kept');
	t.is(await textOf(storage, to), 'crossed');
});

test('what gets another name in a folder while that is copied to another root is in the copy', async (t) => {
	const { storage } = await homes(t);
	await tree(storage);
	let isRenamed = false;
	const beforeItem: CopyOptions['beforeItem'] = async ({ type }) => {
		if (isRenamed || type !== 'file') return;
		isRenamed = true;
		await storage.move(p('users/near-1/docs/deep'), p('users/near-1/docs/deeper'));
	};
	await storage.copy(p('users/near-1/docs'), p('users/far-1/docs'), { beforeItem });
	t.deepEqual(await namesIn(storage, 'users/far-1/docs'), ['a.txt', 'deeper', 'empty']);
	t.deepEqual(
		await namesIn(storage, 'users/far-1/docs/deeper'),
		Array.from({ length: 5 }, (_, n) => `${n}.txt`),
	);
});

test('a file that is away for a moment while it is copied to another root is in the copy', async (t) => {
	const [source, target] = [new MemoryStorage(), new MemoryStorage()];
	await source.makeDirectory(p('from'));
	const staged = await source.stage();
	await staged.append(chunks('a'), 0);
	await staged.commit(p('from/a.txt'));
	const open = source.open.bind(source);
	const missing = new Failure('notFound', 'No such file or folder: a.txt');
	let calls = 0;
	source.open = (path) => (++calls <= 2 ? Promise.reject(missing) : open(path));
	await target.makeDirectory(p('to'));
	await copyContents(source, p('from'), target, p('to'), {});
	t.is(await textOf(target, p('to/a.txt')), 'a');

	const depth = ['from', 'a', 'b', 'c', 'd', 'e', 'f'];
	for (let level = 2; level <= depth.length; level++) await source.makeDirectory(p(depth.slice(0, level).join('/')));
	await source.move(p('from/a.txt'), p([...depth, 'a.txt'].join('/')));
	calls = 0;
	source.open = () => {
		calls++;
		return Promise.reject(missing);
	};
	await target.makeDirectory(p('other'));
	const error = await t.throwsAsync(copyContents(source, p('from'), target, p('other'), {}));
	t.true(isFailure(error, 'conflict'));
	t.true(calls < 20, `${calls} calls, however deep it lies`);
});

/** Copies until just before the file of this number, as if the process had died there. */
async function copyUntil(storage: MountedStorage, count: number, id?: string) {
	let begun: string | undefined;
	let files = 0;
	const onBegin = async (given: string) => {
		begun = given;
	};
	const options: CopyOptions = {
		staged: { id, onBegin },
		beforeItem: async ({ type }) => {
			if (type === 'file' && files++ === count) throw new Error('cut off');
		},
	};
	const outcome = await storage.copy(p('users/near-1/docs'), p('users/far-1/docs'), options).catch(String);
	return { begun, files, outcome };
}

test('a copy to another root resumes where it was interrupted', async (t) => {
	const { storage, second } = await homes(t);
	await tree(storage);
	const { begun, outcome } = await copyUntil(storage, 3);
	t.is(outcome, 'Error: cut off');
	t.deepEqual(await namesIn(storage, 'users/far-1'), []);
	await put(storage, 'users/near-1/docs/new.txt', 'came meanwhile');
	await storage.remove(p('users/near-1/docs/deep/0.txt'));
	const written: number[] = [];
	await storage.copy(p('users/near-1/docs'), p('users/far-1/docs'), {
		staged: { id: begun, onBegin: async () => t.fail('the copy was already started') },
		beforeBytes: async (bytes) => void written.push(bytes),
	});
	t.deepEqual(await namesIn(storage, 'users/far-1/docs'), ['a.txt', 'deep', 'empty', 'new.txt']);
	t.deepEqual(await namesIn(storage, 'users/far-1/docs/deep'), ['1.txt', '2.txt', '3.txt', '4.txt']);
	t.true(written.length < 6, `${written.length} files were written again`);
	t.deepEqual(await namesIn(second, 'copies'), []);

	const again = await storage.copy(p('users/near-1/docs'), p('users/far-1/docs'), {
		otherNames: ['docs (1)'],
		staged: { id: begun, onBegin: async () => t.fail('the copy was already published') },
	});
	t.is(again.name, 'docs', 'the published copy is found under its name');
});

test('a copy to another root under a free name is found by the name that was reported before it was published', async (t) => {
	const { storage } = await homes(t);
	await tree(storage);
	for (const from of ['users/near-1/docs', 'users/near-1/docs/a.txt']) {
		const to = p('users/far-1/copy');
		if (from.endsWith('docs')) await put(storage, to, 'taken');
		let [id, name] = ['', ''];
		const made = await storage.copy(p(from), to, {
			otherNames: ['copy (1)', 'copy (2)'],
			beforeNaming: async (given) => {
				name = given;
			},
			staged: {
				onBegin: async (begun) => {
					id = begun;
				},
			},
		});
		t.is(name, made.name);
		const staged = { id, name, onBegin: async () => t.fail('the copy was already published') };
		t.deepEqual(await storage.copy(p(from), to, { staged }), made);
	}
	t.deepEqual(await namesIn(storage, 'users/far-1'), ['copy', 'copy (1)', 'copy (2)']);
});

test('to look for a published copy copies nothing, on another root or the same, and discards none', async (t) => {
	const { storage, first, second } = await homes(t);
	await tree(storage);
	let opened = 0;
	for (const root of [first, second]) {
		const { open } = root;
		root.open = (...given) => {
			opened++;
			return open.apply(root, given);
		};
	}
	for (const home of ['far-1', 'near-1'])
		for (const from of ['docs/a.txt', 'docs']) {
			const of = storage.home(home);
			const path = p(`users/near-1/${from}`);
			const to = p(`users/${home}/${from === 'docs' ? 'folder' : 'file'}`);
			let id = '';
			const staged = {
				async onBegin(begun: string) {
					id = begun;
				},
			};
			// It ends before it has its name.
			const refused = { staged, beforeNaming: () => Promise.reject(new Failure('conflict', 'stopped')) };
			t.true(isFailure(await t.throwsAsync(storage.copy(path, to, refused)), 'conflict'));
			opened = 0;
			t.is(await of.findCopy(storage.home('near-1'), path, to, { id, name: undefined }), undefined);
			t.is(await of.findCopy(storage.home('near-1'), path, to, { id: undefined, name: undefined }), undefined);
			t.is(opened, 0);
			const begun = id;
			const made = await storage.copy(path, to, { staged: { id, onBegin: staged.onBegin } });
			if (from === 'docs') t.is(id, begun, 'the same copy went on');
			if (from === 'docs' && home === 'near-1') continue;
			opened = 0;
			t.deepEqual(await of.findCopy(storage.home('near-1'), path, to, { id, name: undefined }), made);
			t.is(opened, 0);
		}
});

test('a copy that is to replace what is not there any more is refused before its bytes are read', async (t) => {
	const { storage, first } = await homes(t);
	await tree(storage);
	first.open = () => Promise.reject(new Error('It is read.'));
	const copied = storage.copy(p('users/near-1/docs/a.txt'), p('users/far-1/gone'), { onConflict: { replace: 'a' } });
	t.true(isFailure(await t.throwsAsync(copied), 'preconditionFailed'));
});

test('an abandoned copy to another root is discarded or swept', async (t) => {
	const { storage, second } = await homes(t);
	await tree(storage);
	const first = await copyUntil(storage, 2);
	const other = await copyUntil(storage, 2);
	t.is((await namesIn(second, 'copies')).length, 2);
	await storage.discardCopy(String(first.begun));
	await storage.discardCopy(String(first.begun));
	t.is((await namesIn(second, 'copies')).length, 1);
	const cutoffs = { now: Date.now(), staged: 0, copies: Date.now() + 60_000, uploadCopies: 0 };
	await storage.sweepStaging(cutoffs, async (id) => id === other.begun);
	t.is((await namesIn(second, 'copies')).length, 1, 'a job needs it');
	await storage.sweepStaging(cutoffs, async () => false);
	t.deepEqual(await namesIn(second, 'copies'), []);
});

/** A root whose disk keeps times in steps of so many milliseconds. */
function withCoarseTimes(storage: MemoryStorage, step: number): MemoryStorage {
	const { stage } = storage;
	storage.stage = async (id) => {
		const staged = await stage.call(storage, id);
		const commit = staged.commit.bind(staged);
		return Object.assign(staged, {
			commit: (path: StoragePath, { mtime = Date.now(), ...options }: CommitOptions = {}) =>
				commit(path, { ...options, mtime: Math.floor(mtime / step) * step }),
		});
	};
	return storage;
}

for (const step of [1, 10, 1_000, 2_000]) {
	test(`a home is copied once to a disk that keeps times to ${step} ms, and again what is changed`, async (t) => {
		const [source, target] = [new MemoryStorage(), withCoarseTimes(new MemoryStorage(), step)];
		for (const root of [source, target]) await root.makeDirectory(p('home'));
		const write = async (name: string, text: string, mtime: number) => {
			const staged = await source.stage();
			await staged.append(chunks(text), 0);
			if ((await namesIn(source, 'home')).includes(name)) await source.remove(p(`home/${name}`));
			await staged.commit(p(`home/${name}`), { mtime });
		};
		for (let n = 0; n < 5; n++) await write(`${n}`, 'same', 1_700_000_001_123 + 1_007 * n);
		const stale: string[] = [];
		const signal = new AbortController().signal;
		const tree = (storage: MemoryStorage) => ({ storage, root: p('home') });
		const comparison = new HomeComparison(
			tree(source),
			tree(target),
			signal,
			() => {},
			async (path) => {
				stale.push(path);
				await target.remove(path);
			},
		);
		const pass = async () => {
			let copied = 0;
			const beforeBytes = async (bytes: number) => {
				copied += bytes;
			};
			await copyContents(source, p('home'), target, p('home'), { beforeBytes });
			return { copied, isSame: (await comparison.compare()).isSame };
		};
		t.deepEqual(await pass(), { copied: 20, isSame: true });
		t.deepEqual(await pass(), { copied: 0, isSame: true });
		await write('1', 'more bytes', 1_700_000_001_123);
		await write('2', 'late', 1_700_000_009_000);
		t.deepEqual(await pass(), { copied: 14, isSame: true });
		// Within the same moment of a coarse disk, which only a comparison of the bytes tells.
		await write('3', 'diff', 1_700_000_004_145);
		t.deepEqual(await pass(), step === 1 ? { copied: 4, isSame: true } : { copied: 0, isSame: false });
		if (step > 1) t.deepEqual(await pass(), { copied: 4, isSame: true });
		t.deepEqual(stale, step === 1 ? [] : ['home/3']);
		t.is(await textOf(target, 'home/3'), 'diff');
	});
}

test('a folder so deep that its items are not listed is not copied without them', async (t) => {
	const deep = p(Array(maxListedDepth).fill('d').join('/'));
	const target = new MemoryStorage();
	await target.makeDirectory(p('copy'));
	await t.throwsAsync(copyContents(new MemoryStorage(), deep, target, p('copy'), {}), { message: /1000 levels/ });
});
