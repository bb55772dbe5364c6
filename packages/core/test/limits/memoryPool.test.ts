import { MemoryPool } from '@stowage/plugin-api';
import test from 'ava';

const total = 32_000;
const limits = { min: 100, max: 3200 };
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

test('any number of concurrent transfers holds little more than the memory they share', (t) => {
	const memory = new MemoryPool(total, limits);
	const lent = Array.from({ length: 1000 }, () => memory.allocate().bytes);
	t.deepEqual(lent.slice(0, 4), Array(4).fill(limits.max), 'the first transfers get the most that one can use');
	t.is(Math.min(...lent), limits.min);
	t.true(sum(lent) <= total + lent.length * limits.min, `${sum(lent)} bytes are lent`);
});

test('released memory is lent again, and a second release has no effect', (t) => {
	const memory = new MemoryPool(total, limits);
	const all = () => Array.from({ length: 100 }, () => memory.allocate());
	const first = all();
	t.is(first.at(-1)?.bytes, limits.min);
	for (const { release } of [...first, ...first]) release();
	t.deepEqual(
		all().map(({ bytes }) => bytes),
		first.map(({ bytes }) => bytes),
	);
});

test('a transfer that needs less than the least share is lent only that', (t) => {
	t.is(new MemoryPool(total, limits).allocate(7).bytes, 7);
});
