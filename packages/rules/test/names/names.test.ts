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
	trimName,
	utf8Length,
} from '../../src/index.js';

const accepted = test.macro((t, name: string, stored?: string) => t.is(normalizeName(name), stored ?? name));
test('An ordinary name is kept', accepted, 'report.pdf');
test('Outer spaces are trimmed and inner ones kept', accepted, '  a  b  ', 'a  b');
test('Outer white space of every kind is trimmed', accepted, ' \u00A0\u1680a\u00A0b\u2028\u3000\uFEFF ', 'a\u00A0b');
test('A zero-width space is no white space', accepted, '\u200Ba', '\u200Ba');
test('A leading dash is kept', accepted, '--help');
test('A leading dot is kept', accepted, '.env');
test('Three dots are a name', accepted, '...');
test('Emoji are kept', accepted, '👨‍👩‍👧.jpg');
test('Decomposed letters stay decomposed', accepted, 'e\u0301');
test('255 bytes are allowed', accepted, 'é'.repeat(127));
test('255 bytes and outer spaces are allowed', accepted, ` ${'a'.repeat(255)} `, 'a'.repeat(255));

const refused = test.macro((t, name: string) => {
	t.false(isValidName(name));
	const error = t.throws(() => normalizeName(name), { instanceOf: Failure, message: invalidNameMessage });
	t.is(error?.kind, 'invalidName');
});
test('The empty name is refused', refused, '');
test('White space alone is refused', refused, ' \u00A0 ');
test('A byte order mark alone is refused', refused, '\uFEFF');
test('A dot is refused', refused, '.');
test('Two dots are refused', refused, ' .. ');
test('Two dots before a no-break space are refused', refused, ' ..\u00A0');
test('Two dots after a byte order mark are refused', refused, '\uFEFF..');
test('A tab at the edge is refused, not trimmed', refused, '\ta');
test('A line feed at the edge is refused, not trimmed', refused, 'a\n');
test('A control character beyond other white space is refused', refused, '\u00A0\r\u00A0a');
test('A C1 control character is refused', refused, 'a\u0085');
test('A lone surrogate is refused', refused, 'a\uDC00');
test('256 bytes are refused', refused, 'é'.repeat(128));
for (const character of '<>:"/\\|?*') test(`A name with ${character} is refused`, refused, `a${character}b`);

const anyName = fc.string({ unit: 'binary' });

test('A name that was normalized stays the same and can be a path segment', (t) => {
	fc.assert(
		fc.property(anyName.filter(isValidName), (name) => {
			const stored = normalizeName(name);
			return normalizeName(stored) === stored && isPathSegment(stored);
		}),
	);
	t.pass();
});

test('Trimmed is what JavaScript trims, but for control characters', (t) => {
	for (let code = 0; code <= 0xffff; code++) {
		const character = String.fromCharCode(code);
		const isControl = /\p{Cc}/u.test(character);
		t.is(
			trimName(`${character}a${character}`),
			isControl ? `${character}a${character}` : `${character}a${character}`.trim(),
		);
	}
});

test('Many spaces inside a name cost no more than their number', (t) => {
	const name = `a${' '.repeat(2_000_000)}b`;
	t.is(trimName(name), name);
});

const split = test.macro((t, name: string, base: string, extension: string) =>
	t.deepEqual(splitName(name), { base, extension }),
);
test('An extension begins at the last dot', split, 'a.tar.gz', 'a.tar', '.gz');
test('A leading dot begins no extension', split, '.env', '.env', '');
test('A name without a dot has no extension', split, 'README', 'README', '');
test('A trailing dot is an empty extension', split, 'a.', 'a', '.');

const candidates = test.macro((t, name: string, type: 'file' | 'directory', ...expected: string[]) => {
	const all = [...candidateNames(name, type)];
	t.deepEqual([all[0], all[1], all[999], all[1000]], expected);
	t.is(all.length, 1001);
});
test(
	'A file gets its number before the extension',
	candidates,
	'a.txt',
	'file',
	'a.txt',
	'a (1).txt',
	'a (999).txt',
	'a (copy).txt',
);
test(
	'Only the last extension counts',
	candidates,
	'a.tar.gz',
	'file',
	'a.tar.gz',
	'a.tar (1).gz',
	'a.tar (999).gz',
	'a.tar (copy).gz',
);
test(
	'A dot file gets its number at the end',
	candidates,
	'.env',
	'file',
	'.env',
	'.env (1)',
	'.env (999)',
	'.env (copy)',
);
test(
	'A folder has no extension',
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

test('No candidate is longer than 255 bytes, and each can be given as it is', (t) => {
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

test('The candidates of a name with room for the number are all distinct and keep the extension', (t) => {
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

test('A long name is shortened at a code point before its number', (t) => {
	const [, first] = candidateNames(`${'😀'.repeat(62)}.txt`, 'file');
	t.is(first, `${'😀'.repeat(61)} (1).txt`);
});

test('A name that is all extension is shortened as a whole', (t) => {
	const [, first] = candidateNames(`a.${'x'.repeat(253)}`, 'file');
	t.is(first, `a.${'x'.repeat(249)} (1)`);
});

test('A base of which not one character fits is not left out', (t) => {
	const [, first] = candidateNames(`😀.${'x'.repeat(248)}`, 'file');
	t.is(first, `😀.${'x'.repeat(246)} (1)`);
});
