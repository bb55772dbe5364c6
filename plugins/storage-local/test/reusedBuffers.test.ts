import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { ReusedBuffers } from '../src/reading/ReusedBuffers.js';
import { coldCalls } from './coldCalls.js';
import { best, localStorage, p } from './steps.js';

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

test.serial(
	'memory of a read that was given up may still be on its way to a socket, and no later one gets it',
	async (t) => {
		const { storage, root } = await localStorage(t);
		const contents = [randomBytes(200 * kilobyte), randomBytes(200 * kilobyte)];
		for (const [n, content] of contents.entries()) await writeFile(join(root, `${n}`), content);
		const [one, other] = [await storage.open(p('0')), await storage.open(p('1'))];
		const reading = one.read()[Symbol.asyncIterator]();
		const chunk: Uint8Array = (await reading.next()).value;
		await reading.return?.();
		for (let n = 0; n < 3; n++) {
			for await (const all of other.read()) t.true(contents[1]?.equals(all));
		}
		t.true(contents[0]?.equals(chunk));
		await Promise.all([one.close(), other.close()]);
	},
);

for (const [where, calls, sizes] of [
	['in memory', best, Array(8).fill(256)],
	['on the disk', coldCalls(best), [1024, 1024, 1024, 1024, 256, 256, 256, 256]],
] as const) {
	test.serial(
		`of many files that are read at once, ${where}, few come in large chunks, and each one whole`,
		async (t) => {
			const { storage, root } = await localStorage(t, { calls });
			const contents = Array.from({ length: 8 }, (_, n) => Buffer.alloc(3_000_000 + n, randomBytes(1_000 + n)));
			for (const [n, content] of contents.entries()) await writeFile(join(root, `${n}`), content);
			const files = await Promise.all(contents.map((_, n) => storage.open(p(`${n}`))));
			const read = await Promise.all(
				files.map(async (file) => {
					const chunks: Buffer[] = [];
					for await (const chunk of file.read()) {
						// Others read meanwhile, and must not write into this chunk.
						await setImmediate();
						chunks.push(Buffer.from(chunk));
					}
					return chunks;
				}),
			);
			for (const [n, chunks] of read.entries()) t.true(Buffer.concat(chunks).equals(contents[n] as Buffer), `${n}`);
			const largest = read.map((chunks) => Math.max(...chunks.map(({ length }) => length)) / kilobyte);
			t.deepEqual(largest, sizes);
			await Promise.all(files.map((file) => file.close()));
		},
	);
}

test.serial('the next chunk is read ahead only where that takes another thread', async (t) => {
	for (const isCold of [true, false]) {
		const begun: number[] = [];
		const calls = isCold ? coldCalls(best) : best;
		const { storage, root } = await localStorage(t, {
			calls: {
				...calls,
				readCached(fd, buffer, position) {
					begun.push(position);
					return calls.readCached(fd, buffer, position);
				},
			},
		});
		await writeFile(join(root, 'film'), randomBytes(2_000_000));
		const files = await Promise.all(Array.from({ length: 5 }, () => storage.open(p('film'))));
		// Those before the last one take the places for large chunks.
		const readers = files.map((file) => file.read()[Symbol.asyncIterator]());
		for (const reader of readers.slice(0, -1)) await reader.next();
		begun.length = 0;
		let received = 0;
		for (let n = 0; n < 4; n++) received += (await readers.at(-1)?.next())?.value?.length ?? 0;
		t.is(received, (64 + 128 + 256 + 256) * kilobyte);
		t.is(begun.at(-1), isCold ? received : received - 256 * kilobyte);
		for (const reader of readers) await reader.return?.(undefined);
		await Promise.all(files.map((file) => file.close()));
	}
});

test.serial(
	'the chunks of a long file are small at first, large where they come from the disk, and together all of it',
	async (t) => {
		const megabyte = 1024 * kilobyte;
		// The beginning is in memory, or the rest, or all, or nothing.
		for (const [isInMemory, sizes] of [
			[(at: number) => at < megabyte, [64, 128, 256, 256, 256, 256, 256, 512]],
			[(at: number) => at >= 64 * kilobyte, [64, 128, 256, 512, 1024]],
			[() => true, [64, 128, 256, 256, 256, 256, 256, 256]],
			[() => false, [64, 128, 256, 512, 1024]],
		] as const) {
			const { storage, root } = await localStorage(t, {
				calls: {
					...best,
					readCached: (fd, buffer, at) => (isInMemory(at) ? best.readCached(fd, buffer, at) : 0),
				},
			});
			const content = randomBytes(3_000_001);
			await writeFile(join(root, 'film'), content);
			const file = await storage.open(p('film'));
			const chunks: Buffer[] = [];
			for await (const chunk of file.read({ start: 1, end: 2_999_999 })) chunks.push(Buffer.from(chunk));
			t.deepEqual(
				chunks.slice(0, sizes.length).map(({ length }) => length / kilobyte),
				[...sizes],
			);
			t.true(Buffer.concat(chunks).equals(content.subarray(1, 3_000_000)));
			await file.close();
		}
	},
);

test('a large file that the kernel has in memory is read without holding up timers and other requests', async (t) => {
	const { storage, root } = await localStorage(t);
	await writeFile(join(root, 'large'), Buffer.alloc(64 * 1024 * kilobyte, 1));
	const file = await storage.open(p('large'));
	t.teardown(() => file.close());
	let rounds = 0;
	let isRead = false;
	const counted = (async () => {
		while (!isRead) {
			await setImmediate();
			rounds++;
		}
	})();
	let bytes = 0;
	for await (const chunk of file.read()) bytes += chunk.length;
	isRead = true;
	await counted;
	t.is(bytes, 64 * 1024 * kilobyte);
	t.true(rounds >= 8, `${rounds} rounds of the event loop`);
});
