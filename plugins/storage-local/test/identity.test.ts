import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { StorageProvider } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import { localStorageDriver } from '@stowage/storage-local';
import test, { type ExecutionContext } from 'ava';
import { nodeCalls } from '../src/system/nodeCalls.js';
import {
	body,
	isRoot,
	localDriver,
	localStorage,
	names,
	p,
	plant,
	put,
	readText,
	refused,
	run,
	temporaryFolder,
} from './steps.js';

test('a new root is created with its parent folders and a random id', async (t) => {
	const folder = await temporaryFolder(t);
	const ids = new Set<string>();
	for (const path of ['one/deep/root', 'two']) {
		const storage = await localStorageDriver(join(folder, path)).open(undefined);
		t.regex(storage.rootId, /^[0-9a-f]{32}$/);
		t.deepEqual(await readdir(join(folder, path)), ['.stowage']);
		ids.add(storage.rootId);
		await storage.close();
	}
	t.is(ids.size, 2);
});

test('an existing folder becomes a root with its files unchanged', async (t) => {
	const { driver, root } = await localDriver(t);
	await plant(root, { 'Public/film.mp4': 'bytes', 'users/alice/a.txt': 'hers' });
	const storage = await driver.open(undefined);
	t.is(await readText(storage, 'users/alice/a.txt'), 'hers');
	t.deepEqual(await names(storage, ''), ['Public', 'users']);
	await storage.close();
});

test('a root keeps its id when a new database opens it', async (t) => {
	const { driver, storage } = await localStorage(t);
	const reopened = await driver.open(undefined);
	t.is(reopened.rootId, storage.rootId);
	await reopened.close();
});

test('identify returns the id of the root at a path and changes nothing', async (t) => {
	const { driver, storage, root, folder } = await localStorage(t);
	const at = (name: string) => join(folder, name);
	t.is(await driver.identify?.(root), storage.rootId);
	await symlink(root, at('link'));
	t.is(await driver.identify?.(at('link')), storage.rootId);
	await mkdir(at('empty'));
	t.is(await driver.identify?.(at('empty')), undefined);
	t.is(await driver.identify?.(at('nowhere')), undefined);
	await writeFile(at('file'), 'a file');
	// The message may contain the path: only the administrator, who has given it, sees it.
	await t.throwsAsync(async () => driver.identify?.(at('file')), {
		message: `${at('file')} can't be read, for it is no folder.`,
	});
	await t.throwsAsync(async () => driver.identify?.('not/absolute'), { message: /absolute path/ });
	await plant(folder, { 'damaged/.stowage/root.json': 'nonsense' });
	await refused(t, 'unavailable', async () => driver.identify?.(at('damaged')));
	t.deepEqual(await readdir(at('empty')), []);
	t.deepEqual((await readdir(folder)).sort(), ['damaged', 'empty', 'file', 'files', 'link']);
});

test('a file in place of a new root is invalid, not unavailable', async (t) => {
	const { root, driver } = await localDriver(t);
	await writeFile(root, 'a file');
	for (const location of [root, join(root, 'below')]) {
		const error = await t.throwsAsync(driver.open(undefined, location));
		t.true(isFailure(error, 'invalid'), `${error}`);
	}
	t.is(await readFile(root, 'utf8'), 'a file');
});

test('concurrent first openings of a root agree on its id', async (t) => {
	const { root } = await localDriver(t);
	for (const calls of [undefined, nodeCalls]) {
		const path = `${root}-${calls === undefined ? 'best' : 'node'}`;
		const driver = localStorageDriver(path, calls === undefined ? {} : { calls });
		const storages = await Promise.all(Array.from({ length: 8 }, () => driver.open(undefined)));
		t.is(new Set(storages.map((storage) => storage.rootId)).size, 1);
		t.deepEqual((await readdir(join(path, '.stowage'))).sort(), ['root.json', 'staging', 'trash-in-progress']);
		await Promise.all(storages.map((storage) => storage.close()));
	}
});

test('nobody waits at a named pipe in the place of the marker, neither at the start nor in a server that runs', async (t) => {
	const { driver, storage, root } = await localStorage(t);
	await plant(root, { 'a.txt': 'A' });
	t.deepEqual(await names(storage, ''), ['a.txt']);
	await rm(join(root, '.stowage/root.json'));
	await run('mkfifo', [join(root, '.stowage/root.json')]);
	await refused(t, 'unavailable', () => names(storage, ''));
	const error = await t.throwsAsync(driver.open(undefined));
	t.regex(`${error?.message}`, /\.stowage\/root\.json, is no file/);
});

