import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hasWatch, type StorageProvider } from '@stowage/plugin-api';
import test from 'ava';
import { loadLinuxCalls } from '../src/system/linuxCalls.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { traceChild } from './children.js';
import { eventually, localStorage, p, refused } from './steps.js';

async function follow(storage: StorageProvider, path: string) {
	if (!hasWatch(storage)) throw new Error('The storage tells of nothing.');
	const told = { changes: 0, ends: 0 };
	const watch = await storage.watch(p(path), { onChange: () => told.changes++, onEnd: () => told.ends++ });
	return { told, watch };
}

test('each change of a folder is told to all who follow it, until they close', async (t) => {
	const { storage, root } = await localStorage(t);
	mkdirSync(join(root, 'docs'));
	const one = await follow(storage, 'docs');
	const two = await follow(storage, 'docs');
	for (const change of [
		() => writeFileSync(join(root, 'docs/a'), ''),
		() => appendFileSync(join(root, 'docs/a'), 'more'),
		() => renameSync(join(root, 'docs/a'), join(root, 'docs/b')),
		() => rmSync(join(root, 'docs/b')),
	]) {
		const [before, beforeTwo] = [one.told.changes, two.told.changes];
		change();
		await eventually(t, () => one.told.changes > before && two.told.changes > beforeTwo);
	}
	one.watch?.close();
	const { changes } = one.told;
	const changesOfTwo = two.told.changes;
	writeFileSync(join(root, 'docs/c'), '');
	await eventually(t, () => two.told.changes > changesOfTwo);
	t.is(one.told.changes, changes);
	two.watch?.close();
	two.watch?.close();
});

test('what comes into a folder below changes its count and is told', async (t) => {
	const { storage, root } = await localStorage(t);
	mkdirSync(join(root, 'docs/below'), { recursive: true });
	// Many a system has one time for all that happens within some milliseconds.
	utimesSync(join(root, 'docs/below'), 1, 1);
	const { told, watch } = await follow(storage, 'docs');
	writeFileSync(join(root, 'docs/below/a'), '');
	await eventually(t, () => told.changes > 0);
	mkdirSync(join(root, 'docs/new'));
	await wait(1200);
	const { changes } = told;
	writeFileSync(join(root, 'docs/new/a'), '');
	await eventually(t, () => told.changes > changes);
	watch?.close();
});

test('a folder that is renamed, replaced or deleted, or one above it, ends its watch', async (t) => {
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
		const { told } = await follow(storage, 'above/docs');
		// Its number may be given again at once: the two differ by their time of birth, which the system takes from a clock of some milliseconds.
		await wait(20);
		change();
		await eventually(t, () => told.ends === 1);
		rmSync(join(root, 'above'), { recursive: true, force: true });
		rmSync(join(root, 'other'), { recursive: true, force: true });
	}
});

test('links and files are not followed, nor what is not there or our own', async (t) => {
	const { storage, root } = await localStorage(t);
	mkdirSync(join(root, 'docs'));
	writeFileSync(join(root, 'file'), '');
	symlinkSync(join(root, 'docs'), join(root, 'link'));
	for (const path of ['link', 'file', 'nowhere', '.stowage', '.stowage/staging']) {
		await refused(t, 'notFound', () => follow(storage, path));
	}
	// A folder that becomes a link to another is at its end.
	const { told } = await follow(storage, 'docs');
	renameSync(join(root, 'docs'), join(root, 'moved'));
	symlinkSync(join(root, 'moved'), join(root, 'docs'));
	await eventually(t, () => told.ends === 1);
});

test('a folder that can’t be read through is not followed, and no notice of the system is left behind', async (t) => {
	const calls = await loadLinuxCalls();
	if (calls === undefined) throw new Error('These are the calls of Linux.');
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
	if (!hasWatch(storage)) throw new Error('The storage tells of nothing.');
	await t.throwsAsync(storage.watch(p('docs'), { onChange: () => changes++, onEnd: () => t.fail() }));
	fails = false;
	const other = await follow(storage, 'docs');
	writeFileSync(join(root, 'docs/a'), '');
	await eventually(t, () => other.told.changes > 0);
	t.is(changes, 0);
	other.watch?.close();
});

for (const fault of ['inotify_add_watch:error=ENOSPC', 'inotify_init1:error=EMFILE']) {
	test(`a limit of the system leaves a folder to be looked at (${fault})`, async (t) => {
		const { storage, root } = await localStorage(t);
		mkdirSync(join(root, 'docs'));
		const call = fault.split(':')[0];
		// The first ones are Node's own, of its start.
		const { answer } = await traceChild(
			t,
			['-e', `trace=write,${call}`, '-e', `inject=${fault}`],
			root,
			storage.rootId,
			'watch',
			'docs',
		);
		t.is(answer, 'not followed');
	});
}
