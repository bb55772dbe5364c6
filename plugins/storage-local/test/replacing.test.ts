import { linkSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageProvider } from '@stowage/plugin-api';
import { localStorageDriver } from '@stowage/storage-local';
import test, { type ExecutionContext } from 'ava';
import { loadSystemCalls } from '../src/system/loadSystemCalls.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { systemError } from '../src/system/systemErrors.js';
import { body, localStorage, names, p, plant, put, readText, refused } from './steps.js';

const real = await loadSystemCalls();
const canExchange = real.exchange !== undefined;

const ways = ['commit', 'move', 'copy'] as const;

interface Scene {
	storage: StorageProvider;
	root: string;
	/** Puts the new file in the place of the old one. */
	replace(): Promise<unknown>;
	/** Opens the root again, as after a crash. */
	again(): Promise<StorageProvider>;
	/** Where the new file is, if it is not in the place of the old one. */
	untouched(storage: StorageProvider): Promise<string>;
	/** Names in staging that belong to a replacement. */
	left(): string[];
}

async function scene(t: ExecutionContext, way: (typeof ways)[number], calls: Partial<SystemCalls>): Promise<Scene> {
	// The lock of a process that died is gone, though here it lives on.
	const { storage, root } = await localStorage(t, { calls: { ...real, tryLock: () => true, ...calls } });
	await plant(root, { 'home/a': 'old', 'from/b': 'new' });
	const { version } = await storage.stat(p('home/a'));
	const onConflict = { replace: version };
	const staged = await storage.stage();
	await staged.append(body('new'), 0);
	return {
		storage,
		root,
		replace: () =>
			way === 'commit'
				? staged.commit(p('home/a'), { onConflict })
				: storage[way](p('from/b'), p('home/a'), { onConflict }),
		async again() {
			const opened = await localStorageDriver(root).open(storage.rootId);
			t.teardown(() => opened.close());
			return opened;
		},
		async untouched(opened) {
			if (way !== 'commit') return readText(opened, 'from/b');
			const found = await opened.stage(staged.id);
			return (await found.size()) === 3 ? 'new' : 'torn';
		},
		left: () => readdirSync(join(root, '.stowage/staging')).filter((name) => name.startsWith('replacing-')),
	};
}

/** These calls, but all stand still for ever from the step of this number on: one before each change of names and one after it. */
function dyingAt(last: number, atExchange: () => void = () => {}) {
	let steps = 0;
	let die = () => {};
	const died = new Promise<'died'>((resolve) => {
		die = () => resolve('died');
	});
	const step = async () => {
		if (steps++ < last) return;
		die();
		await new Promise(() => {});
	};
	const calls: Partial<SystemCalls> = {
		async renameNoReplace(...args) {
			// The root's marker gets its name in the same way.
			const isTaking = args[3].startsWith('replacing-');
			if (isTaking) await step();
			await real.renameNoReplace(...args);
			if (isTaking) await step();
		},
		async exchange(...args) {
			// Two scratch files find out whether the disk can.
			if (args.includes('a')) {
				await step();
				atExchange();
			}
			await real.exchange?.(...args);
			if (args.includes('a')) await step();
		},
	};
	return { calls, run: (work: () => Promise<unknown>) => Promise.race([work().then(() => 'done' as const), died]) };
}

for (const way of ways) {
	test(`a replacement that ends at any change of names is finished or undone by the next start (${way})`, async (t) => {
		if (!canExchange) return t.pass('This machine can’t exchange names.');
		for (let last = 0, outcome = 'died'; outcome === 'died'; last++) {
			const { calls, run } = dyingAt(last);
			const { replace, again, untouched, left } = await scene(t, way, calls);
			outcome = await run(replace);
			const opened = await again();
			const content = await readText(opened, 'home/a');
			const isNew = last >= 3;
			t.is(content, isNew ? 'new' : 'old', `after ${last} steps`);
			if (!isNew) t.is(await untouched(opened), 'new');
			else if (way === 'move') t.deepEqual(await names(opened, 'from'), []);
			t.deepEqual(await names(opened, 'home'), ['a']);
			t.deepEqual(left(), []);
		}
	});

	test(`what came to lie in the place meanwhile is not lost (${way})`, async (t) => {
		if (!canExchange) return t.pass('This machine can’t exchange names.');
		let isFirst = true;
		const { replace, storage, root, untouched, left } = await scene(t, way, {
			async exchange(...args) {
				if (args.includes('a') && isFirst) {
					isFirst = false;
					overwrite(root);
				}
				await real.exchange?.(...args);
			},
		});
		await refused(t, 'preconditionFailed', replace);
		t.is(await readText(storage, 'home/a'), 'somebody else’s');
		t.is(await untouched(storage), 'new');
		t.deepEqual(await names(storage, 'home'), ['a']);
		t.deepEqual(left(), []);
	});

	test(`what came to lie in the place is not lost either if the process dies (${way})`, async (t) => {
		if (!canExchange) return t.pass('This machine can’t exchange names.');
		let folder = '';
		const { calls, run } = dyingAt(3, () => overwrite(folder));
		const { replace, again, root, untouched, left } = await scene(t, way, calls);
		folder = root;
		t.is(await run(replace), 'died');
		const opened = await again();
		t.is(await readText(opened, 'home/a'), 'somebody else’s');
		t.is(await untouched(opened), 'new');
		t.deepEqual(await names(opened, 'home'), ['a']);
		t.deepEqual(left(), []);
	});
}

