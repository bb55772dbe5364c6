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

test('a new root is made with all folders on the way and a random id', async (t) => {
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

test('a folder full of files is taken over as it is', async (t) => {
	const { driver, root } = await localDriver(t);
	await plant(root, { 'Public/film.mp4': 'bytes', 'users/alice/a.txt': 'hers' });
	const storage = await driver.open(undefined);
	t.is(await readText(storage, 'users/alice/a.txt'), 'hers');
	t.deepEqual(await names(storage, ''), ['Public', 'users']);
	await storage.close();
});

test('a root that has an id keeps it when a new database meets it', async (t) => {
	const { driver, storage } = await localStorage(t);
	const again = await driver.open(undefined);
	t.is(again.rootId, storage.rootId);
	await again.close();
});

test('which root lies where is told, and nothing is changed there', async (t) => {
	const { driver, storage, root, folder } = await localStorage(t);
	const at = (name: string) => join(folder, name);
	t.is(await driver.identify?.(root), storage.rootId);
	await symlink(root, at('link'));
	t.is(await driver.identify?.(at('link')), storage.rootId);
	await mkdir(at('empty'));
	t.is(await driver.identify?.(at('empty')), undefined);
	t.is(await driver.identify?.(at('nowhere')), undefined);
	await writeFile(at('file'), 'a file');
	// Only the administrator, who has named it, is told of the place.
	await t.throwsAsync(async () => driver.identify?.(at('file')), {
		message: `${at('file')} can't be read, for it is no folder.`,
	});
	await t.throwsAsync(async () => driver.identify?.('not/absolute'), { message: /absolute path/ });
	await plant(folder, { 'damaged/.stowage/root.json': 'nonsense' });
	await refused(t, 'unavailable', async () => driver.identify?.(at('damaged')));
	t.deepEqual(await readdir(at('empty')), []);
	t.deepEqual((await readdir(folder)).sort(), ['damaged', 'empty', 'file', 'files', 'link']);
});

test('a file in the place of a new root is a mistake, and not a disk that is away', async (t) => {
	const { root, driver } = await localDriver(t);
	await writeFile(root, 'a file');
	for (const location of [root, join(root, 'below')]) {
		const error = await t.throwsAsync(driver.open(undefined, location));
		t.true(isFailure(error, 'invalid'), `${error}`);
	}
	t.is(await readFile(root, 'utf8'), 'a file');
});

test('two who make the same root at once agree on its id', async (t) => {
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

test('a damaged marker stops a new database and is left as it is', async (t) => {
	const { driver, root } = await localDriver(t);
	for (const content of ['', 'nonsense', '{"id":"short"}', '{"id":42}', `{"id":"${'a'.repeat(32)}","more":1}`]) {
		await plant(root, { '.stowage/root.json': content });
		await refused(t, 'unavailable', () => driver.open(undefined));
		t.is(await readFile(join(root, '.stowage/root.json'), 'utf8'), content);
	}
});

const absences: Record<string, (root: string) => Promise<void>> = {
	'is not there': async (root) => rename(root, `${root}.away`),
	'is an empty mount point': async (root) => {
		await rename(root, `${root}.away`);
		await mkdir(root);
	},
	'is a mount point with other files': async (root) => {
		await rename(root, `${root}.away`);
		await plant(root, { 'other/file': 'somebody else' });
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

for (const [title, takeAway] of Object.entries(absences)) {
	for (const calls of [undefined, nodeCalls]) {
		test(`a root that ${title} is unavailable, gets no byte and heals (${calls ? 'by Node alone' : 'at best'})`, async (t) => {
			const { storage, driver, root } = await localStorage(t, calls ? { calls } : {});
			await put(storage, 'file', 'kept');
			const staged = await storage.stage();
			await staged.append(body('half'), 0);
			await takeAway(root);
			const before = await listing(root);
			await everythingUnavailable(t, storage, staged.id);
			const started = await driver.open(storage.rootId);
			t.is(started.rootId, storage.rootId);
			await everythingUnavailable(t, started, staged.id);
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

test('an upload whose root goes away in the middle ends with a refusal', async (t) => {
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

test('check notices a marker that is gone, an unwritable root and leaves nothing', async (t) => {
	const { storage, root } = await localStorage(t);
	await storage.check();
	t.deepEqual(await readdir(join(root, '.stowage/staging')), []);
	await rename(join(root, '.stowage/root.json'), join(root, '.stowage/away'));
	await refused(t, 'unavailable', () => storage.check());
	await rename(join(root, '.stowage/away'), join(root, '.stowage/root.json'));
	await storage.check();
});

test('a folder of its own that was removed by hand is made again', async (t) => {
	const { storage, root } = await localStorage(t);
	await rm(join(root, '.stowage/staging'), { recursive: true });
	// Refused where the storage still relies on its last look at the folder.
	const staged = await storage.stage().catch((error) => {
		if (!isFailure(error, 'unavailable')) throw error;
	});
	await staged?.discard();
	await put(storage, 'file', 'x');
	t.is(await readText(storage, 'file'), 'x');
});

test('a mount that is detached gets its bytes or refuses, its mount point gets none', async (t) => {
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
	await everythingUnavailable(t, storage, staged.id);
	isOver = true;
	await writing;
	await storage.close();
	t.deepEqual(await readdir(root), []);
});

test('another disk with the same numbers is not taken for ours', async (t) => {
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
	// mkfs notes the birth of the top folder in whole seconds: a twin made within the same one could not be told apart.
	await wait(1100);
	await format();
	await everythingUnavailable(t, storage, `${'0'.repeat(32)}-1-1`);
	t.deepEqual(await readdir(root), ['lost+found']);
	await storage.close();
});

test('a root that can only be read is read, and writing says why not', async (t) => {
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

/** Not lazily: the next disk is to have its numbers. What a call has opened is closed a moment after its answer. */
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

/** Everything at and below a path that may be anything. */
async function listing(path: string): Promise<string[]> {
	return (await run('find', [path, '-printf', '%P %y %s %T@\n']).catch(() => ({ stdout: '' }))).stdout
		.split('\n')
		.sort();
}

async function everythingUnavailable(t: ExecutionContext, storage: StorageProvider, stagedId: string): Promise<void> {
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
