import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { ReusedBuffers } from '../src/reading/ReusedBuffers.js';
import { localStorage, p } from './steps.js';

const kilobyte = 1024;

test('a buffer is used again for as many bytes or a few less, until the most that are kept', (t) => {
	const buffers = new ReusedBuffers(512 * kilobyte);
	const [first, second, third] = [200, 256, 129].map((size) => buffers.take(size * kilobyte)) as [
		Buffer,
		Buffer,
		Buffer,
	];
	t.deepEqual(
		[first, second, third].map(({ length }) => length),
		[256, 256, 256].map((size) => size * kilobyte),
	);
	for (const buffer of [first, second, third]) buffers.give(buffer);
	const again = [1, 2, 3].map(() => buffers.take(256 * kilobyte));
	t.deepEqual(
		again.map((buffer) => [first, second].includes(buffer)),
		[true, true, false],
	);
	buffers.give(first);
	t.not(buffers.take(300 * kilobyte), first);
	t.not(buffers.take(64 * kilobyte), first);
});

test('of a read that was given up no later one gets the memory, which may still be on its way to a socket', async (t) => {
	const { storage, root } = await localStorage(t);
	const contents = [randomBytes(200 * kilobyte), randomBytes(200 * kilobyte)];
	for (const [n, content] of contents.entries()) await writeFile(join(root, `${n}`), content);
	const [one, other] = [await storage.open(p('0')), await storage.open(p('1'))];
	const reading = one.read()[Symbol.asyncIterator]();
	const chunk: Uint8Array = (await reading.next()).value;
	await reading.return?.();
	for (let n = 0; n < 3; n++) {
		for await (const all of other.read()) t.deepEqual(Buffer.from(all), contents[1]);
	}
	t.deepEqual(Buffer.from(chunk), contents[0]);
	await Promise.all([one.close(), other.close()]);
});

test('the chunks of a long file are small at first, and together all of it', async (t) => {
	const { storage, root } = await localStorage(t);
	const content = randomBytes(3_000_001);
	await writeFile(join(root, 'film'), content);
	const file = await storage.open(p('film'));
	const chunks: Buffer[] = [];
	for await (const chunk of file.read({ start: 1, end: 2_999_999 })) chunks.push(Buffer.from(chunk));
	t.is(chunks[0]?.length, 64 * kilobyte);
	t.true(chunks.length <= 6);
	t.deepEqual(Buffer.concat(chunks), content.subarray(1, 3_000_000));
	await file.close();
});