test('what came to lie in the place gets a name of its own if that was taken again', async (t) => {
	if (!canExchange) return t.pass('This machine can’t exchange names.');
	let folder = '';
	const { calls, run } = dyingAt(3, () => overwrite(folder));
	const { replace, again, root, left } = await scene(t, 'move', calls);
	folder = root;
	t.is(await run(replace), 'died');
	// The new file was moved on, and a third one is in its place.
	renameSync(join(root, 'home/a'), join(root, 'home/moved'));
	await plant(root, { 'home/a': 'third' });
	const opened = await again();
	t.deepEqual(await names(opened, 'home'), ['a', 'a (1)', 'moved']);
	t.is(await readText(opened, 'home/a'), 'third');
	t.is(await readText(opened, 'home/a (1)'), 'somebody else’s');
	t.is(await readText(opened, 'home/moved'), 'new');
	t.deepEqual(left(), []);
});

test('what belongs into a folder that is gone stays in staging until that is back, whatever is swept', async (t) => {
	if (!canExchange) return t.pass('This machine can’t exchange names.');
	let folder = '';
	const { calls, run } = dyingAt(3, () => overwrite(folder));
	const { replace, again, root, left } = await scene(t, 'commit', calls);
	folder = root;
	t.is(await run(replace), 'died');
	renameSync(join(root, 'home'), join(root, 'away'));
	const opened = await again();
	const later = Date.now() + 60_000;
	await opened.sweepStaging({ staged: later, copies: later }, async () => false);
	t.is(left().length, 2);
	renameSync(join(root, 'away'), join(root, 'home'));
	t.is(await readText(await again(), 'home/a'), 'somebody else’s');
	t.deepEqual(left(), []);
});

test('a replacement under way in another process is left alone by one that starts', async (t) => {
	if (!canExchange) return t.pass('This machine can’t exchange names.');
	let go = () => {};
	const mayGo = new Promise<void>((resolve) => {
		go = resolve;
	});
	let come = () => {};
	const hasCome = new Promise<void>((resolve) => {
		come = resolve;
	});
	const { replace, again, storage, left } = await scene(t, 'commit', {
		tryLock: real.tryLock as never,
		async exchange(...args) {
			await real.exchange?.(...args);
			if (!args.includes('a')) return;
			come();
			await mayGo;
		},
	});
	const replacing = replace();
	await hasCome;
	const opened = await again();
	const later = Date.now() + 60_000;
	await opened.sweepStaging({ staged: later, copies: later }, async () => false);
	t.is(left().length, 2);
	t.is(await readText(opened, 'home/a'), 'new');
	go();
	await replacing;
	t.is(await readText(storage, 'home/a'), 'new');
	t.deepEqual(left(), []);
});

for (const [what, calls] of Object.entries<Partial<SystemCalls>>({
	'that can’t exchange names': {
		exchange: async () => {
			throw systemError('renameat2', 22);
		},
	},
	'without locks': { tryLock: () => undefined },
})) {
	test(`a disk ${what} refuses, and nothing is left in staging`, async (t) => {
		for (const way of ways) {
			const { storage, root, replace, untouched } = await scene(t, way, calls);
			const before = await readdir(join(root, '.stowage/staging'));
			await refused(t, 'invalid', replace);
			t.is(await readText(storage, 'home/a'), 'old');
			t.is(await untouched(storage), 'new');
			t.deepEqual(await readdir(join(root, '.stowage/staging')), before);
		}
	});
}

test('a folder with what it holds is given back if it came to lie in the place', async (t) => {
	if (!canExchange) return t.pass('This machine can’t exchange names.');
	let isFirst = true;
	const { replace, storage, root, untouched } = await scene(t, 'commit', {
		async exchange(...args) {
			if (args.includes('a') && isFirst) {
				isFirst = false;
				renameSync(join(root, 'home/a'), join(root, 'home/was'));
				renameSync(join(root, 'from'), join(root, 'home/a'));
			}
			await real.exchange?.(...args);
		},
	});
	await refused(t, 'preconditionFailed', replace);
	t.is(await readText(storage, 'home/a/b'), 'new');
	t.is(await untouched(storage), 'new');
});

test('two names of one file are not put in the place of one another', async (t) => {
	if (!canExchange) return t.pass('This machine can’t exchange names.');
	const { storage, root } = await localStorage(t);
	await put(storage, 'a', 'one');

	linkSync(join(root, 'a'), join(root, 'b'));
	const onConflict = { replace: (await storage.stat(p('b'))).version };
	await refused(t, 'invalid', () => storage.move(p('a'), p('b'), { onConflict }));
	t.deepEqual(await names(storage, ''), ['a', 'b']);
});

function overwrite(root: string): void {
	writeFileSync(join(root, 'theirs'), 'somebody else’s');
	renameSync(join(root, 'theirs'), join(root, 'home/a'));
}
