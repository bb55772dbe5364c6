import test from 'ava';
import fc from 'fast-check';
import { archiveNamer, type Chosen, Failure, parsePath, utf8Length, zipFileName } from '../../src/index.js';

const noon = new Date(2026, 2, 5, 12);
const file = (path: string): Chosen => ({ path: parsePath(path), type: 'file' });
const folder = (path: string): Chosen => ({ path: parsePath(path), type: 'directory' });

const archiveNames = (chosen: Chosen[]) => chosen.map(archiveNamer());

const named = test.macro((t, chosen: Chosen[], name: string) => t.is(zipFileName(chosen, noon), name));
test('One folder names its archive', named, [folder('work/docs')], 'docs_2026-03-05.zip');
test('A folder keeps its dots', named, [folder('photos.2024')], 'photos.2024_2026-03-05.zip');
test('One file does not name the archive', named, [file('a.txt')], 'files_2026-03-05.zip');
test('Two folders do not name the archive', named, [folder('a'), folder('b')], 'files_2026-03-05.zip');

test('The date is the local one, just after midnight too', (t) => {
	t.is(zipFileName([], new Date(2026, 11, 31, 0, 0, 1)), 'files_2026-12-31.zip');
	t.is(zipFileName([], new Date(2026, 11, 31, 23, 59, 59)), 'files_2026-12-31.zip');
});

test('The archive of a folder with a long name can be saved', (t) => {
	const name = zipFileName([folder('漢'.repeat(85))], noon);
	t.true(utf8Length(name) <= 255);
	t.true(name.endsWith('漢_2026-03-05.zip'));
});

test('Chosen items lie at the top, wherever they come from', (t) => {
	t.deepEqual(archiveNames([file('docs/a.txt'), folder('work/docs')]), ['a.txt', 'docs']);
});

test('Twins get numbers', (t) => {
	t.deepEqual(archiveNames([file('a/x.txt'), file('b/x.txt'), file('c/x.txt')]), ['x.txt', 'x (1).txt', 'x (2).txt']);
	t.deepEqual(archiveNames([folder('a/v1.2'), folder('b/v1.2')]), ['v1.2', 'v1.2 (1)']);
});

test('More twins than names are refused', (t) => {
	const twins = Array.from({ length: 1002 }, (_, index) => file(`${index}/a`));
	t.is(new Set(archiveNames(twins.slice(1))).size, 1001);
	t.throws(() => archiveNames(twins), { instanceOf: Failure });
});

test('Names in an archive are always distinct', (t) => {
	const path = fc.array(fc.constantFrom('a', 'a (1)', 'a.txt', 'a (1).txt'), { minLength: 1, maxLength: 2 });
	const chosen = fc.record({
		path: path.map((segments) => parsePath(segments.join('/'))),
		type: fc.constantFrom('file' as const, 'directory' as const),
	});
	fc.assert(fc.property(fc.array(chosen), (items) => new Set(archiveNames(items)).size === items.length));
	t.pass();
});
