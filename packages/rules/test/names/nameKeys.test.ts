import test from 'ava';
import fc from 'fast-check';
import { collate, nameKey } from '../../src/names/nameKeys.js';

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
