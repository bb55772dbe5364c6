import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasListWithStats, hasSmallFiles } from '@stowage/plugin-api';
import test from 'ava';
import { AdaptiveBatch } from '../src/reading/statMany.js';
import { loadSystemCalls } from '../src/system/loadSystemCalls.js';
import { nodeCalls } from '../src/system/nodeCalls.js';
import { eventually, localStorage, names, p } from './steps.js';

const unaddressable = [
	Buffer.from('back\\slash'),
	Buffer.from('a\\..\\b'),
	Buffer.from('new\nline'),
	Buffer.from('escape\u001b[31m'),
	Buffer.from('delete\u007f'),
	Buffer.from('next line\u0085'),
	Buffer.from([0x66, 0xff, 0x66]),
	Buffer.from([0x80]),
	Buffer.from([0xc0, 0xae, 0xc0, 0xae]),
	// A lone surrogate as it would be written in UTF-8.
	Buffer.from([0xed, 0xa0, 0x80]),
	Buffer.from([0xf4, 0x90, 0x80, 0x80]),
];

test('small files that the kernel has in memory are read together, over no link, and none of the storage’s own', async (t) => {
	const { storage, root } = await localStorage(t);
	if (!hasSmallFiles(storage)) throw new Error('A local storage reads small files together.');
	for (const name of ['a', 'b', 'c']) writeFileSync(join(root, name), name.repeat(5));
	writeFileSync(join(root, '.stowage/secret'), 'x');
	symlinkSync(join(root, 'a'), join(root, 'link'));
	execFileSync('mkfifo', [join(root, 'pipe')]);
	const into = Buffer.alloc(12);
	const names = ['a', 'link', 'pipe', '.stowage/secret', '../a', 'b', 'c'];
	const read = async () =>
		(await storage.readSmallFiles(p(''), names, into)).map((file) => file && Buffer.from(file.bytes).toString());
	let found: (string | undefined)[] = [];
	// On a busy machine the time may be up before the second one.
	await eventually(t, async () => {
		found = await read();
		return found[5] !== undefined;
	});
	t.deepEqual(found, ['aaaaa', undefined, undefined, undefined, undefined, 'bbbbb', undefined]);
	t.is(into.toString('latin1', 0, 10), 'aaaaabbbbb');
});

for (const [way, calls] of Object.entries({ 'native calls': undefined, 'calls of Node only': nodeCalls })) {
	test(`names that are not valid in paths are not listed, but moved, copied and removed with their folder (${way})`, async (t) => {
		const { storage, root } = await localStorage(t, calls ? { calls } : {});
		mkdirSync(join(root, 'folder/inner'), { recursive: true });
		// Beside the invalid name is the valid one that it would be decoded as, which is listed.
		for (const folder of ['folder', 'folder/inner']) {
			writeFileSync(join(root, folder, 'f\ufffdf'), 'a true name');
			for (const name of unaddressable) writeFileSync(Buffer.concat([Buffer.from(`${root}/${folder}/`), name]), 'x');
		}
		mkdirSync(Buffer.concat([Buffer.from(`${root}/folder/`), Buffer.from([0xfe]), Buffer.from('folder')]));
		t.deepEqual(await names(storage, 'folder'), ['f\ufffdf', 'inner']);
		t.is(await storage.count(p('folder')), 2);
		t.is(await storage.count(p('folder/inner')), 1);
		if (!hasListWithStats(storage)) throw new Error('A local storage lists with stats.');
		for await (const { items, skipped } of storage.listWithStats(p('folder/inner'))) {
			t.is(items.length, 1);
			t.is(skipped, unaddressable.length);
		}

		await storage.copy(p('folder'), p('copy'));
		await storage.move(p('folder'), p('moved'));
		const expected = tree(join(root, 'moved'));
		t.is(expected.length, 2 * unaddressable.length + 4);
		t.deepEqual(tree(join(root, 'copy')), expected);
		for (const name of ['copy', 'moved']) await storage.remove(p(name));
		await eventually(t, () => readdirSync(join(root, '.stowage/trash-in-progress')).length === 0);
		t.deepEqual(await names(storage, ''), []);
	});

	test(`files that are created and removed during a listing do not disturb it (${way})`, async (t) => {
		const { storage, root } = await localStorage(t, calls ? { calls } : {});
		mkdirSync(join(root, 'busy'));
		for (let n = 0; n < 500; n++) writeFileSync(join(root, 'busy', `kept ${n}`), '');
		let isOver = false;
		const changing = (async () => {
			for (let n = 0; !isOver; n = (n + 1) % 200) {
				writeFileSync(join(root, 'busy', `new ${n}`), '');
				renameSync(join(root, 'busy', `new ${n}`), join(root, 'busy', `renamed ${n}`));
				rmSync(join(root, 'busy', `renamed ${n}`));
				if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
			}
		})();
		for (let n = 0; n < 10; n++) {
			const kept = (await names(storage, 'busy')).filter((name) => name.startsWith('kept'));
			t.is(new Set(kept).size, 500);
		}
		isOver = true;
		await changing;
	});

	test(`a folder of 5,000 entries is listed in batches without blocking the event loop (${way})`, async (t) => {
		const { storage, root } = await localStorage(t, calls ? { calls } : {});
		mkdirSync(join(root, 'large'));
		for (let n = 0; n < 5000; n++) writeFileSync(join(root, 'large', `file number ${n}`), '');
		let rounds = 0;
		let isOver = false;
		const counting = (async () => {
			for (; !isOver; rounds++) await new Promise((resolve) => setImmediate(resolve));
		})();
		const sizes: number[] = [];
		for await (const batch of storage.list(p('large'))) sizes.push(batch.length);
		isOver = true;
		await counting;
		t.is(
			sizes.reduce((sum, size) => sum + size, 0),
			5000,
		);
		t.true((sizes[0] ?? 0) <= 1000);
		t.true(Math.max(...sizes) <= 5000);
		t.true(rounds > sizes.length / 2, `${rounds} rounds in ${sizes.length} batches`);
		t.is(await storage.count(p('large')), 5000);
	});
}

/** All names below a folder, as bytes. */
function tree(folder: string): string[] {
	const found = execFileSync('find', ['.', '-printf', '%P\\0'], { cwd: folder, encoding: 'latin1' });
	return found.split('\0').sort().slice(2);
}

test('each entry is listed once, whichever stat calls are slow', async (t) => {
	const calls = await loadSystemCalls();
	for (const slowEach of [1, 7, 100]) {
		let stats = 0;
		const { entrySync } = calls;
		const slow = {
			...calls,
			...(entrySync && {
				entrySync: (fd: number, name: string) => {
					const until = performance.now() + (++stats % slowEach === 0 ? 2 : 0);
					while (performance.now() < until);
					return entrySync(fd, name);
				},
			}),
		};
		const { storage, root } = await localStorage(t, { calls: slow });
		mkdirSync(join(root, 'docs'));
		const expected = Array.from({ length: 700 }, (_, at) => `file ${at}`).sort();
		for (const name of expected) writeFileSync(join(root, 'docs', name), '');
		t.deepEqual(await names(storage, 'docs'), expected);
	}
});

test('stats of a slow disk move to the background for longer and longer, those of a blocked thread do not', (t) => {
	const disk = new AdaptiveBatch();
	const batches = Array.from({ length: 5 }, () => disk.afterSlowStat(1));
	t.true(batches.reduce((sum, each) => sum + each, 0) > 10_000, batches.join(' '));
	const thread = new AdaptiveBatch();
	for (let n = 0; n < 10; n++) t.true(thread.afterSlowStat(1000) < 100);
});
