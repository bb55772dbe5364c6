import { mkdir, readdir, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { localStorageDriver } from '@stowage/storage-local';
import test from 'ava';
import { loadSystemCalls } from '../src/system/loadSystemCalls.js';
import { nodeCalls } from '../src/system/nodeCalls.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { endOf, outputOf, startChild, untilOutput } from './children.js';
import { localStorage, names, p, plant, run } from './steps.js';

const megabyte = 1024 * 1024;

/** Staging options that keep the id in an object, as a job keeps it in the database. */
function kept(id?: string) {
	const state = { id };
	return {
		state,
		staged: {
			id,
			onBegin: async (given: string) => {
				state.id = given;
			},
		},
	};
}

const tree = {
	'from/a': 'one',
	'from/b': 'two',
	'from/c': 'three',
	'from/deep/d': 'four',
	'from/deep/er/e': 'five',
};

/** The same calls, but from the `last` one within `run` on none returns, which is to the disk as if the process were killed. */
function killedAt(
	calls: SystemCalls,
	last: number,
): { calls: SystemCalls; run(work: () => Promise<unknown>): Promise<boolean> } {
	let isRunning = false;
	let count = 0;
	let kill = () => {};
	const killed = new Promise<void>((resolve) => {
		kill = resolve;
	});
	const step = async () => {
		if (!isRunning || ++count < last) return;
		kill();
		await new Promise(() => {});
	};
	return {
		/** True if the work was done, false if it was killed. */
		run: (work: () => Promise<unknown>) => {
			isRunning = true;
			const isDone = work().then(() => {
				isRunning = false;
				return true;
			});
			return Promise.race([isDone, killed.then(() => false)]);
		},
		calls: {
			...calls,
			// The locks of a dead process are free.
			tryLock: () => undefined,
			async *readNames(folder) {
				await step();
				yield* calls.readNames(folder);
				await step();
			},
			async copyRange(...args) {
				await step();
				return calls.copyRange(...args);
			},
			async syncFileSystem(fd) {
				await step();
				const isDone = await calls.syncFileSystem(fd);
				await step();
				return isDone;
			},
			async renameNoReplace(...args) {
				await step();
				await calls.renameNoReplace(...args);
				await step();
			},
		},
	};
}

for (const [name, load] of Object.entries({ 'Linux’s': loadSystemCalls, 'Node’s': async () => nodeCalls })) {
	test(`a staged copy that is interrupted at any call is continued, and there is one copy in the end (${name} calls)`, async (t) => {
		const real = await load();
		let isDone = false;
		for (let last = 1; !isDone; last++) {
			const { calls, run } = killedAt(real, last);
			const { storage, root } = await localStorage(t, { calls });
			await plant(root, tree);
			await mkdir(join(root, 'from/empty'));
			const { state, staged } = kept();
			isDone = await run(() => storage.copy(p('from'), p('to'), { staged, otherNames: ['to (1)'] }));
			const reopened = await localStorageDriver(root, { calls: { ...real, tryLock: () => undefined } }).open(
				storage.rootId,
			);
			const second = kept(state.id);
			const copy = await reopened.copy(p('from'), p('to'), { staged: second.staged, otherNames: ['to (1)'] });
			t.is(copy.name, 'to');
			t.deepEqual(await names(reopened, ''), ['from', 'to']);
			t.deepEqual(await contents(join(root, 'to')), await contents(join(root, 'from')), `after ${last} calls`);
			// Scratch files, by which the file system is tested, are swept at the next start.
			const left = (await readdir(join(root, '.stowage/staging'))).filter((file) => !file.startsWith('scratch-'));
			t.deepEqual(left, []);
			await reopened.close();
		}
	});
}

/** Identifies a file: its inode number alone may be another file's by now. */
async function objectAt(path: string): Promise<string> {
	const { ino, birthtimeMs } = await stat(path);
	return `${ino} ${birthtimeMs}`;
}

async function contents(root: string): Promise<Record<string, string>> {
	const found: Record<string, string> = {};
	for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
		const path = join(entry.parentPath, entry.name);
		found[path.slice(root.length)] = entry.isFile() ? await readFile(path, 'utf8') : 'a folder';
	}
	return found;
}

test('a killed copy is continued without copying complete files again', async (t) => {
	const { storage, root } = await localStorage(t);
	await mkdir(join(root, 'from'));
	for (let n = 0; n < 2500; n++) {
		const file = join(root, 'from', `${n}`);
		await writeFile(file, `file ${n}`);
		if (n % 2 === 0) await utimes(file, 1_500_000_000, 1_500_000_000);
	}
	const copying = await startChild(t, root, storage.rootId, 'stagedCopyAndDie', 'from', 'to', '2300');
	t.is((await endOf(copying)).signal, 'SIGKILL');
	const id = /^begun (.*)$/m.exec(outputOf(copying))?.[1];
	const [name = ''] = await readdir(join(root, '.stowage/staging'));
	const staged = join(root, '.stowage/staging', name);
	const before = new Map<string, string>();
	for (const file of await readdir(staged)) before.set(file, await objectAt(join(staged, file)));
	const { state, staged: options } = kept(id);
	let written = 0;
	const beforeBytes = async () => {
		written++;
	};
	await storage.copy(p('from'), p('to'), { staged: options, beforeBytes });
	t.is(state.id, id, 'the copy is the same one');
	t.deepEqual(await contents(join(root, 'to')), await contents(join(root, 'from')));
	let same = 0;
	for (const file of await readdir(join(root, 'to'))) {
		if ((await objectAt(join(root, 'to', file))) === before.get(file)) same++;
	}
	t.true(same >= 1000 && same < 2500, `${same} files are those from before`);
	t.is(written, 2500 - same);
	for (const file of ['0', '1', '2498', '2499']) {
		const [copy, original] = await Promise.all([stat(join(root, 'to', file)), stat(join(root, 'from', file))]);
		t.is(Math.round(copy.mtimeMs), Math.round(original.mtimeMs));
	}
});

