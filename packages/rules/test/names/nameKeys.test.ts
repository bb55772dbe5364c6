import test from 'ava';
import fc from 'fast-check';
import { collate, collationText, nameKey } from '../../src/names/nameKeys.js';

const range = (first: number, last: number) =>
	fc.integer({ min: first, max: last }).map((point) => String.fromCharCode(point));

const keyed = [
	range(0x20, 0x7e),
	range(0x30, 0x39),
	fc.constantFrom(
		'0',
		'00',
		'1',
		'9',
		'10',
		'2',
		'-',
		' ',
		'.',
		'_',
		'a',
		'A',
		'e\u0301',
		'и',
		'и\u0306',
		'ё',
		'か\u3099',
	),
	range(0xc0, 0x17f),
	range(0x300, 0x362),
	range(0x386, 0x3ce),
	range(0x400, 0x45f),
	range(0x1ea0, 0x1ef9),
	range(0x3041, 0x30fa),
	range(0x4e00, 0x9fff),
	range(0xac00, 0xd7a3),
];
const character = fc.oneof(...keyed, fc.constantFrom('ß', 'æ', '…', '😀', 'ー', '½', '²', '٣', '\u0000'));

/** Few kinds of characters a name, so that names often share a beginning. */
const names = fc.uniqueArray(character, { minLength: 1, maxLength: 6 }).chain((alphabet) =>
	fc.array(
		fc.array(fc.constantFrom(...alphabet), { maxLength: 8 }).map((characters) => characters.join('')),
		{ minLength: 2, maxLength: 12 },
	),
);

test('name keys compare as the collator compares the names', (t) => {
	fc.assert(
		fc.property(names, (list) => {
			const keys = list.map(nameKey);
			list.forEach((a, i) => {
				list.forEach((b, j) => {
					const [x, y] = [keys[i], keys[j]];
					if (x === undefined || y === undefined) return;
					const byKey = x < y ? -1 : x > y ? 1 : 0;
					if (byKey !== Math.sign(collate(a, b))) {
						throw new Error(`${JSON.stringify(a)} and ${JSON.stringify(b)} compare otherwise by their keys`);
					}
				});
			});
		}),
		{ numRuns: 3000 },
	);
	t.pass();
});

const hasKey = test.macro((t, name: string, expected: boolean) => t.is(nameKey(name) !== undefined, expected));
test('an ASCII name has a key', hasKey, 'IMG_2026 (1).jpg', true);
test('a name with accents has a key', hasKey, 'Été à Paris', true);
test('a decomposed name has a key', hasKey, 'e\u0301te\u0301', true);
test('a Cyrillic name has a key', hasKey, 'Фото 12', true);
test('a Greek name has a key', hasKey, 'Φωτογραφία', true);
test('a Han name has a key', hasKey, '漢字', true);
test('a Hangul name has a key', hasKey, '한글', true);
test('a name with a letter that sorts as two letters has no key', hasKey, 'Straße', false);
test('a name with an emoji has no key', hasKey, '😀', false);
test('Han characters sort after all other characters that have a key', (t) => {
	const others = Array.from({ length: 0x4e00 }, (_, unit) => String.fromCharCode(unit)).filter((each) => nameKey(each));
	t.true(others.length > 700);
	const first = others.filter((each) => collate(each, '一') >= 0);
	t.deepEqual(first, []);
	t.true(others.every((each) => (nameKey(each) as string) < (nameKey('一') as string)));
});
test('a name with a longer number than the collator compares at once has no key', hasKey, '1'.repeat(255), false);

const ordinary = fc.oneof(
	...keyed,
	fc.constantFrom(
		'\u00df',
		'\u00e6',
		'\u{1F600}',
		'\u0e40\u0e01',
		'\u0915\u094d\u0937\u093f',
		'\u0623',
		'\u05e9\u05c1',
	),
);
const ordinaryName = fc.array(ordinary, { maxLength: 16 }).map((characters) => characters.join(''));

test('ordinary names compare by their texts as the collator compares the names', (t) => {
	fc.assert(
		fc.property(ordinaryName, ordinaryName, ordinaryName, (beginning, a, b) => {
			const [x, y] = [beginning + a, beginning + b].map((each) => each.slice(0, 24)) as [string, string];
			t.is(Math.sign(collate(collationText(x), collationText(y))), Math.sign(collate(x, y)), JSON.stringify([x, y]));
		}),
		{ numRuns: 3000 },
	);
	for (const name of [
		'\u0447\u0430\u0439 \u00df'.repeat(16),
		'\u0915\u093f'.repeat(42),
		'\u1ea2nh \u0111\u1eb9p \u{1F600}'.repeat(4),
		'\ufdfa'.repeat(14),
	])
		t.is(collationText(name), name.normalize('NFD'));
});

test('many marks of Latin letters leave the marks that make letters of other scripts', (t) => {
	const [ordered, other] = ['ốأ', 'ốا'].map((each) => `${each}😀${'ế'.repeat(20)}`) as [string, string];
	t.not(collate(ordered, other), 0);
	t.is(Math.sign(collate(collationText(ordered), collationText(other))), Math.sign(collate(ordered, other)));
	t.is(collationText(`Ố😀${'ế'.repeat(20)}`), `O😀${'e'.repeat(20)}`);
});

test('the collator sees no more than a few of many marks that it ignores, and the beginning of what it expands', (t) => {
	const marks = (name: string) => collationText(name).match(/\p{M}/gu)?.length ?? 0;
	for (const mark of ['\u04e2', '\u01d5', '\ufb2d', '\u0f39', 'a\u0323\u0301'])
		t.true(marks(`\u00df${mark.repeat(60)}`) <= 16, mark);
	t.is(collationText(`\u00df${'\u04e2'.repeat(60)}`), `\u00df${'\u0418'.repeat(60)}`);
	t.true(collationText('\ufdfa'.repeat(80)).length <= 32);
	t.true(collationText('a'.repeat(60_000)).length <= 1024);
});
