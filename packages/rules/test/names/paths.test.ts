import test from 'ava';
import fc from 'fast-check';
import { processorMs } from '../../../../test/processorTime.js';
import {
	baseName,
	encodePath,
	Failure,
	isFailure,
	isPathSegment,
	isWithin,
	joinChecked,
	joinPath,
	listedNames,
	maxListedDepth,
	parentPath,
	parsePath,
	pathDepth,
	pathSegments,
	pathsTo,
	relativePath,
	rootPath,
	type StoragePath,
	utf8Length,
} from '../../src/index.js';

const accepted = test.macro((t, text: string) => t.is<string, string>(parsePath(text), text));
test('the empty path is the root', accepted, '');
test('a path has segments joined by slashes', accepted, 'docs/2026/a.txt');
test('a path keeps spaces at the edges of its segments', accepted, ' docs / a ');
test('a path keeps characters that a new name may not have', accepted, 'what?.txt/a:b*<>|"');
test('a path keeps dots that are part of a name', accepted, '.../..a/.env/a.');
test('a path keeps composed and decomposed letters apart', accepted, 'e\u0301/\u00E9');
test('a path keeps emoji and right-to-left text', accepted, '😀/שלום');
test('a segment may have 255 bytes', accepted, `${'é'.repeat(127)}a`);
test('a path may be a thousand folders deep', accepted, Array(1000).fill('folder').join('/'));

const refused = test.macro((t, text: string) => {
	const error = t.throws(() => parsePath(text), { instanceOf: Failure });
	t.is(error?.kind, 'invalidPath');
});
test('a leading slash in a path is refused', refused, '/a');
test('a trailing slash in a path is refused', refused, 'a/');
test('a single slash as a path is refused', refused, '/');
test('an empty segment in a path is refused', refused, 'a//b');
test('a dot segment in a path is refused', refused, 'a/./b');
test('a parent segment in a path is refused', refused, 'a/../b');
test('a parent segment at the end of a path is refused', refused, 'a/..');
test('a backslash in a path is refused', refused, 'a\\..\\b');
test('a NUL in a path is refused', refused, 'a\0b');
test('a line feed in a path is refused', refused, 'a\nb');
test('a C1 control character in a path is refused', refused, 'a\u0085b');
test('a lone surrogate in a path is refused', refused, 'a\uD800b');
test('a path segment of 256 bytes is refused', refused, 'é'.repeat(128));
test('a path of more than 64 KiB is refused', refused, Array(600).fill('漢'.repeat(40)).join('/'));

const hostileText = fc
	.array(fc.oneof(fc.constantFrom('/', '\\', '.', '..', '\0', '\u007F', '\uD800', ' '), fc.string({ unit: 'binary' })))
	.map((parts) => parts.join(''));

test('parsePath refuses any text or returns a path of valid segments', (t) => {
	fc.assert(
		fc.property(hostileText, (text) => {
			let path: StoragePath;
			try {
				path = parsePath(text);
			} catch (error) {
				return isFailure(error, 'invalidPath');
			}
			return (
				path === text &&
				pathSegments(path).every((segment) => isPathSegment(segment) && segment !== '..' && utf8Length(segment) <= 255)
			);
		}),
	);
	t.pass();
});

const segment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter(isPathSegment);
const path = fc.array(segment, { maxLength: 6 }).map((segments) => parsePath(segments.join('/')));

test('a joined path has the folder as its parent and the name as its base name', (t) => {
	fc.assert(
		fc.property(path, segment, (folder, name) => {
			const joined = joinPath(folder, name);
			return parentPath(joined) === folder && baseName(joined) === name && relativePath(joined, folder) === name;
		}),
	);
	t.pass();
});

test('the root is its own parent and has no name', (t) => {
	t.is(parentPath(rootPath), rootPath);
	t.is(baseName(rootPath), '');
	t.deepEqual(pathSegments(rootPath), []);
	t.is(pathDepth(rootPath), 0);
});

test('joinPath parses the path that it appends', (t) => {
	t.is<string, string>(joinPath(rootPath, 'a', 'b/c'), 'a/b/c');
	t.throws(() => joinPath(parsePath('a'), '..'), { instanceOf: Failure });
	t.throws(() => joinPath(parsePath('a'), '/b'), { instanceOf: Failure });
});

