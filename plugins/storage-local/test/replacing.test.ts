import { linkSync, readdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ReplaceVersion, type StorageProvider, trashFolder } from '@stowage/plugin-api';
import { joinPath } from '@stowage/rules';
import { localStorageDriver } from '@stowage/storage-local';
import test, { type ExecutionContext } from 'ava';
import { loadSystemCalls } from '../src/system/loadSystemCalls.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { systemError } from '../src/system/systemErrors.js';
import { body, localStorage, names, p, plant, put, readText, refused } from './steps.js';

const real = await loadSystemCalls();
const canExchange = real.exchange !== undefined;

const kept = joinPath(trashFolder, 'kept');

const ways = ['commit', 'move', 'copy'] as const;

interface Scene {
	storage: StorageProvider;
	root: string;
	/** Replaces the old file by the new one. */
	replace(): Promise<unknown>;
	/** The same, and keeps the old file as `kept`. */
	replaceAndKeep(): Promise<unknown>;
	/** Opens the root again, as after a crash. */
	reopen(): Promise<StorageProvider>;
	/** The content of the new file at its former place. */
	untouched(storage: StorageProvider): Promise<string>;
	/** Names in staging that belong to a replacement. */
	left(): string[];
}

async function scene(t: ExecutionContext, way: (typeof ways)[number], calls: Partial<SystemCalls>): Promise<Scene> {
	// The locks of a killed process are free. Here the process lives on, so each lock succeeds.
	const { storage, root } = await localStorage(t, { calls: { ...real, tryLock: () => true, ...calls } });
	await plant(root, { 'home/a': 'old', 'from/b': 'new' });
	const { version } = await storage.stat(p('home/a'));
	const staged = await storage.stage();
	await staged.append(body('new'), 0);
	const replace = (onConflict: ReplaceVersion) =>
		way === 'commit'
			? staged.commit(p('home/a'), { onConflict })
			: storage[way](p('from/b'), p('home/a'), { onConflict });
	return {
		storage,
		root,
		replace: () => replace({ replace: version }),
		async replaceAndKeep() {
			await storage.makeDirectory(trashFolder);
			return replace({ replace: version, keepAs: kept });
		},
		async reopen() {
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

/** Calls that never return from the step of this number on. There is one step before each change of names and one after it. */
function killedAt(last: number, atExchange: () => void = () => {}) {
	let steps = 0;
	let kill = () => {};
	const killed = new Promise<'killed'>((resolve) => {
		kill = () => resolve('killed');
	});
	const step = async () => {
		if (steps++ < last) return;
		kill();
		await new Promise(() => {});
	};
	const calls: Partial<SystemCalls> = {
		async renameNoReplace(...args) {
			// The root's marker gets its name in the same way.
			const isTaking = args[3].startsWith('replacing-') || args[3] === 'kept';
			if (isTaking) await step();
			await real.renameNoReplace(...args);
			if (isTaking) await step();
		},
		async exchange(...args) {
			// An exchange of other names, of two scratch files, only tests the file system.
			if (args.includes('a')) {
				await step();
				atExchange();
			}
			await real.exchange?.(...args);
			if (args.includes('a')) await step();
		},
	};
	return { calls, run: (work: () => Promise<unknown>) => Promise.race([work().then(() => 'done' as const), killed]) };
}

for (const way of ways) {
	test(`a replacement that is interrupted at any rename is completed or undone at the next start (${way})`, async (t) => {
		if (!canExchange) return t.pass('not supported by this machine');
		for (let last = 0, outcome = 'killed'; outcome === 'killed'; last++) {
			const { calls, run } = killedAt(last);
			const { replace, reopen, untouched, left } = await scene(t, way, calls);
			outcome = await run(replace);
			const opened = await reopen();
			const content = await readText(opened, 'home/a');
			const isNew = last >= 3;
			t.is(content, isNew ? 'new' : 'old', `after ${last} steps`);
			if (!isNew) t.is(await untouched(opened), 'new');
			else if (way === 'move') t.deepEqual(await names(opened, 'from'), []);
			t.deepEqual(await names(opened, 'home'), ['a']);
			t.deepEqual(left(), []);
		}
	});

	test(`a replaced file that is kept is in one of both places after an interruption at any rename (${way})`, async (t) => {
		if (!canExchange) return t.pass('not supported by this machine');
		for (const isTrashGone of [false, true]) {
			let outcome = 'killed';
			let last = 0;
			for (; outcome === 'killed'; last++) {
				const { calls, run } = killedAt(last);
				const { root, replaceAndKeep, reopen, untouched, left } = await scene(t, way, calls);
				outcome = await run(replaceAndKeep);
				const hasArrived = last >= 5;
				if (isTrashGone && !hasArrived) rmdirSync(join(root, trashFolder));
				const opened = await reopen();
				const isNew = last >= 3;
				t.is(await readText(opened, 'home/a'), isNew ? 'new' : 'old', `after ${last} steps`);
				if (isNew) t.is(await readText(opened, kept), 'old', `after ${last} steps`);
				else {
					t.is(await untouched(opened), 'new');
					await refused(t, 'notFound', () => opened.stat(kept));
				}
				t.deepEqual(await names(opened, 'home'), ['a']);
				t.deepEqual(left(), []);
			}
			t.is(last, 7);
		}
	});

	test(`a replaced file that can’t get the name under which it is kept is restored (${way})`, async (t) => {
		if (!canExchange) return t.pass('not supported by this machine');
		const { replaceAndKeep, storage, untouched, left } = await scene(t, way, {
			async renameNoReplace(...args) {
				if (args[3] === 'kept') throw systemError('renameat2', 28);
				await real.renameNoReplace(...args);
			},
		});
		await refused(t, 'storageFull', replaceAndKeep);
		t.is(await readText(storage, 'home/a'), 'old');
		t.is(await untouched(storage), 'new');
		t.deepEqual(await names(storage, 'home'), ['a']);
		t.deepEqual(await names(storage, trashFolder), []);
		t.deepEqual(left(), []);
	});

	test(`another file that takes the place during a replacement is not lost (${way})`, async (t) => {
		if (!canExchange) return t.pass('not supported by this machine');
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
		t.is(await readText(storage, 'home/a'), 'another file');
		t.is(await untouched(storage), 'new');
		t.deepEqual(await names(storage, 'home'), ['a']);
		t.deepEqual(left(), []);
	});

	test(`another file that takes the place during a replacement is not lost if the process is killed (${way})`, async (t) => {
		if (!canExchange) return t.pass('not supported by this machine');
		let folder = '';
		const { calls, run } = killedAt(3, () => overwrite(folder));
		const { replace, reopen, root, untouched, left } = await scene(t, way, calls);
		folder = root;
		t.is(await run(replace), 'killed');
		const opened = await reopen();
		t.is(await readText(opened, 'home/a'), 'another file');
		t.is(await untouched(opened), 'new');
		t.deepEqual(await names(opened, 'home'), ['a']);
		t.deepEqual(left(), []);
	});
}

test('another file that took the place gets a number if its name is taken at the next start', async (t) => {
	if (!canExchange) return t.pass('not supported by this machine');
	let folder = '';
	const { calls, run } = killedAt(3, () => overwrite(folder));
	const { replace, reopen, root, left } = await scene(t, 'move', calls);
	folder = root;
	t.is(await run(replace), 'killed');
	// The new file was moved on, and a third one is in its place.
	renameSync(join(root, 'home/a'), join(root, 'home/moved'));
	await plant(root, { 'home/a': 'third' });
	const opened = await reopen();
	t.deepEqual(await names(opened, 'home'), ['a', 'a (1)', 'moved']);
	t.is(await readText(opened, 'home/a'), 'third');
	t.is(await readText(opened, 'home/a (1)'), 'another file');
	t.is(await readText(opened, 'home/moved'), 'new');
	t.deepEqual(left(), []);
});

test('another file that took the place stays in staging while its folder is missing, and is not swept', async (t) => {
	if (!canExchange) return t.pass('not supported by this machine');
	let folder = '';
	const { calls, run } = killedAt(3, () => overwrite(folder));
	const { replace, reopen, root, left } = await scene(t, 'commit', calls);
	folder = root;
	t.is(await run(replace), 'killed');
	renameSync(join(root, 'home'), join(root, 'away'));
	const opened = await reopen();
	const later = Date.now() + 60_000;
	await opened.sweepStaging({ staged: later, copies: later }, async () => false);
	t.is(left().length, 2);
	renameSync(join(root, 'away'), join(root, 'home'));
	t.is(await readText(await reopen(), 'home/a'), 'another file');
	t.deepEqual(left(), []);
});

test('a replacement that is running in another process is not touched by a start', async (t) => {
	if (!canExchange) return t.pass('not supported by this machine');
	let resume = () => {};
	const resumed = new Promise<void>((resolve) => {
		resume = resolve;
	});
	let reach = () => {};
	const reached = new Promise<void>((resolve) => {
		reach = resolve;
	});
	const { replace, reopen, storage, left } = await scene(t, 'commit', {
		tryLock: real.tryLock as never,
		async exchange(...args) {
			await real.exchange?.(...args);
			if (!args.includes('a')) return;
			reach();
			await resumed;
		},
	});
	const replacing = replace();
	await reached;
	const opened = await reopen();
	const later = Date.now() + 60_000;
	await opened.sweepStaging({ staged: later, copies: later }, async () => false);
	t.is(left().length, 2);
	t.is(await readText(opened, 'home/a'), 'new');
	resume();
	await replacing;
	t.is(await readText(storage, 'home/a'), 'new');
	t.deepEqual(left(), []);
});

for (const [what, calls] of Object.entries<Partial<SystemCalls>>({
	'without exchange of names': {
		exchange: async () => {
			throw systemError('renameat2', 22);
		},
	},
	'without locks': { tryLock: () => undefined },
})) {
	test(`a disk ${what} refuses a replacement and leaves nothing in staging`, async (t) => {
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

test('a folder that takes the place during a replacement is restored with its contents', async (t) => {
	if (!canExchange) return t.pass('not supported by this machine');
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

test('one of two hard links of a file cannot replace the other', async (t) => {
	if (!canExchange) return t.pass('not supported by this machine');
	const { storage, root } = await localStorage(t);
	await put(storage, 'a', 'one');

	linkSync(join(root, 'a'), join(root, 'b'));
	const onConflict = { replace: (await storage.stat(p('b'))).version };
	await refused(t, 'invalid', () => storage.move(p('a'), p('b'), { onConflict }));
	t.deepEqual(await names(storage, ''), ['a', 'b']);
});

function overwrite(root: string): void {
	writeFileSync(join(root, 'other'), 'another file');
	renameSync(join(root, 'other'), join(root, 'home/a'));
}
