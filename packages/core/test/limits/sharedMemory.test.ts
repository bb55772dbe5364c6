import { SharedMemory } from '@stowage/plugin-api';
import test from 'ava';

const total = 32_000;
const limits = { least: 100, most: 3200 };
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

test('any number of concurrent transfers holds little more than the memory they share', (t) => {
	const memory = new SharedMemory(total, limits);
	const lent = Array.from({ length: 1000 }, () => memory.lend().bytes);
	t.deepEqual(lent.slice(0, 4), Array(4).fill(limits.most), 'the first transfers get the most that one can use');
	t.is(Math.min(...lent), limits.least);
	t.true(sum(lent) <= total + lent.length * limits.least, `${sum(lent)} bytes are lent`);
});

test('released memory is lent again, and a second release has no effect', (t) => {
	const memory = new SharedMemory(total, limits);
	const all = () => Array.from({ length: 100 }, () => memory.lend());
	const first = all();
	t.is(first.at(-1)?.bytes, limits.least);
	for (const { giveBack } of [...first, ...first]) giveBack();
	t.deepEqual(
		all().map(({ bytes }) => bytes),
		first.map(({ bytes }) => bytes),
	);
});

test('a transfer that needs less than the least share is lent only that', (t) => {
	t.is(new SharedMemory(total, limits).lend(7).bytes, 7);
});
