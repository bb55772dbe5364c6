import test from 'ava';
import fc from 'fast-check';
import { matchesSearch } from '../../src/index.js';

const found = test.macro((t, name: string, term: string, isFound: boolean) => t.is(matchesSearch(name, term), isFound));
test('a term is found anywhere in a name', found, 'report-2026.pdf', '2026', true);
test('a term is found in any case', found, 'Report.PDF', 'rEpOrT.p', true);
test('the empty term matches every name', found, 'a', '', true);
test('a term that a name does not contain is not found', found, 'report', 'retort', false);
test('a dot matches only a dot', found, 'abc', 'a.c', false);
test('an asterisk matches only an asterisk', found, 'abc', 'a*', false);
test('a percent sign and an underscore match only themselves', found, 'abc', '%_', false);
test('a backslash and brackets match themselves', found, 'a[1]\\(x)', '[1]\\(', true);
test('a term without accents does not match a name with accents', found, 'résumé', 'resume', false);
test('accented letters are found in any case', found, 'ÉTÉ', 'été', true);
test('a sharp s is found as SS', found, 'straße', 'STRASSE', true);
test('a sigma at the end of a word is found as a capital sigma', found, 'οδός', 'ΟΔΌΣ', true);

test('any part of a name is found, in upper and in lower case', (t) => {
	const text = fc.string({ unit: 'grapheme' });
	fc.assert(
		fc.property(text, text, text, (before, term, after) => {
			const name = before + term + after;
			return [term, term.toUpperCase(), term.toLowerCase()].every((each) => matchesSearch(name, each));
		}),
	);
	t.pass();
});
