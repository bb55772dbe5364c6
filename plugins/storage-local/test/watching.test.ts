import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hasWatch, type StorageProvider } from '@stowage/plugin-api';
import test from 'ava';
import { loadLinuxCalls } from '../src/system/linuxCalls.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { traceChild } from './children.js';
import { eventually, localStorage, p, refused } from './steps.js';

async function watchFolder(storage: StorageProvider, path: string) {
	if (!hasWatch(storage)) throw new Error('The storage cannot watch folders.');
	const reported = { changes: 0, ends: 0 };
	const watch = await storage.watch(p(path), { onChange: () => reported.changes++, onEnd: () => reported.ends++ });
	return { reported, watch };
}

test('each change of a folder is reported to all of its watchers until they are closed', async (t) => {
	const { storage, root } = await localStorage(t);
	mkdirSync(join(root, 'docs'));
	const one = await watchFolder(storage, 'docs');
	const two = await watchFolder(storage, 'docs');
	for (const change of [
		() => writeFileSync(join(root, 'docs/a'), ''),
		() => appendFileSync(join(root, 'docs/a'), 'more'),
		() => renameSync(join(root, 'docs/a'), join(root, 'docs/b')),
		() => rmSync(join(root, 'docs/b')),
	]) {
		const [before, beforeTwo] = [one.reported.changes, two.reported.changes];
		change();
		await eventually(t, () => one.reported.changes > before && two.reported.changes > beforeTwo);
	}
	one.watch?.close();
	const { changes } = one.reported;
	const changesOfTwo = two.reported.changes;
	writeFileSync(join(root, 'docs/c'), '');
	await eventually(t, () => two.reported.changes > changesOfTwo);
	t.is(one.reported.changes, changes);
	two.watch?.close();
	two.watch?.close();
});

test('a change of the number of entries in a subfolder is reported', async (t) => {
	const { storage, root } = await localStorage(t);
	mkdirSync(join(root, 'docs/below'), { recursive: true });
	// On many systems all changes within some milliseconds have the same time.
	utimesSync(join(root, 'docs/below'), 1, 1);
	const { reported, watch } = await watchFolder(storage, 'docs');
	writeFileSync(join(root, 'docs/below/a'), '');
	await eventually(t, () => reported.changes > 0);
	mkdirSync(join(root, 'docs/new'));
	await wait(1200);
	const { changes } = reported;
	writeFileSync(join(root, 'docs/new/a'), '');
	await eventually(t, () => reported.changes > changes);
	watch?.close();
});

test('a watch ends when its folder or a parent is renamed, replaced or removed', async (t) => {
	const { storage, root } = await localStorage(t);
	for (const change of [
		() => renameSync(join(root, 'above/docs'), join(root, 'above/other')),
		() => renameSync(join(root, 'above'), join(root, 'other')),
		() => rmSync(join(root, 'above/docs'), { recursive: true }),
		() => {
			rmSync(join(root, 'above/docs'), { recursive: true });
			mkdirSync(join(root, 'above/docs'));
		},
	]) {
		mkdirSync(join(root, 'above/docs'), { recursive: true });
		const { reported } = await watchFolder(storage, 'above/docs');
		// Its inode number may be reused at once: the two differ by their birth times, which have a resolution of some milliseconds.
		await wait(20);
		change();
		await eventually(t, () => reported.ends === 1);
		rmSync(join(root, 'above'), { recursive: true, force: true });
		rmSync(join(root, 'other'), { recursive: true, force: true });
	}
});

test('symbolic links, files, missing folders and the private folder are not watched', async (t) => {
	const { storage, root } = await localStorage(t);
	mkdirSync(join(root, 'docs'));
	writeFileSync(join(root, 'file'), '');
	symlinkSync(join(root, 'docs'), join(root, 'link'));
	for (const path of ['link', 'file', 'nowhere', '.stowage', '.stowage/staging']) {
		await refused(t, 'notFound', () => watchFolder(storage, path));
	}
	// A folder that is replaced by a symbolic link has ended.
	const { reported } = await watchFolder(storage, 'docs');
	renameSync(join(root, 'docs'), join(root, 'moved'));
	symlinkSync(join(root, 'moved'), join(root, 'docs'));
	await eventually(t, () => reported.ends === 1);
});

test('a watch of a folder that cannot be read is refused and leaves no notifications of the system behind', async (t) => {
	const calls = await loadLinuxCalls();
	if (calls === undefined) throw new Error('This test needs the calls of Linux.');
	let fails = false;
	const failing: SystemCalls = {
		...calls,
		async *readNames(folder) {
			if (fails) throw new Error('The disk does not answer.');
			yield* calls.readNames(folder);
		},
	};
	const { storage, root } = await localStorage(t, { calls: failing });
	mkdirSync(join(root, 'docs'));
	let changes = 0;
	fails = true;
	if (!hasWatch(storage)) throw new Error('The storage cannot watch folders.');
	await t.throwsAsync(storage.watch(p('docs'), { onChange: () => changes++, onEnd: () => t.fail() }));
	fails = false;
	const other = await watchFolder(storage, 'docs');
	writeFileSync(join(root, 'docs/a'), '');
	await eventually(t, () => other.reported.changes > 0);
	t.is(changes, 0);
	other.watch?.close();
});

for (const fault of ['inotify_add_watch:error=ENOSPC', 'inotify_init1:error=EMFILE']) {
	test(`a folder is not watched where a limit of the system is reached (${fault})`, async (t) => {
		const { storage, root } = await localStorage(t);
		mkdirSync(join(root, 'docs'));
		const call = fault.split(':')[0];
		// The first calls are those of Node itself at its start.
		const { answer } = await traceChild(
			t,
			['-e', `trace=write,${call}`, '-e', `inject=${fault}`],
			root,
			storage.rootId,
			'watch',
			'docs',
		);
		t.is(answer, 'not watched');
	});
}
