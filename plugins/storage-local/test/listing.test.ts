import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasSurvey } from '@stowage/plugin-api';
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

for (const [way, calls] of Object.entries({ 'at best': undefined, 'by Node alone': nodeCalls })) {
	test(`names that no path can hold are not listed but go with their folder (${way})`, async (t) => {
		const { storage, root } = await localStorage(t, calls ? { calls } : {});
		mkdirSync(join(root, 'folder/inner'), { recursive: true });
		// The name that the broken one would be mistaken for stands beside it and is listed.
		for (const folder of ['folder', 'folder/inner']) {
			writeFileSync(join(root, folder, 'f\ufffdf'), 'a true name');
			for (const name of unaddressable) writeFileSync(Buffer.concat([Buffer.from(`${root}/${folder}/`), name]), 'x');
		}
		mkdirSync(Buffer.concat([Buffer.from(`${root}/folder/`), Buffer.from([0xfe]), Buffer.from('folder')]));
		t.deepEqual(await names(storage, 'folder'), ['f\ufffdf', 'inner']);
		t.is(await storage.count(p('folder')), 2);
		t.is(await storage.count(p('folder/inner')), 1);
		if (!hasSurvey(storage)) throw new Error('A local storage surveys.');
		for await (const { items, leftOut } of storage.survey(p('folder/inner'))) {
			t.is(items.length, 1);
			t.is(leftOut, unaddressable.length);
		}

		await storage.copy(p('folder'), p('copy'));
		await storage.move(p('folder'), p('moved'));
		const expected = tree(join(root, 'moved'));
		t.is(expected.length, 2 * unaddressable.length + 4);
		t.deepEqual(tree(join(root, 'copy')), expected);
		for (const gone of ['copy', 'moved']) await storage.remove(p(gone));
		await eventually(t, () => readdirSync(join(root, '.stowage/trash-in-progress')).length === 0);
		t.deepEqual(await names(storage, ''), []);
	});

	test(`what comes and goes while a folder is listed does no harm (${way})`, async (t) => {
		const { storage, root } = await localStorage(t, calls ? { calls } : {});
		mkdirSync(join(root, 'busy'));
		for (let n = 0; n < 500; n++) writeFileSync(join(root, 'busy', `stays ${n}`), '');
		let isOver = false;
		const churning = (async () => {
			for (let n = 0; !isOver; n = (n + 1) % 200) {
				writeFileSync(join(root, 'busy', `comes ${n}`), '');
				renameSync(join(root, 'busy', `comes ${n}`), join(root, 'busy', `goes ${n}`));
				rmSync(join(root, 'busy', `goes ${n}`));
				if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
			}
		})();
		for (let n = 0; n < 10; n++) {
			const staying = (await names(storage, 'busy')).filter((name) => name.startsWith('stays'));
			t.is(new Set(staying).size, 500);
		}
		isOver = true;
		await churning;
	});

	test(`a folder of 5,000 comes in batches, the first one soon, and blocks nobody (${way})`, async (t) => {
		const { storage, root } = await localStorage(t, calls ? { calls } : {});
		mkdirSync(join(root, 'large'));
		for (let n = 0; n < 5000; n++) writeFileSync(join(root, 'large', `file number ${n}`), '');
		let turns = 0;
		let isOver = false;
		const turning = (async () => {
			for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve));
		})();
		const sizes: number[] = [];
		for await (const batch of storage.list(p('large'))) sizes.push(batch.length);
		isOver = true;
		await turning;
		t.is(
			sizes.reduce((sum, size) => sum + size, 0),
			5000,
		);
		t.true((sizes[0] ?? 0) <= 1000);
		t.true(Math.max(...sizes) <= 5000);
		t.true(turns > sizes.length / 2, `${turns} turns in ${sizes.length} batches`);
		t.is(await storage.count(p('large')), 5000);
	});
}

/** All names below a folder, as bytes. */
function tree(folder: string): string[] {
	const found = execFileSync('find', ['.', '-printf', '%P\\0'], { cwd: folder, encoding: 'latin1' });
	return found.split('\0').sort().slice(2);
}

test('each row is listed once, however often a look at one is slow', async (t) => {
	const calls = await loadSystemCalls();
	for (const slowEach of [1, 7, 100]) {
		let looks = 0;
		const { entryNow } = calls;
		const slow = {
			...calls,
			...(entryNow && {
				entryNow: (fd: number, name: string) => {
					const until = performance.now() + (++looks % slowEach === 0 ? 2 : 0);
					while (performance.now() < until);
					return entryNow(fd, name);
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

test('a disk that stays slow is asked in the background more and more, a thread that was held up is not', (t) => {
	const disk = new AdaptiveBatch();
	const stretches = Array.from({ length: 5 }, () => disk.afterSlowStat(1));
	t.true(stretches.reduce((sum, each) => sum + each, 0) > 10_000, stretches.join(' '));
	const thread = new AdaptiveBatch();
	for (let n = 0; n < 10; n++) t.true(thread.afterSlowStat(1000) < 100);
});
