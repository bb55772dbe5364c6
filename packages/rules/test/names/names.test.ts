import test from 'ava';
import fc from 'fast-check';
import {
	candidateNames,
	Failure,
	invalidNameMessage,
	isPathSegment,
	isValidName,
	normalizeName,
	splitName,
	TriedNames,
	trimName,
	utf8Length,
} from '../../src/index.js';

const accepted = test.macro((t, name: string, stored?: string) => t.is(normalizeName(name), stored ?? name));
test('an ordinary name is kept', accepted, 'report.pdf');
test('outer spaces are trimmed and inner spaces kept', accepted, '  a  b  ', 'a  b');
test('outer white space of every kind is trimmed', accepted, ' \u00A0\u1680a\u00A0b\u2028\u3000\uFEFF ', 'a\u00A0b');
test('an outer zero-width space is kept', accepted, '\u200Ba', '\u200Ba');
test('a leading dash is kept', accepted, '--help');
test('a leading dot is kept', accepted, '.env');
test('a name of three dots is kept', accepted, '...');
test('an emoji is kept', accepted, '👨‍👩‍👧.jpg');
test('decomposed letters stay decomposed', accepted, 'e\u0301');
test('a name of 127 letters with two bytes each is kept', accepted, 'é'.repeat(127));
test('a name of 255 bytes is kept, without its outer spaces', accepted, ` ${'a'.repeat(255)} `, 'a'.repeat(255));

const refused = test.macro((t, name: string) => {
	t.false(isValidName(name));
	const error = t.throws(() => normalizeName(name), { instanceOf: Failure, message: invalidNameMessage });
	t.is(error?.kind, 'invalidName');
});
test('an empty name is refused', refused, '');
test('a name of white space is refused', refused, ' \u00A0 ');
test('a name of a byte order mark is refused', refused, '\uFEFF');
test('a name of one dot is refused', refused, '.');
test('a name of two dots is refused', refused, ' .. ');
test('a name of two dots before a no-break space is refused', refused, ' ..\u00A0');
test('a name of two dots after a byte order mark is refused', refused, '\uFEFF..');
test('a tab at the edge is refused, not trimmed', refused, '\ta');
test('a line feed at the edge is refused, not trimmed', refused, 'a\n');
test('a control character beside outer white space is refused', refused, '\u00A0\r\u00A0a');
test('a C1 control character is refused', refused, 'a\u0085');
test('a lone surrogate is refused', refused, 'a\uDC00');
test('a name of 256 bytes is refused', refused, 'é'.repeat(128));
for (const character of '<>:"/\\|?*') test(`a name with ${character} is refused`, refused, `a${character}b`);

const anyName = fc.string({ unit: 'binary' });

test('a normalized name is normalized already and is a valid path segment', (t) => {
	fc.assert(
		fc.property(anyName.filter(isValidName), (name) => {
			const stored = normalizeName(name);
			return normalizeName(stored) === stored && isPathSegment(stored);
		}),
	);
	t.pass();
});

test('trimName trims the same characters as String.trim, except control characters', (t) => {
	for (let code = 0; code <= 0xffff; code++) {
		const character = String.fromCharCode(code);
		const isControl = /\p{Cc}/u.test(character);
		t.is(
			trimName(`${character}a${character}`),
			isControl ? `${character}a${character}` : `${character}a${character}`.trim(),
		);
	}
});

test('trimName ends soon on two million inner spaces', (t) => {
	const name = `a${' '.repeat(2_000_000)}b`;
	t.is(trimName(name), name);
});

const split = test.macro((t, name: string, base: string, extension: string) =>
	t.deepEqual(splitName(name), { base, extension }),
);
test('an extension begins at the last dot', split, 'a.tar.gz', 'a.tar', '.gz');
test('a leading dot begins no extension', split, '.env', '.env', '');
test('a name without a dot has no extension', split, 'README', 'README', '');
test('a trailing dot is the extension', split, 'a.', 'a', '.');

