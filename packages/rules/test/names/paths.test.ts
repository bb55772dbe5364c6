import test from 'ava';
import fc from 'fast-check';
import {
	baseName,
	Failure,
	isFailure,
	isPathSegment,
	isWithin,
	joinPath,
	parentPath,
	parsePath,
	pathSegments,
	relativePath,
	rootPath,
	type StoragePath,
	utf8Length,
} from '../../src/index.js';

const accepted = test.macro((t, text: string) => t.is<string, string>(parsePath(text), text));
test('The empty path is the root', accepted, '');
test('A path has segments joined by slashes', accepted, 'docs/2026/a.txt');
test('A path keeps spaces at its edges', accepted, ' docs / a ');
test('A path keeps characters that a new name may not have', accepted, 'what?.txt/a:b*<>|"');
test('A path keeps dots that are part of a name', accepted, '.../..a/.env/a.');
test('A path keeps composed and decomposed letters apart', accepted, 'e\u0301/\u00E9');
test('A path keeps emoji and right-to-left text', accepted, '😀/שלום');
test('A segment may have 255 bytes', accepted, `${'é'.repeat(127)}a`);
test('A path may be a thousand folders deep', accepted, Array(1000).fill('folder').join('/'));

const refused = test.macro((t, text: string) => {
	const error = t.throws(() => parsePath(text), { instanceOf: Failure });
	t.is(error?.kind, 'invalidPath');
});
test('A leading slash is refused', refused, '/a');
test('A trailing slash is refused', refused, 'a/');
test('A single slash is refused', refused, '/');
test('An empty segment is refused', refused, 'a//b');
test('A dot segment is refused', refused, 'a/./b');
test('A parent segment is refused', refused, 'a/../b');
test('A parent segment at the end is refused', refused, 'a/..');
test('A backslash is refused', refused, 'a\\..\\b');
test('A NUL is refused', refused, 'a\0b');
test('A line feed is refused', refused, 'a\nb');
test('A C1 control character in a path is refused', refused, 'a\u0085b');
test('A lone surrogate in a path is refused', refused, 'a\uD800b');
test('A segment of 256 bytes is refused', refused, 'é'.repeat(128));
test('A path of more than 64 KiB is refused', refused, Array(600).fill('漢'.repeat(40)).join('/'));

const hostileText = fc
	.array(fc.oneof(fc.constantFrom('/', '\\', '.', '..', '\0', '\u007F', '\uD800', ' '), fc.string({ unit: 'binary' })))
	.map((parts) => parts.join(''));

test('Whatever is sent, parsePath refuses it or yields legal segments only', (t) => {
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

test('A path is its parent and its last segment', (t) => {
	fc.assert(
		fc.property(path, segment, (folder, name) => {
			const joined = joinPath(folder, name);
			return parentPath(joined) === folder && baseName(joined) === name && relativePath(joined, folder) === name;
		}),
	);
	t.pass();
});

test('The root holds itself and has no name', (t) => {
	t.is(parentPath(rootPath), rootPath);
	t.is(baseName(rootPath), '');
	t.deepEqual(pathSegments(rootPath), []);
});

test('joinPath parses what it adds', (t) => {
	t.is<string, string>(joinPath(rootPath, 'a', 'b/c'), 'a/b/c');
	t.throws(() => joinPath(parsePath('a'), '..'), { instanceOf: Failure });
	t.throws(() => joinPath(parsePath('a'), '/b'), { instanceOf: Failure });
});

test('A path is within itself and what is above it, and not within a name that it begins with', (t) => {
	t.true(isWithin(parsePath('report'), parsePath('report')));
	t.true(isWithin(parsePath('report/a/b'), parsePath('report')));
	t.true(isWithin(parsePath('report'), rootPath));
	t.false(isWithin(parsePath('report2'), parsePath('report')));
	t.false(isWithin(rootPath, parsePath('report')));
});

test('relativePath takes only what the folder holds', (t) => {
	t.is<string, string>(relativePath(parsePath('a/b/c'), parsePath('a')), 'b/c');
	t.is<string, string>(relativePath(parsePath('a'), parsePath('a')), '');
	t.throws(() => relativePath(parsePath('ab'), parsePath('a')), { instanceOf: Failure });
});
