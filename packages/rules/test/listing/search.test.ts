import test from 'ava';
import fc from 'fast-check';
import { matchesSearch } from '../../src/index.js';

const found = test.macro((t, name: string, term: string, isFound: boolean) => t.is(matchesSearch(name, term), isFound));
test('A term is found anywhere in a name', found, 'report-2026.pdf', '2026', true);
test('A term is found in any case', found, 'Report.PDF', 'rEpOrT.p', true);
test('The empty term is in every name', found, 'a', '', true);
test('A term that is not there is not found', found, 'report', 'retort', false);
test('A dot is a dot', found, 'abc', 'a.c', false);
test('An asterisk is an asterisk', found, 'abc', 'a*', false);
test('A percent sign and an underscore are themselves', found, 'abc', '%_', false);
test('A backslash and brackets are themselves', found, 'a[1]\\(x)', '[1]\\(', true);
test('Accents count', found, 'résumé', 'resume', false);
test('Accented letters are found in any case', found, 'ÉTÉ', 'été', true);
test('A sharp s is found as SS', found, 'straße', 'STRASSE', true);
test('A sigma is found at the end of a word', found, 'οδός', 'ΟΔΌΣ', true);

test('Any part of a name is found, in upper and in lower case', (t) => {
	const text = fc.string({ unit: 'grapheme' });
	fc.assert(
		fc.property(text, text, text, (before, term, after) => {
			const name = before + term + after;
			return [term, term.toUpperCase(), term.toLowerCase()].every((each) => matchesSearch(name, each));
		}),
	);
	t.pass();
});