test('a damaged marker is refused and stays as it is', async (t) => {
	const { driver, root } = await localDriver(t);
	for (const content of ['', 'nonsense', '{"id":"short"}', '{"id":42}', `{"id":"${'a'.repeat(32)}","more":1}`]) {
		await plant(root, { '.stowage/root.json': content });
		await refused(t, 'unavailable', () => driver.open(undefined));
		t.is(await readFile(join(root, '.stowage/root.json'), 'utf8'), content);
	}
});

const unavailableRoots: Record<string, (root: string) => Promise<void>> = {
	'does not exist': async (root) => rename(root, `${root}.away`),
	'is an empty mount point': async (root) => {
		await rename(root, `${root}.away`);
		await mkdir(root);
	},
	'is a mount point with other files': async (root) => {
		await rename(root, `${root}.away`);
		await plant(root, { 'other/file': 'other' });
	},
	'belongs to another database': async (root) => {
		await rename(root, `${root}.away`);
		await (await localStorageDriver(root).open(undefined)).close();
	},
	'is a file': async (root) => {
		await rename(root, `${root}.away`);
		await writeFile(root, 'a file');
	},
	'has a folder for a marker': async (root) => {
		await rename(root, `${root}.away`);
		await mkdir(join(root, '.stowage/root.json'), { recursive: true });
	},
	'has a link for a marker': async (root) => {
		await rename(root, `${root}.away`);
		await mkdir(join(root, '.stowage'), { recursive: true });
		await symlink(`${root}.away/.stowage/root.json`, join(root, '.stowage/root.json'));
	},
	'is a dangling link': async (root) => {
		await rename(root, `${root}.away`);
		await symlink(`${root}.nowhere`, root);
	},
};

for (const [title, makeUnavailable] of Object.entries(unavailableRoots)) {
	for (const calls of [undefined, nodeCalls]) {
		test(`a root that ${title} is unavailable, is not written to and works again once it is back (${calls ? 'calls of Node only' : 'native calls'})`, async (t) => {
			const { storage, driver, root } = await localStorage(t, calls ? { calls } : {});
			await put(storage, 'file', 'kept');
			const staged = await storage.stage();
			await staged.append(body('half'), 0);
			await makeUnavailable(root);
			const before = await listing(root);
			await assertUnavailable(t, storage, staged.id);
			const started = await driver.open(storage.rootId);
			t.is(started.rootId, storage.rootId);
			await assertUnavailable(t, started, staged.id);
			t.deepEqual(await listing(root), before);

			await rm(root, { recursive: true, force: true });
			await rename(`${root}.away`, root);
			for (const each of [storage, started]) t.is(await readText(each, 'file'), 'kept');
			await staged.append(body(' whole'), 4);
			await staged.commit(p('healed'));
			t.is(await readText(started, 'healed'), 'half whole');
			await started.close();
		});
	}
}

test('an upload whose root disappears in the middle is refused, and continued once it is back', async (t) => {
	const { storage, root } = await localStorage(t);
	const staged = await storage.stage();
	async function* interrupted() {
		yield* body('before, ');
		await rename(root, `${root}.away`);
		await mkdir(root);
		yield* body('after');
	}
	await staged.append(interrupted(), 0).catch(() => {});
	await refused(t, 'unavailable', () => staged.commit(p('a')));
	t.deepEqual(await readdir(root), []);
	await rm(root, { recursive: true });
	await rename(`${root}.away`, root);
	await staged.commit(p('a'));
	t.is(await readText(storage, 'a'), 'before, after');
});

test('check detects a missing marker and leaves no files', async (t) => {
	const { storage, root } = await localStorage(t);
	await storage.check();
	t.deepEqual(await readdir(join(root, '.stowage/staging')), []);
	await rename(join(root, '.stowage/root.json'), join(root, '.stowage/away'));
	await refused(t, 'unavailable', () => storage.check());
	await rename(join(root, '.stowage/away'), join(root, '.stowage/root.json'));
	await storage.check();
});

test('a missing staging folder is created again', async (t) => {
	const { storage, root } = await localStorage(t);
	await rm(join(root, '.stowage/staging'), { recursive: true });
	// Refused where the storage still relies on its last check of the folder.
	const staged = await storage.stage().catch((error) => {
		if (!isFailure(error, 'unavailable')) throw error;
	});
	await staged?.discard();
	await put(storage, 'file', 'x');
	t.is(await readText(storage, 'file'), 'x');
});

