import test from 'ava';
import { type LetterFilter, letterFilters, matchesLetter } from '../../src/index.js';

test('The filter has ALL, # and the letters', (t) => {
	t.is(letterFilters.length, 28);
	t.is(letterFilters.join(''), 'ALL#ABCDEFGHIJKLMNOPQRSTUVWXYZ');
});

const filtered = test.macro((t, name: string, ...filters: LetterFilter[]) =>
	t.deepEqual(
		letterFilters.filter((filter) => matchesLetter(name, filter)),
		['ALL', ...filters],
	),
);
test('A name is under its first letter', filtered, 'Anna.txt', 'A');
test('Case does not count', filtered, 'zebra', 'Z');
test('A composed accent does not count', filtered, 'École', 'E');
test('A decomposed accent does not count', filtered, 'E\u0301cole', 'E');
test('A digit is under #', filtered, '7.txt', '#');
test('A digit of another script is under #', filtered, '٣.txt', '#');
test('A dot file is under ALL only', filtered, '.env');
test('A name in another alphabet is under ALL only', filtered, 'Фото');
test('An emoji is under ALL only', filtered, '😀');
test('The empty name is under ALL only', filtered, '');
