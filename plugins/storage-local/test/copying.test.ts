import { readdir, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { loadSystemCalls } from '../src/system/loadSystemCalls.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { localStorage, p } from './steps.js';

const megabyte = 1024 * 1024;

type CopyRange = SystemCalls['copyRange'];

/** A storage with a file of 40 MB, in which each megabyte is different. */
async function withLargeFile(t: ExecutionContext, copyRange: (real: CopyRange) => CopyRange) {
	const calls = await loadSystemCalls();
	const requested: number[] = [];
	const counting: CopyRange = async (...args) => {
		requested.push(args[2]);
		return copyRange((...real) => calls.copyRange(...real))(...args);
	};
	const opened = await localStorage(t, { calls: { ...calls, copyRange: counting } });
	const bytes = Buffer.concat(Array.from({ length: 40 }, (_, n) => Buffer.alloc(megabyte, n + 1)));
	await writeFile(join(opened.root, 'large'), bytes);
	await utimes(join(opened.root, 'large'), 1_000_000_000, 1_000_000_000);
	return { ...opened, bytes, requested };
}

const copies = async (t: ExecutionContext, copyRange: (real: CopyRange) => CopyRange) => {
	const { storage, root, bytes } = await withLargeFile(t, copyRange);
	await storage.copy(p('large'), p('copy'));
	t.true(bytes.equals(await readFile(join(root, 'copy'))));
	t.is((await stat(join(root, 'copy'))).mtimeMs, 1_000_000_000_000);
};

test('a large file is copied by the kernel', copies, (real) => real);
test('a large file is copied where the kernel cannot copy it', copies, () => async () => undefined);

test('a large file is copied where the kernel stops in the middle', async (t) => {
	let pieces = 0;
	await copies(
		t,
		(real) =>
			(...args) =>
				++pieces === 1 ? real(...args) : Promise.resolve(undefined),
	);
});

test('a sparse file keeps its length', async (t) => {
	const { storage, root } = await withLargeFile(t, (real) => real);
	await writeFile(join(root, 'hollow'), 'begins');
	await truncate(join(root, 'hollow'), 20 * megabyte);
	await storage.copy(p('hollow'), p('copy'));
	t.is((await stat(join(root, 'copy'))).size, 20 * megabyte);
	t.is((await readFile(join(root, 'copy'))).subarray(0, 6).toString(), 'begins');
});

test('an aborted copy of a large file ends between two pieces and leaves nothing', async (t) => {
	const controller = new AbortController();
	const { storage, root, requested } = await withLargeFile(t, (real) => async (...args) => {
		const copied = await real(...args);
		controller.abort();
		return copied;
	});
	const outcome = await storage.copy(p('large'), p('copy'), { signal: controller.signal }).then(
		() => 'done',
		(error: Error) => error.name,
	);
	// On a file system that clones files no piece is copied, so nothing is aborted.
	const isShared = requested.length === 0;
	t.is(outcome, isShared ? 'done' : 'AbortError');
	const names = (await readdir(root)).filter((name) => name !== '.stowage');
	t.deepEqual(names.sort(), isShared ? ['copy', 'large'] : ['large']);
	t.deepEqual(await readdir(join(root, '.stowage/staging')), []);
});