test('nothing is written to the mount point of a detached mount', async (t) => {
	if (!isRoot) {
		t.log('not run as root: nothing can be mounted');
		t.not(process.getuid?.(), 0);
		return;
	}
	const { driver, root } = await localDriver(t);
	await mkdir(root);
	await run('mount', ['-t', 'tmpfs', 'stowage-test', root]);
	t.teardown(() => run('umount', ['-l', root]).catch(() => {}));
	const storage = await driver.open(undefined);
	await put(storage, 'file', 'on the mount');
	const staged = await storage.stage();
	await staged.append(body('half'), 0);
	let isOver = false;
	const writing = (async () => {
		for (let n = 0; !isOver; n++) await put(storage, `file ${n}`, 'x').catch(() => {});
	})();
	await run('umount', ['-l', root]);
	await assertUnavailable(t, storage, staged.id);
	isOver = true;
	await writing;
	await storage.close();
	t.deepEqual(await readdir(root), []);
});

test('another disk with the same device and inode numbers is not mistaken for the root', async (t) => {
	if (!isRoot) {
		t.log('not run as root: nothing can be mounted');
		t.not(process.getuid?.(), 0);
		return;
	}
	const { driver, root, folder } = await localDriver(t);
	await mkdir(root);
	const image = join(folder, 'disk.img');
	const format = async () => {
		await run('sh', ['-c', `truncate -s 16M '${image}' && mkfs.ext4 -q -F '${image}'`]);
		await run('mount', ['-o', 'loop', image, root]);
	};
	await format();
	t.teardown(() => run('umount', ['-l', root]).catch(() => {}));
	const storage = await driver.open(undefined);
	await put(storage, 'file', 'x');
	await unmounted(root);
	await rm(image);
	// mkfs stores the birth time of the top folder in whole seconds: a second file system of the same second would be indistinguishable.
	await wait(1100);
	await format();
	await assertUnavailable(t, storage, `${'0'.repeat(32)}-1-1`);
	t.deepEqual(await readdir(root), ['lost+found']);
	await storage.close();
});

test('a read-only root can be read, and writes are refused as unavailable', async (t) => {
	if (!isRoot) {
		t.log('not run as root: nothing can be mounted');
		t.not(process.getuid?.(), 0);
		return;
	}
	const { driver, root, folder } = await localDriver(t);
	const first = await driver.open(undefined);
	await put(first, 'file', 'readable');
	const mount = join(folder, 'mount');
	await mkdir(mount);
	await run('mount', ['--bind', root, mount]);
	t.teardown(() => run('umount', ['-l', mount]));
	await run('mount', ['-o', 'remount,ro,bind', mount]);
	const storage = await localStorageDriver(mount).open(first.rootId);
	t.is(await readText(storage, 'file'), 'readable');
	await refused(t, 'unavailable', () => storage.stage());
	await refused(t, 'unavailable', () => storage.makeDirectory(p('new')));
	await refused(t, 'unavailable', () => storage.move(p('file'), p('new')));
	await refused(t, 'unavailable', () => storage.copy(p('file'), p('new')));
	await refused(t, 'unavailable', () => storage.remove(p('file')));
	await refused(t, 'unavailable', () => storage.check());
	await storage.close();
	await first.close();
});

/** Not lazily: the next disk should get the same numbers. A call closes its descriptors shortly after its answer. */
async function unmounted(root: string): Promise<void> {
	for (;;) {
		try {
			await run('umount', [root]);
			return;
		} catch (error) {
			if (!/busy/.test((error as { stderr?: string }).stderr ?? '')) throw error;
			await wait(20);
		}
	}
}

/** All files at and below a path, which may be of any kind or missing. */
async function listing(path: string): Promise<string[]> {
	return (await run('find', [path, '-printf', '%P %y %s %T@\n']).catch(() => ({ stdout: '' }))).stdout
		.split('\n')
		.sort();
}

async function assertUnavailable(t: ExecutionContext, storage: StorageProvider, stagedId: string): Promise<void> {
	const staged = await storage.stage(stagedId);
	for (const call of [
		() => names(storage, ''),
		() => storage.count(p('')),
		() => storage.stat(p('')),
		() => storage.stat(p('file')),
		() => storage.open(p('file')),
		() => storage.makeDirectory(p('new')),
		() => storage.move(p('file'), p('new')),
		() => storage.copy(p('file'), p('new')),
		() => storage.remove(p('file')),
		() => storage.stage(),
		() => staged.size(),
		() => staged.append(body('x'), 0),
		() => staged.sync(),
		() => staged.commit(p('new')),
		() => staged.discard(),
		() => storage.freeSpace(),
		() => storage.check(),
	]) {
		await refused(t, 'unavailable', call);
	}
}
