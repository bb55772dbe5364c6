import { readdirSync, rmSync } from 'node:fs';
import { link, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { loadSystemCalls } from '../src/system/loadSystemCalls.js';
import { nodeCalls } from '../src/system/nodeCalls.js';
import { endOf, startChild } from './children.js';
import { body, eventually, localStorage, names, p, plant, readText, refused } from './steps.js';

test('leftovers of a removal are removed at the next start, without following links', async (t) => {
	const { storage, driver, root, folder } = await localStorage(t);
	const trash = join(root, '.stowage/trash-in-progress');
	await plant(trash, { 'a/deep/er/file': 'x', 'b/file': 'y', 'single file': 'z' });
	await plant(folder, { 'outside/secret': 'stays' });
	await symlink(join(folder, 'outside'), join(trash, 'a/link'));
	await symlink(join(folder, 'outside'), join(trash, 'link'));
	const reopened = await driver.open(storage.rootId);
	await eventually(t, async () => (await readdir(trash)).length === 0);
	t.deepEqual(await readdir(join(folder, 'outside')), ['secret']);
	await reopened.close();
});

test('leftovers of a copy are removed at the next start, and a staged upload is kept', async (t) => {
	const { storage, driver, root } = await localStorage(t);
	const staging = join(root, '.stowage/staging');
	const staged = await storage.stage();
	await staged.append(body('half '), 0);
	await plant(staging, { 'scratch-0123/copy/deep/file': 'x', 'scratch-4567/copy': 'y', 'scratch-89ab': 'z' });
	const reopened = await driver.open(storage.rootId);
	await eventually(t, async () => (await readdir(staging)).length === 1);
	const found = await reopened.stage(staged.id);
	await found.append(body('whole'), await found.size());
	await found.commit(p('a'));
	t.is(await readText(storage, 'a'), 'half whole');
	await reopened.close();
});

test('a copy that is running in another process is not swept', async (t) => {
	const { storage, driver, root } = await localStorage(t);
	await mkdir(join(root, 'from'));
	for (let n = 0; n < 400; n++) await writeFile(join(root, `from/${n}`), 'x'.repeat(10_000));
	const copying = await startChild(t, root, storage.rootId, 'copy', 'from', 'to');
	for (let n = 0; n < 10; n++) await (await driver.open(storage.rootId)).close();
	t.is((await endOf(copying)).code, 0);
	t.is(await storage.count(p('to')), 400);
});

test('a copy whose folder is swept before it is locked begins again', async (t) => {
	const calls = await loadSystemCalls();
	let staging = '';
	let sweeps = 0;
	const { storage, root } = await localStorage(t, {
		calls: {
			...calls,
			tryLock(fd) {
				if (sweeps++ < 2) for (const name of readdirSync(staging)) rmSync(join(staging, name), { recursive: true });
				return calls.tryLock?.(fd);
			},
		},
	});
	staging = join(root, '.stowage/staging');
	await plant(root, { 'from/file': 'content' });
	await storage.copy(p('from'), p('to'));
	t.is(await readText(storage, 'to/file'), 'content');
	t.true(sweeps > 2);
	t.deepEqual(await readdir(staging), []);
});

test('a copy whose process is killed is invisible and is swept', async (t) => {
	const { storage, driver, root } = await localStorage(t);
	await mkdir(join(root, 'from'));
	for (let n = 0; n < 2000; n++) await writeFile(join(root, `from/${n}`), 'x'.repeat(1000));
	const copying = await startChild(t, root, storage.rootId, 'copyAndDie', 'from', 'to');
	const staging = join(root, '.stowage/staging');
	t.is((await endOf(copying)).signal, 'SIGKILL');
	t.deepEqual(await names(storage, ''), ['from']);
	t.is((await readdir(staging)).length, 1);
	const reopened = await driver.open(storage.rootId);
	await eventually(t, async () => (await readdir(staging)).length === 0);
	t.is(await reopened.count(p('from')), 2000);
	await reopened.close();
});

test('a file whose process ended right after the rename is found as published after a restart', async (t) => {
	const { storage, driver, root } = await localStorage(t);
	const staged = await storage.stage();
	await staged.append(body('published'), 0);
	// As after a crash right after the rename.
	await rename(join(root, '.stowage/staging', staged.id.slice(0, 32)), join(root, 'a'));
	const reopened = await driver.open(storage.rootId);
	await refused(t, 'notFound', async () => (await reopened.stage(staged.id)).commit(p('a')));
	t.deepEqual(await reopened.findPublished(staged.id, p('a')), await storage.stat(p('a')));
	t.deepEqual(await names(storage, ''), ['a']);
	await reopened.close();
});

test('a crash between the link and the removal of the staged name leaves one file in the end', async (t) => {
	const { driver, root, storage } = await localStorage(t, { calls: nodeCalls });
	const staged = await storage.stage();
	await staged.append(body('published'), 0);
	const name = join(root, '.stowage/staging', staged.id.slice(0, 32));
	await link(name, join(root, 'a'));
	const reopened = await driver.open(storage.rootId);
	t.is((await (await reopened.stage(staged.id)).commit(p('a'))).name, 'a');
	t.deepEqual(await readdir(join(root, '.stowage/staging')), []);
	t.is(await readText(storage, 'a'), 'published');
	await reopened.close();
});
