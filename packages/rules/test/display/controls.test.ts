import test from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import { escapeControls, escapeJson, shownName } from '../../src/display/controls.js';

const hostile = [
	...['\u0000', '\u0007', '\b', '\t', '\n', '\r', '\u001B', '\u007F', '\u0080', '\u0085', '\u009B', '\u009D', '\u009F'],
	...['\u00AD', '\u061C', '\u200B', '\u200E', '\u200F', '\u2028', '\u2029', '\u202A', '\u202B', '\u202C', '\u202D'],
	...['\u202E', '\u2060', '\u2066', '\u2067', '\u2068', '\u2069', '\uFEFF', '\uFFF9', '\u{E0001}', '\uD800'],
];

test('controls, characters that turn the direction, and invisible ones are escaped', (t) => {
	for (const character of hostile) t.regex(escapeControls(`a${character}b`), /^a(\\u[0-9a-f]{4}){1,2}b$/, character);
	t.is(escapeControls('\u009B31m\u202Egpj.exe'), '\\u009b31m\\u202egpj.exe');
	t.is(escapeControls('a\tb\nc', '\n'), 'a\\u0009b\nc');
});

test('a shown name has its letters in their order, and marks of scripts stay', (t) => {
	for (const turning of ['\u202A', '\u202B', '\u202C', '\u202D', '\u202E', '\u2066', '\u2067', '\u2068', '\u2069'])
		t.is(shownName(`photo${turning}gpj.exe`), 'photo\uFFFDgpj.exe');
	for (const name of ['\u05E9\u05DC\u05D5\u05DD\u200F.txt', '\u200Ea', 'a\u200Db', 'plain.txt'])
		t.is(shownName(name), name);
});

test('a shown name has something to see, whatever it is made of', (t) => {
	for (const name of [
		'\u200B',
		'\u2060\uFEFF',
		'\u00AD',
		'\u3164',
		'\u2800',
		'\uFE0F',
		'\u{E0041}',
		' ',
		'\u200D\u200E',
	])
		t.is(shownName(name), '\uFFFD'.repeat([...name].length), escape(name));
	for (const name of ['', '\u200Ba', '\u200B.txt', '\u0301', '\u{1F3F4}\u{E0067}\u{E007F}'])
		t.is(shownName(name), name);
});

test('of a path of very many folders the ends are shown, of whole characters', (t) => {
	const longest = 'a'.repeat(1000);
	t.is(shownName(longest), longest);
	t.is(shownName(`${'a'.repeat(40_000)}/${'b'.repeat(700)}`), `${'a'.repeat(500)}…${'b'.repeat(500)}`);
	t.is(shownName(`${'😀'.repeat(600)}a`), `${'😀'.repeat(250)}…\uFFFD${'😀'.repeat(249)}a`);
	t.is(shownName(`${'\u200B'.repeat(100_000)}a`).length, 1001);
});

test('letters of all scripts, emoji and joiners stay as they are', (t) => {
	for (const text of [
		'Ärger',
		'日本語',
		'שלום',
		'سلام',
		'می\u200Cخواهم',
		'👨\u200D👩\u200D👧',
		'❤\uFE0F',
		'e\u0301',
		'\\u009b',
	])
		t.is(escapeControls(text), text);
});

test('escaped JSON has the same value', (t) => {
	const value = Object.fromEntries(hostile.map((character, index) => [`${index}${character}`, [character, 'x']]));
	for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
		const escaped = escapeJson(json);
		t.deepEqual(JSON.parse(escaped), value);
		t.regex(escaped, /^[\n\x20-\x7e]*$/);
	}
});

test('a megabyte of them is escaped in linear time', async (t) => {
	const ms = await usualMs(() => t.is(escapeControls('\u009B'.repeat(1_000_000)).length, 6_000_000));
	t.true(ms < 20_000, `${ms} ms`);
});
