import test from 'ava';
import fc from 'fast-check';
import { hasLoneSurrogate, truncateToBytes, utf8Length } from '../../src/index.js';

const anyText = fc.string({ unit: 'binary' });

const length = test.macro((t, text: string, bytes: number) => t.is(utf8Length(text), bytes));
test('ASCII takes one byte', length, 'abc', 3);
test('An accented letter takes two bytes', length, 'é', 2);
test('A Han character takes three bytes', length, '漢', 3);
test('An emoji takes four bytes', length, '😀', 4);
test('A lone surrogate takes three bytes', length, '\uD800', 3);

test('A truncated text is a beginning that fits, and the next character would not', (t) => {
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

test('Whole surrogate pairs are fine and halves are not', (t) => {
	t.false(hasLoneSurrogate('a😀b'));
	t.true(hasLoneSurrogate('a\uD83D'));
	t.true(hasLoneSurrogate('\uDE00b'));
	t.true(hasLoneSurrogate('\uDE00\uD83D'));
});
