import test from 'ava';
import fc from 'fast-check';
import { usualMs } from '../../../../test/processorTime.js';
import {
	archiveNamer,
	type Chosen,
	foldedName,
	isFailure,
	parsePath,
	utf8Length,
	zipFileName,
} from '../../src/index.js';

const noon = new Date(2026, 2, 5, 12);
const file = (path: string): Chosen => ({ path: parsePath(path), type: 'file' });
const folder = (path: string): Chosen => ({ path: parsePath(path), type: 'directory' });

const archiveNames = (chosen: Chosen[]) => chosen.map(archiveNamer());

const named = test.macro((t, chosen: Chosen[], name: string) => t.is(zipFileName(chosen, noon), name));
test('an archive of one folder is named after the folder', named, [folder('work/docs')], 'docs_2026-03-05.zip');
test("an archive keeps the dots of its folder's name", named, [folder('photos.2024')], 'photos.2024_2026-03-05.zip');
test('an archive of one file is not named after the file', named, [file('a.txt')], 'files_2026-03-05.zip');
test('an archive of two folders is not named after either', named, [folder('a'), folder('b')], 'files_2026-03-05.zip');

test("the date in an archive's name is local, also close to midnight", (t) => {
	t.is(zipFileName([], new Date(2026, 11, 31, 0, 0, 1)), 'files_2026-12-31.zip');
	t.is(zipFileName([], new Date(2026, 11, 31, 23, 59, 59)), 'files_2026-12-31.zip');
});

test('the name of an archive of a folder with a long name has at most 255 bytes', (t) => {
	const name = zipFileName([folder('漢'.repeat(85))], noon);
	t.true(utf8Length(name) <= 255);
	t.true(name.endsWith('漢_2026-03-05.zip'));
});

test('selected items are at the top of an archive, without their folders', (t) => {
	t.deepEqual(archiveNames([file('docs/a.txt'), folder('work/docs')]), ['a.txt', 'docs']);
});

test('no name in an archive begins with the letter of a drive', (t) => {
	const chosen = [
		folder('docs/C:'),
		file('d:evil.exe'),
		file('C_'),
		folder('c:'),
		file('a:b:c'),
		file('ab:c'),
		file('1:c'),
	];
	t.deepEqual(archiveNames(chosen), ['C_', 'd_evil.exe', 'C_ (1)', 'c_ (2)', 'a_b:c', 'ab:c', '1:c']);
});

test('items of equal names get numbers in an archive', (t) => {
	t.deepEqual(archiveNames([file('a/x.txt'), file('b/x.txt'), file('c/x.txt')]), ['x.txt', 'x (1).txt', 'x (2).txt']);
	t.deepEqual(archiveNames([folder('a/v1.2'), folder('b/v1.2')]), ['v1.2', 'v1.2 (1)']);
});

test('more items of equal names than there are candidate names are refused', (t) => {
	const twins = Array.from({ length: 1002 }, (_, index) => file(`${index}/a`));
	t.is(new Set(archiveNames(twins.slice(1))).size, 1001);
	// Not a conflict, which would be tried again as if a file had changed.
	t.true(
		isFailure(
			t.throws(() => archiveNames(twins)),
			'tooLarge',
		),
	);
});

test('items that a disk could take for the same have names of their own in an archive', (t) => {
	const ofCase = [file('a/Photo.jpg'), file('b/photo.jpg'), file('c/PHOTO.JPG'), file('d/photo (1).jpg')];
	t.deepEqual(archiveNames(ofCase), ['Photo.jpg', 'photo (1).jpg', 'PHOTO (2).JPG', 'photo (1) (1).jpg']);
	const composed = 'caf\u00e9.txt';
	t.deepEqual(archiveNames([file(`a/${composed}`), file(`b/${composed.normalize('NFD')}`)]), [
		composed,
		'cafe\u0301 (1).txt',
	]);
	t.deepEqual(archiveNames([folder('x/Notes'), folder('y/Notes.'), folder('z/notes..')]), [
		'Notes',
		'Notes. (1)',
		'notes.. (1)',
	]);
	const cases = Array.from({ length: 1001 }, (_, n) => file(`${n}/${n % 2 === 0 ? 'a' : 'A'}`));
	t.is(new Set(archiveNames(cases).map(foldedName)).size, 1001);
	t.throws(() => archiveNames([...cases, file('x/a')]));
});

test('long names that differ only at their ends are named in a time that grows with their number', async (t) => {
	const twins = (length: number, count: number) =>
		Array.from({ length: 2 * count }, (_, n) => {
			const end = String(Math.floor(n / 2)).padStart(4, '0');
			return file(`${n % 2}/${'x'.repeat(length - end.length)}${end}`);
		});
	const names = archiveNames(twins(255, 300));
	t.is(new Set(names.map(foldedName)).size, 600);
	t.is(names[1], `${'x'.repeat(251)} (1)`);
	t.is(names.at(-1), `${'x'.repeat(249)} (300)`);
	const ms = (length: number) => usualMs(() => archiveNames(twins(length, 300)));
	const [short, long] = [Math.min(await ms(200), await ms(200)), Math.min(await ms(255), await ms(255))];
	// 10 ms; to try for each all that others have got takes 200.
	t.true(long < 8 * short + 40, `${long} ms for names that are cut, ${short} ms for others`);
});

test('names in an archive are always distinct, also on a disk that ignores case', (t) => {
	const names = ['a', 'a (1)', 'a.txt', 'a (1).txt', 'A', 'A (1).TXT', 'a.'];
	const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 2 });
	const chosen = fc.record({
		path: path.map((segments) => parsePath(segments.join('/'))),
		type: fc.constantFrom('file' as const, 'directory' as const),
	});
	fc.assert(
		fc.property(fc.array(chosen), (items) => new Set(archiveNames(items).map(foldedName)).size === items.length),
	);
	t.pass();
});
