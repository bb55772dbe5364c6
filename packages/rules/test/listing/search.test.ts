import test from 'ava';
import fc from 'fast-check';
import { searchKind, searchMatcher, searchRanks } from '../../src/index.js';

const file = (name: string) => ({ name, type: 'file', size: 0, mtime: 0 }) as const;
const matchesSearch = (name: string, term: string) => searchMatcher({ term })(file(name)) !== undefined;

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

const ranked = test.macro((t, name: string, term: string, rank: (typeof searchRanks)[number]) => {
	t.is(searchRanks[searchMatcher({ term })(file(name)) ?? -1], rank);
});
test('a name that is the term is the best result', ranked, 'Photos', 'photos', 'equal');
test('a name that begins with the term comes next', ranked, 'photos 2026', 'Photos', 'beginning');
test('then one with a word that does', ranked, 'our_photos.zip', 'photo', 'word');
test('a later word counts too', ranked, 'telephoto of a photo', 'photo', 'word');
test('a letter with an accent is no end of a word', ranked, 'e\u0301photo', 'photo', 'inside');
test('a letter outside the first plane is no end of a word', ranked, '𝒜photo', 'photo', 'inside');
test('then one that contains it', ranked, 'telephoto.jpg', 'photo', 'inside');

test('a search is limited to kinds, sizes and times, bounds included', (t) => {
	const items = [
		{ name: 'a', type: 'directory', size: 0, mtime: 10 },
		{ name: 'a.jpg', type: 'file', size: 10, mtime: 20 },
		{ name: 'a.txt', type: 'file', size: 20, mtime: 30 },
		{ name: 'a.pdf', type: 'file', size: 30, mtime: 40 },
	] as const;
	const found = (filters: object) =>
		items.filter((item) => searchMatcher({ term: 'a', ...filters })(item) !== undefined).map(({ name }) => name);
	t.deepEqual(found({}), ['a', 'a.jpg', 'a.txt', 'a.pdf']);
	t.deepEqual(found({ kinds: ['folder', 'document'] }), ['a', 'a.pdf']);
	t.deepEqual(found({ minSize: 20 }), ['a.txt', 'a.pdf']);
	t.deepEqual(found({ maxSize: 20 }), ['a.jpg', 'a.txt'], 'a folder has no size');
	t.deepEqual(found({ after: 20, before: 30 }), ['a.jpg', 'a.txt']);
	t.deepEqual(found({ kinds: ['image'], minSize: 11 }), []);
});

test('what people read is a document, what editors show is a text, and the rest is other', (t) => {
	const kindOf = (name: string) => searchKind(file(name));
	t.deepEqual(['a.pdf', 'a.epub', 'a.xlsx', 'a.odp'].map(kindOf), Array(4).fill('document'));
	t.deepEqual(['a.md', 'a.ts', 'a.yaml', 'a.log', 'a.sh'].map(kindOf), Array(5).fill('text'));
	t.deepEqual(['a.exe', 'a.ttf', 'a', 'a.sqlite'].map(kindOf), Array(4).fill('other'));
});
