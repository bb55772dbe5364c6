import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { hasInspection, hasListWithStats, hasSmallFiles } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { usualMs } from '../../../test/processorTime.js';
import { AdaptiveBatch } from '../src/reading/statMany.js';
import { loadSystemCalls } from '../src/system/loadSystemCalls.js';
import { nodeCalls } from '../src/system/nodeCalls.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { coldCalls } from './coldCalls.js';
import { best, eventually, isRoot, localStorage, names, p } from './steps.js';

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

for (const [way, calls] of Object.entries({ 'at once': best, 'in the background': coldCalls(best) })) {
	for (const code of ['EIO', 'EUCLEAN', 'ESTALE']) {
		test(`an item of which its disk can’t tell what it is hides no others: ${code} (${way})`, async (t) => {
			let broken = ['bad', 'bad folder'];
			const fault = () => Object.assign(new Error(`${code}: stat`), { code });
			const { entrySync, statSync } = calls;
			const damaged: SystemCalls = {
				...calls,
				openCached: (fd, name, flags) => (broken.includes(name) ? undefined : calls.openCached(fd, name, flags)),
				entrySync:
					entrySync &&
					((fd, name) => {
						if (broken.includes(name)) throw fault();
						return entrySync(fd, name);
					}),
				statSync:
					statSync &&
					((fd, name) => {
						if (broken.includes(name)) throw fault();
						return statSync(fd, name);
					}),
				async mayRead(folder, name, type) {
					if (broken.includes(name)) throw fault();
					return calls.mayRead(folder, name, type);
				},
			};
			const { storage, root } = await localStorage(t, { calls: damaged });
			if (!hasListWithStats(storage)) return t.fail();
			// Closed, so that the slow way asks whether they may be read as well.
			for (const name of ['a', 'bad', 'c']) writeFileSync(join(root, name), name, { mode: name === 'bad' ? 0 : 0o644 });
			mkdirSync(join(root, 'bad folder'), { mode: 0 });
			// Where a stat takes long, the next ones are asked of the system itself.
			const becomes = (read: () => Promise<unknown>, expected: unknown) =>
				eventually(t, async () => isDeepStrictEqual(await read(), expected));
			const rows = async () => {
				const found: string[] = [];
				for await (const batch of storage.list(p('')))
					found.push(...batch.map(({ name, type, unreadable = false }) => `${name}: ${type} ${unreadable}`));
				return found.sort();
			};
			const withStats = async () => {
				const found = { items: [] as string[], left: [] as string[] };
				for await (const { items, skippedNames = [] } of storage.listWithStats(p(''))) {
					found.items.push(...items.map(({ name }) => name));
					found.left.push(...skippedNames);
				}
				return { items: found.items.sort(), left: found.left.sort() };
			};
			// Root may read everything by its mode, and is not asked more.
			const isSeenInRows = entrySync !== undefined || !isRoot;
			if (isSeenInRows)
				await becomes(rows, ['a: file false', 'bad folder: directory true', 'bad: file true', 'c: file false']);
			t.is(await storage.count(p('')), 4);
			await becomes(withStats, { items: ['a', 'c'], left: ['bad', 'bad folder'] });

			broken = ['a', 'bad', 'bad folder', 'c'];
			const kindOf = (read: () => Promise<unknown>) => async () =>
				read().then(
					() => 'read',
					(error: unknown) => isFailure(error) && error.kind,
				);
			if (entrySync !== undefined) await becomes(kindOf(rows), 'unavailable');
			await becomes(kindOf(withStats), 'unavailable');
		});
	}
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

test.serial(
	'names that no path can have, and that become the same, get free ones without a look at all that others got',
	async (t) => {
		const { storage, root } = await localStorage(t);
		if (!hasInspection(storage)) return t.fail();
		const count = 600;
		const end = `${'x'.repeat(249)}.txt`;
		for (let n = 0; n < count; n++)
			writeFileSync(join(root, `${String.fromCharCode(1 + (n % 31), 1 + Math.floor(n / 31))}${end}`), '');
		const free = new Set<string>();
		const ms = await usualMs(async () => {
			for await (const { unusable } of storage.findUnusable(p('')))
				for (const { reason } of unusable) if (reason.kind === 'name') free.add(reason.freeName ?? '');
		});
		t.is(free.size, count);
		t.true(free.has(`__${end}`));
		// To try for each all that others have got takes a second.
		t.true(ms < 500, `${ms} ms`);
	},
);