const candidates = test.macro((t, name: string, type: 'file' | 'directory', ...expected: string[]) => {
	const all = [...candidateNames(name, type)];
	t.deepEqual([all[0], all[1], all[999], all[1000]], expected);
	t.is(all.length, 1001);
});
test(
	'candidate names of a file have the number before the extension',
	candidates,
	'a.txt',
	'file',
	'a.txt',
	'a (1).txt',
	'a (999).txt',
	'a (copy).txt',
);
test(
	'candidate names have the number before the last of several extensions',
	candidates,
	'a.tar.gz',
	'file',
	'a.tar.gz',
	'a.tar (1).gz',
	'a.tar (999).gz',
	'a.tar (copy).gz',
);
test(
	'candidate names of a dot file have the number at the end',
	candidates,
	'.env',
	'file',
	'.env',
	'.env (1)',
	'.env (999)',
	'.env (copy)',
);
test(
	'candidate names of a folder have the number at the end',
	candidates,
	'photos.2024',
	'directory',
	'photos.2024',
	'photos.2024 (1)',
	'photos.2024 (999)',
	'photos.2024 (copy)',
);

const type = fc.constantFrom('file' as const, 'directory' as const);
const validName = fc
	.array(fc.constantFrom('a', '.', ' ', 'é', '漢', '😀', 'x'.repeat(60), '漢'.repeat(30)), {
		minLength: 1,
		maxLength: 8,
	})
	.map((parts) => parts.join(''))
	.filter(isValidName)
	.map(normalizeName);

test('every candidate name is valid and has at most 255 bytes', (t) => {
	fc.assert(
		fc.property(validName, type, (name, kind) => {
			for (const candidate of candidateNames(name, kind)) {
				if (utf8Length(candidate) > 255 || normalizeName(candidate) !== candidate) return false;
			}
			return true;
		}),
	);
	t.pass();
});

test('candidate names of a name of up to 240 bytes are distinct and keep the extension', (t) => {
	fc.assert(
		fc.property(
			validName.filter((name) => utf8Length(name) <= 240),
			(name) => {
				const all = [...candidateNames(name, 'file')];
				return new Set(all).size === 1001 && all.every((each) => each.endsWith(splitName(name).extension));
			},
		),
	);
	t.pass();
});

test('of the names that entries of a folder have got none is tried again, also where long ones are shortened to the same', (t) => {
	const wished = Array.from({ length: 300 }, (_, n) => `${'x'.repeat(247)}${String(n).padStart(4, '0')}.txt`);
	for (const names of [wished, wished.map(() => 'a.txt')]) {
		const taken = new Set(wished);
		const tried = new TriedNames();
		let tries = 0;
		for (const name of [...names, ...names]) {
			for (const each of tried.candidates(name, 'file')) {
				tries++;
				if (taken.has(each)) continue;
				taken.add(each);
				tried.record(name, 'file', each);
				break;
			}
		}
		t.is(taken.size, 900);
		t.true(tries <= 900, `${tries} names were tried`);
	}
});

test('the first candidates that are left are those of `candidateNames` that nothing has got', (t) => {
	const name = fc.constantFrom(
		'a',
		'a.txt',
		'a (1).txt',
		'x'.repeat(251),
		`${'x'.repeat(250)}y`,
		`${'x'.repeat(249)}zz`,
	);
	fc.assert(
		fc.property(fc.array(fc.tuple(name, type), { maxLength: 40 }), (entries) => {
			const taken = new Set<string>();
			const tried = new TriedNames();
			return entries.every(([wished, kind]) => {
				const isFree = (each: string) => !taken.has(each);
				const expected = [...candidateNames(wished, kind)].find(isFree) as string;
				const got = [...tried.candidates(wished, kind)].find(isFree);
				taken.add(expected);
				tried.record(wished, kind, expected);
				return got === expected;
			});
		}),
		{ numRuns: 20 },
	);
	t.pass();
});

test('a long name is shortened at a code point before its number', (t) => {
	const [, first] = candidateNames(`${'😀'.repeat(62)}.txt`, 'file');
	t.is(first, `${'😀'.repeat(61)} (1).txt`);
});

test('a name that is all extension is shortened at its end', (t) => {
	const [, first] = candidateNames(`a.${'x'.repeat(253)}`, 'file');
	t.is(first, `a.${'x'.repeat(249)} (1)`);
});

test('a base name of one character is kept before a long extension', (t) => {
	const [, first] = candidateNames(`😀.${'x'.repeat(248)}`, 'file');
	t.is(first, `😀.${'x'.repeat(246)} (1)`);
});
