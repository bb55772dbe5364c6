import type { StoragePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { stepInRow } from '../src/features/toolbar/stepInRow.js';
import { stepsTo } from '../src/features/toolbar/stepsTo.js';

const movesTo = (t: ExecutionContext, key: string, from: number, expected: number | undefined) =>
	t.is(stepInRow(key, from, 28), expected);

test('the right arrow key leads to the next letter of the filter', movesTo, 'ArrowRight', 3, 4);
test('the right arrow key leads from the last letter of the filter to the first', movesTo, 'ArrowRight', 27, 0);
test('the left arrow key leads from the first letter of the filter to the last', movesTo, 'ArrowLeft', 0, 27);
test('Home leads to the first letter of the filter', movesTo, 'Home', 9, 0);
test('End leads to the last letter of the filter', movesTo, 'End', 9, 27);
test('other keys do not move the focus in the letter filter', movesTo, 'ArrowDown', 9, undefined);

const folders = (count: number, name = 'folder') => Array.from({ length: count }, (_, index) => `${name}${index + 1}`);
const stepsOf = (names: readonly string[]) => stepsTo(names.join('/') as StoragePath);
const within = (names: readonly string[], levels: number) => names.slice(0, levels).join('/') as StoragePath;

test('the breadcrumbs lead to each folder of a path', (t) => {
	for (const names of [[], ['a'], ['a', 'b', 'c'], folders(50)]) {
		t.deepEqual(
			stepsOf(names),
			['Home', ...names].map((name, level) => ({ name, path: within(names, level) })),
		);
	}
});

test('of a path with hundreds of folders the breadcrumbs have its beginning and its end', (t) => {
	const names = folders(1000, 'a'.repeat(60));
	const [first = ''] = names;
	t.deepEqual(stepsOf(names), [
		{ name: 'Home', path: within(names, 0) },
		{ name: first, path: within(names, 1) },
		{ name: '…', path: within(names, 990) },
		...names.slice(990).map((name, index) => ({ name, path: within(names, 991 + index) })),
	]);
});