test('a torn file is copied again, though it has the size of its original and was changed at the same time', async (t) => {
	const { storage, root } = await localStorage(t);
	await plant(root, { 'from/whole': 'whole', 'from/torn': 'whole' });
	const { state, staged } = kept();
	const interruption = new Error('interrupted');
	let items = 0;
	const beforeItem = async () => {
		if (++items > 2) throw interruption;
	};
	t.is(await t.throwsAsync(storage.copy(p('from'), p('to'), { staged, beforeItem })), interruption);
	const [name = ''] = await readdir(join(root, '.stowage/staging'));
	const [file = ''] = await readdir(join(root, '.stowage/staging', name));
	const written = await stat(join(root, '.stowage/staging', name, file));
	t.not(written.mtimeMs, (await stat(join(root, 'from', file))).mtimeMs, 'it is not known to be durable');
	await truncate(join(root, '.stowage/staging', name, file), 0);
	await truncate(join(root, '.stowage/staging', name, file), 5);
	await storage.copy(p('from'), p('to'), { staged: kept(state.id).staged });
	t.deepEqual(await contents(join(root, 'to')), { '/torn': 'whole', '/whole': 'whole' });
});

test('a large file that was copied completely is not copied again, a torn one is', async (t) => {
	const { storage, root } = await localStorage(t);
	const bytes = Buffer.alloc(20 * megabyte, 'large');
	await writeFile(join(root, 'large'), bytes);
	for (const isTorn of [false, true]) {
		const { state, staged } = kept();
		const otherNames: Iterable<string> = {
			// The names are read before and after the bytes are copied.
			*[Symbol.iterator]() {
				if (reads++ > 0) throw new Error('interrupted');
				yield* ['copy'];
			},
		};
		let reads = 0;
		await t.throwsAsync(storage.copy(p('large'), p('large'), { staged, otherNames }), { message: 'interrupted' });
		const [name = ''] = await readdir(join(root, '.stowage/staging'));
		if (isTorn) await writeFile(join(root, '.stowage/staging', name), bytes.fill('torn', 10 * megabyte));
		let written = 0;
		const beforeBytes = async (more: number) => {
			written += more;
		};
		let reported = 0;
		const afterBytes = (more: number) => {
			reported += more;
		};
		const options = { staged: kept(state.id).staged, otherNames: [`copy ${isTorn}`], beforeBytes, afterBytes };
		await storage.copy(p('large'), p('large'), options);
		t.is(written > 0, isTorn);
		t.is(reported, 20 * megabyte);
		t.true((await readFile(join(root, `copy ${isTorn}`))).equals(await readFile(join(root, 'large'))));
	}
});

test('a completely copied large file is recognized by its time in nanoseconds', async (t) => {
	const { storage, root } = await localStorage(t);
	await writeFile(join(root, 'large'), Buffer.alloc(9 * megabyte, 'large'));
	for (const nanoseconds of ['000000000', '000001002', '000999999', '123456789']) {
		await run('touch', ['-d', `@1500000000.${nanoseconds}`, join(root, 'large')]);
		const { state, staged } = kept();
		const beforeNaming = () => Promise.reject(new Error('interrupted'));
		await t.throwsAsync(storage.copy(p('large'), p('copy'), { staged, beforeNaming }), { message: 'interrupted' });
		let written = 0;
		const beforeBytes = async (more: number) => {
			written += more;
		};
		await storage.copy(p('large'), p('copy'), { staged: kept(state.id).staged, beforeBytes });
		t.is(written, 0, nanoseconds);
		await storage.remove(p('copy'));
	}
});

for (const [when, sync] of [
	['a part of the files', 1],
	['the whole', 2],
] as const) {
	test(`files that could not be made durable are copied again (${when})`, async (t) => {
		const real = await loadSystemCalls();
		let syncs = 0;
		const { storage, root } = await localStorage(t, {
			calls: {
				...real,
				async syncFileSystem(fd) {
					if (++syncs === sync) throw Object.assign(new Error('EIO'), { code: 'EIO' });
					return real.syncFileSystem(fd);
				},
			},
		});
		await plant(root, tree);
		const { state, staged } = kept();
		const message = 'The storage does not answer as it should.';
		await t.throwsAsync(storage.copy(p('from'), p('to'), { staged }), { message });
		let written = 0;
		const beforeBytes = async () => {
			written++;
		};
		await storage.copy(p('from'), p('to'), { staged: kept(state.id).staged, beforeBytes });
		t.is(written, 5);
		t.deepEqual(await contents(join(root, 'to')), await contents(join(root, 'from')));
		t.deepEqual(await readdir(join(root, '.stowage/staging')), []);
	});
}

test('a copy that is continued in one process is locked for another one until the first ends', async (t) => {
	const { storage, root } = await localStorage(t);
	await mkdir(join(root, 'from'));
	for (let n = 0; n < 200; n++) await writeFile(join(root, 'from', `${n}`), 'x');
	const copying = await startChild(t, root, storage.rootId, 'stagedCopyAndHold', 'from', 'to', '100');
	await untilOutput(copying, 'holding');
	const id = /^begun (.*)$/m.exec(outputOf(copying))?.[1];
	const error = await t.throwsAsync(storage.copy(p('from'), p('to'), { staged: kept(id).staged }));
	t.is(error?.message, 'Somebody else is working on this copy.');
	copying.kill('SIGKILL');
	await endOf(copying);
	await storage.copy(p('from'), p('to'), { staged: kept(id).staged });
	t.is(await storage.count(p('to')), 200);
});
