import test from 'ava';
import { type LetterFilter, letterFilters, matchesLetter } from '../../src/index.js';

test('the letter filters are ALL, # and A to Z', (t) => {
	t.is(letterFilters.length, 28);
	t.is(letterFilters.join(''), 'ALL#ABCDEFGHIJKLMNOPQRSTUVWXYZ');
});

const filtered = test.macro((t, name: string, ...filters: LetterFilter[]) =>
	t.deepEqual(
		letterFilters.filter((filter) => matchesLetter(name, filter)),
		['ALL', ...filters],
	),
);
test('a name is under its first letter', filtered, 'Anna.txt', 'A');
test('a name in lower case is under its capital letter', filtered, 'zebra', 'Z');
test('a name with a composed accent is under the plain letter', filtered, 'École', 'E');
test('a name with a decomposed accent is under the plain letter', filtered, 'E\u0301cole', 'E');
test('a digit is under #', filtered, '7.txt', '#');
test('a digit of another script is under #', filtered, '٣.txt', '#');
test('a dot file is under ALL only', filtered, '.env');
test('a name in another alphabet is under ALL only', filtered, 'Фото');
test('an emoji is under ALL only', filtered, '😀');
test('an empty name is under ALL only', filtered, '');
