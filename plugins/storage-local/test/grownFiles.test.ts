import { appendFile, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { coldCalls } from './coldCalls.js';
import { best, localStorage, p } from './steps.js';

const megabyte = 1024 * 1024;

/** Reads a file of 8 MB and changes it while its last chunk is consumed; resolves to whether it counts as changed. */
const whileLast = test.macro(
	async (
		t: ExecutionContext,
		calls: typeof best,
		range: { start: number; end: number },
		change: (file: string) => Promise<void>,
		expected: boolean,
	) => {
		const { storage, root } = await localStorage(t, { calls });
		const path = join(root, 'a');
		await writeFile(path, Buffer.alloc(8 * megabyte, 'A'));
		const file = await storage.open(p('a'));
		t.teardown(() => file.close());
		let left = range.end - range.start + 1;
		for await (const { length } of file.read(range)) {
			left -= length;
			if (left > 0) continue;
			t.false(await file.isChanged({ mayGrow: true }));
			await change(path);
			t.true(await file.isChanged());
			t.is(await file.isChanged({ mayGrow: true }), expected);
		}
		t.is(left, 0);
	},
);

async function writeAt(path: string, text: string, position: number): Promise<void> {
	const file = await open(path, 'r+');
	await file.write(Buffer.from(text), 0, text.length, position);
	await file.close();
	await appendFile(path, 'more');
}

const ranges = {
	'all of it': { start: 0, end: 8 * megabyte - 1 },
	'a long part': { start: 1000, end: 5 * megabyte },
	'a short part': { start: 2000, end: 2009 },
};

for (const [where, calls] of [
	['in memory', best],
	['on the disk', coldCalls(best)],
] as const) {
	for (const [what, range] of Object.entries(ranges)) {
		const title = (how: string) => `${where}: ${what} of a file was read that ${how}`;
		test(title('only grows'), whileLast, calls, range, (path) => appendFile(path, 'more'), false);
		const anew = (path: string) => writeFile(path, Buffer.alloc(9 * megabyte, 'B'));
		test(title('is written anew and longer'), whileLast, calls, range, anew, true);
		const first = (path: string) => writeAt(path, 'B', range.start + 5);
		test(title('grows and begins with something else'), whileLast, calls, range, first, true);
		const last = (path: string) => writeAt(path, 'B', range.end);
		test(title('grows and ends where it was with something else'), whileLast, calls, range, last, true);
	}
}

test('of several parts all are asked for again', async (t) => {
	const { storage, root } = await localStorage(t);
	const path = join(root, 'a');
	await writeFile(path, Buffer.alloc(megabyte, 'A'));
	const file = await storage.open(p('a'));
	t.teardown(() => file.close());
	for await (const _ of file.read({ start: 100, end: 199 }));
	await writeAt(path, 'B', 150);
	for await (const _ of file.read({ start: 500, end: 599 })) t.true(await file.isChanged({ mayGrow: true }));
});
