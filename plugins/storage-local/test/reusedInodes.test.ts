import { stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasListWithStats } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { localStorageDriver } from '../src/driver.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { coldCalls } from './coldCalls.js';
import { best, body, isRoot, localStorage, p, put, run, temporaryFolder } from './steps.js';

/** Mounts a file system whose inodes have no birth time; undefined where that can't be done. */
async function oldFileSystem(t: ExecutionContext, type: 'ext3' | 'ext4'): Promise<string | undefined> {
	const folder = await temporaryFolder(t);
	const image = join(folder, 'image');
	const root = join(folder, 'mounted');
	try {
		if (!isRoot || process.platform !== 'linux') throw new Error('only root can mount');
		await writeFile(image, '');
		await truncate(image, 16 * 1024 * 1024);
		await run(`mkfs.${type}`, ['-q', '-F', '-I', '128', image]);
		await run('mkdir', [root]);
		await run('mount', ['-o', 'loop', image, root]);
	} catch (error) {
		t.log(`no disk image can be mounted here: ${error instanceof Error ? error.message : error}`);
		t.pass();
		return undefined;
	}
	t.teardown(() => run('umount', ['-l', root]));
	return root;
}

const reuse = test.macro({
	exec: async (t: ExecutionContext, type: 'ext3' | 'ext4', calls: SystemCalls) => {
		const root = await oldFileSystem(t, type);
		if (root === undefined) return;
		const storage = await localStorageDriver(root, { calls }).open(undefined);
		t.teardown(() => storage.close());
		const inode = async (name: string) => (await stat(join(root, name))).ino;
		await put(storage, 'file', 'mine');
		await storage.makeDirectory(p('folder'));
		const first = await storage.stat(p('file'));
		const firstFolder = await storage.stat(p('folder'));
		const [inodeOfFile, inodeOfFolder] = [await inode('file'), await inode('folder')];
		t.is((await storage.move(p('file'), p('folder/moved'))).id, first.id);
		await storage.move(p('folder/moved'), p('file'));
		await storage.remove(p('file'));
		await storage.remove(p('folder'));
		await put(storage, 'file', 'another');
		t.is(await inode('file'), inodeOfFile);
		t.not((await storage.stat(p('file'))).id, first.id);
		t.is((await storage.stat(p('file'))).mayReuseId, undefined);
		// The inode number of a folder is reused once the folder was removed in the background.
		for (let attempts = 0; attempts < 500; attempts++) {
			await storage.makeDirectory(p('folder'));
			if ((await inode('folder')) === inodeOfFolder) break;
			await storage.removeEmptyFolder(p('folder'));
		}
		t.is(await inode('folder'), inodeOfFolder);
		t.not((await storage.stat(p('folder'))).id, firstFolder.id);
		if (!hasListWithStats(storage)) return t.fail();
		for await (const { items } of storage.listWithStats(p('')))
			for (const item of items) t.deepEqual(item, await storage.stat(p(item.name)));
	},
	title: (_, type: string, calls: SystemCalls) =>
		`on ${type} without birth times a new item with a reused inode number has another id${calls === best ? '' : ', also with a cold cache'}`,
});

for (const type of ['ext3', 'ext4'] as const) {
	test(reuse, type, best);
	test(reuse, type, coldCalls(best));
}

test('on a file system without birth times an upload is continued by its id and found after it was published', async (t) => {
	const root = await oldFileSystem(t, 'ext4');
	if (root === undefined) return;
	const open = () => localStorageDriver(root, { calls: best }).open(undefined);
	const storage = await open();
	t.teardown(() => storage.close());
	const { id } = await storage.stage();
	const reopened = await open();
	t.teardown(() => reopened.close());
	const staged = await reopened.stage(id);
	await staged.append(body('bytes'), 0);
	await reopened.sweepStaging({ staged: Date.now() + 60_000, copies: 0 }, async (each) => each === id);
	const item = await staged.commit(p('file'));
	t.is((await storage.findPublished(id, p('file')))?.id, item.id);
	await storage.remove(p('file'));
	await put(storage, 'file', 'other');
	t.is(await storage.findPublished(id, p('file')), undefined);
});

test('an item whose id may be reused is marked as such', async (t) => {
	const calls = { ...coldCalls(best), handleOf: () => undefined };
	const { storage } = await localStorage(t, { calls });
	await put(storage, 'file', 'bytes');
	t.is((await storage.stat(p('file'))).mayReuseId, undefined);
	const root = await oldFileSystem(t, 'ext3');
	if (root === undefined) return;
	const weak = await localStorageDriver(root, { calls }).open(undefined);
	t.teardown(() => weak.close());
	await put(weak, 'file', 'bytes');
	t.true((await weak.stat(p('file'))).mayReuseId);
});
