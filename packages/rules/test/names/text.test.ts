import test from 'ava';
import fc from 'fast-check';
import { hasLoneSurrogate, truncateToBytes, utf8Length } from '../../src/index.js';

const anyText = fc.string({ unit: 'binary' });

const length = test.macro((t, text: string, bytes: number) => t.is(utf8Length(text), bytes));
test('an ASCII character takes one byte', length, 'abc', 3);
test('an accented letter takes two bytes', length, 'é', 2);
test('a Han character takes three bytes', length, '漢', 3);
test('an emoji takes four bytes', length, '😀', 4);
test('a lone surrogate takes three bytes', length, '\uD800', 3);

test('any text, also with halves of surrogate pairs, takes the bytes that it is encoded with', (t) => {
	const unit = fc.oneof(fc.nat(0xffff), fc.integer({ min: 0xd800, max: 0xdfff }), fc.nat(0x7f));
	fc.assert(
		fc.property(fc.array(unit), (units) => {
			const text = String.fromCharCode(...units);
			return utf8Length(text) === new TextEncoder().encode(text).length;
		}),
	);
	t.pass();
});

test('truncateToBytes returns the longest beginning of whole characters that fits', (t) => {
	fc.assert(
		fc.property(anyText, fc.nat(60), (text, bytes) => {
			const short = truncateToBytes(text, bytes);
			t.true(text.startsWith(short));
			t.true(utf8Length(short) <= bytes);
			const [next] = text.slice(short.length);
			if (next !== undefined) t.true(utf8Length(short + next) > bytes);
		}),
	);
	t.pass();
});

test('hasLoneSurrogate finds halves of surrogate pairs but no whole pairs', (t) => {
	t.false(hasLoneSurrogate('a😀b'));
	t.true(hasLoneSurrogate('a\uD83D'));
	t.true(hasLoneSurrogate('\uDE00b'));
	t.true(hasLoneSurrogate('\uDE00\uD83D'));
});