test('a path is within itself and its ancestors, but not within a path whose name it begins with', (t) => {
	t.true(isWithin(parsePath('report'), parsePath('report')));
	t.true(isWithin(parsePath('report/a/b'), parsePath('report')));
	t.true(isWithin(parsePath('report'), rootPath));
	t.false(isWithin(parsePath('report2'), parsePath('report')));
	t.false(isWithin(rootPath, parsePath('report')));
});

test('relativePath refuses a path outside the folder', (t) => {
	t.is<string, string>(relativePath(parsePath('a/b/c'), parsePath('a')), 'b/c');
	t.is<string, string>(relativePath(parsePath('a'), parsePath('a')), '');
	t.throws(() => relativePath(parsePath('ab'), parsePath('a')), { instanceOf: Failure });
});

test('a path has a bound on its levels, and folders list nothing that would be above it', (t) => {
	const levels = (count: number) => Array(count).fill('d').join('/');
	t.is<string, string>(parsePath(levels(maxListedDepth)), levels(maxListedDepth));
	t.throws(() => parsePath(levels(maxListedDepth + 25)), { instanceOf: Failure });
	t.true(listedNames(parsePath(levels(maxListedDepth - 1)))('d'));
	t.false(listedNames(parsePath(levels(maxListedDepth)))('d'));
	const long = parsePath(Array(244).fill('n'.repeat(250)).join('/'));
	t.true(listedNames(long)('short'));
	t.false(listedNames(long)('é'.repeat(100)));
});

test('a path in a URL has each segment encoded once, and its slashes', (t) => {
	t.is(encodePath('ä/$& 100%'), '%C3%A4/%24%26%20100%25');
});

test('the paths to an item are those of the folders that it lies in, and its own', (t) => {
	t.deepEqual(pathsTo(parsePath('a/b c/d')).map(String), ['a', 'a/b c', 'a/b c/d']);
	t.deepEqual(pathsTo(parsePath('a')).map(String), ['a']);
	t.deepEqual(pathsTo(rootPath), []);
});

test('a joined path is refused where its parts are too deep or too long together', (t) => {
	const levels = (count: number, name = 'd') => parsePath(Array(count).fill(name).join('/'));
	for (const join of [joinPath, joinChecked]) {
		t.is(pathDepth(join(levels(1000), levels(24))), 1024);
		t.throws(() => void join(levels(1000), levels(25)), { instanceOf: Failure });
		t.is(join(levels(250, 'n'.repeat(255)), levels(1, 'm'.repeat(255))).length, 251 * 256 - 1);
		t.throws(() => void join(levels(250, 'n'.repeat(255)), levels(7, 'é'.repeat(127))), { instanceOf: Failure });
		t.is<string, string>(join(rootPath, parsePath('a')), 'a');
		t.is<string, string>(join(parsePath('a'), rootPath), 'a');
	}
});

test('a name is joined to the deepest folder in a small part of the time that its path takes to be parsed', async (t) => {
	const deepest = Array(1000).fill('a'.repeat(60)).join('/');
	const folder = parsePath(deepest);
	const parsing = await processorMs(() => Array.from({ length: 20 }, () => parsePath(deepest)));
	const joining = await processorMs(() => Array.from({ length: 100 }, (_, n) => joinPath(folder, `${n}`)));
	t.true(joining < parsing, `${joining} ms for 100 names, ${parsing} ms for 20 paths`);
});

test('a path is found to lie in the deepest folder in a part of the time that the text for that folder would take to be compared', async (t) => {
	const folder = parsePath(Array(1000).fill('a'.repeat(60)).join('/'));
	// As whole texts, which those of a database are.
	const paths = Array.from({ length: 1000 }, (_, n) => parsePath(Buffer.from(joinPath(folder, `${n}`)).toString()));
	const other = parsePath(`${folder.slice(0, -1)}b`);
	const count = (isInside: (path: StoragePath, of: StoragePath) => boolean) =>
		paths.filter((path) => isInside(path, folder) && !isInside(path, other)).length;
	const comparing = await processorMs(() => t.is(count(isWithin), 1000));
	const concatenating = await processorMs(() =>
		t.is(
			count((path, of) => path.startsWith(`${of}/`)),
			1000,
		),
	);
	t.true(comparing < concatenating / 2, `${comparing} µs, and ${concatenating} µs with the text`);
});
