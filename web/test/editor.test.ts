import { indentLess, indentMore } from '@codemirror/commands';
import { indentUnit, StreamLanguage } from '@codemirror/language';
import { yaml } from '@codemirror/legacy-modes/mode/yaml';
import { SearchQuery } from '@codemirror/search';
import {
	EditorSelection,
	EditorState,
	type StateCommand,
	type Text,
	type Transaction,
	type TransactionSpec,
} from '@codemirror/state';
import { type Entry, Failure } from '@stowage/rules';
import test from 'ava';
import fc from 'fast-check';
import { encode } from '../src/features/previews/editor/bytes/encode.js';
import {
	areEqual,
	asUtf8,
	canBeShown,
	type ReadText,
	readText,
	writeText,
} from '../src/features/previews/editor/bytes/textBytes.js';
import { isModest } from '../src/features/previews/editor/colours/syntax.js';
import { endOfKey, yamlGrammar } from '../src/features/previews/editor/colours/yamlGrammar.js';
import { indentKeys } from '../src/features/previews/editor/indentLines.js';
import { editedText, savingEffect, trackReplacements } from '../src/features/previews/editor/saving/replacements.js';
import { type Base, baseOf, type EditedText, saveText } from '../src/features/previews/editor/saving/saveText.js';
import { FoundQuery } from '../src/features/previews/editor/search/FoundQuery.js';
import { findMatches } from '../src/features/previews/editor/search/findMatches.js';
import { overlapsOf } from '../src/features/previews/editor/search/overlaps.js';
import { type Encoding, encodings } from '../src/features/previews/text/encodings.js';

/** Bytes by the characters of a text, each of which is one byte. */
const bytes = (...parts: string[]) => new Uint8Array(Buffer.from(parts.join(''), 'latin1'));

function read(content: Uint8Array<ArrayBuffer>, encoding: Encoding = 'UTF-8'): ReadText {
	const text = readText(content, encoding);
	if (!text) throw new Error(`It is no ${encoding}.`);
	return text;
}

function written(text: ReadText, changed: string): string {
	const result = writeText(text, changed);
	return result.kind === 'bytes' ? Buffer.from(result.bytes).toString('latin1') : `lacks ${result.character}`;
}

/** Bytes as files have them: of characters of the encoding, with all ends of lines, and some that are random. */
const contents = (encoding: Encoding) => {
	const ends = fc.constantFrom('\n', '\r\n', '\r', '', ' ');
	const characters = fc.oneof(
		fc.string({ unit: 'binary' }),
		fc.string({
			unit: fc.constantFrom('ä', 'Ж', 'ß', '日', '本', 'ｱ', '한', '€', '\\', '~', '¥', '😀', '𠮷', '﨑', '∵'),
		}),
	);
	const texts = fc.array(fc.tuple(characters, ends)).map((parts) => parts.flat());
	const encoded = texts.map((parts) =>
		bytes(...parts.flatMap((part) => [...part].map((character) => encode(character, encoding))).map(rawBytes)),
	);
	return fc.oneof(
		encoded,
		fc.uint8Array({ maxLength: 40 }).map((array) => new Uint8Array(array)),
	);
};

const rawBytes = (result: ReturnType<typeof encode>) =>
	result.kind === 'bytes' ? Buffer.from(result.bytes).toString('latin1') : '';

for (const encoding of encodings) {
	test(`what can be read as ${encoding} is written byte for byte as it was where nothing was changed`, (t) => {
		let lossless = 0;
		fc.assert(
			fc.property(contents(encoding), (content) => {
				const text = readText(content, encoding);
				if (!text) return true;
				lossless++;
				const result = writeText(text, text.text);
				return result.kind === 'bytes' && areEqual(result.bytes, content);
			}),
			{ numRuns: 200 },
		);
		t.true(lossless > 20);
	});
}

/** The number of characters for which a decoder has codes of one or two bytes. */
const decodable = (encoding: Encoding) => {
	const codes = Array.from({ length: 0x80 + 0x7e * 0xc0 }, (_, index) =>
		index < 0x80 ? [index + 0x80] : [0x81 + Math.floor((index - 0x80) / 0xc0), 0x40 + ((index - 0x80) % 0xc0)],
	);
	const decoder = new TextDecoder(encoding);
	return codes.flatMap((code) => {
		const text = decoder.decode(new Uint8Array(code));
		return [...text].length === 1 && text !== '\ufffd' ? [text] : [];
	});
};

test('every character that a decoder knows can be written in its encoding', (t) => {
	for (const encoding of encodings) {
		if (encoding.startsWith('UTF')) continue;
		const text = decodable(encoding).join('');
		const result = encode(text, encoding);
		const again =
			result.kind === 'bytes' ? new TextDecoder(encoding).decode(result.bytes) : `lacks ${result.character}`;
		t.is(again, text, encoding);
	}
	for (const [encoding, text, expected] of [
		['GB18030', '€😀', '\xa2\xe3\x94\x39\xfc\x36'],
		['EUC-JP', '丂', '\x8f\xb0\xa1'],
		['ISO-2022-JP', 'あaｱ¥', '\x1b$B$"\x1b(Ba\x1b(I1\x1b(J\\\x1b(B'],
		['Shift_JIS', '∵髙', '\x81\xe6\xfb\xfc'],
	] as const) {
		const result = encode(text, encoding);
		t.is(rawBytes(result), expected, encoding);
	}
});

test('a character inserted at any place leaves all other bytes as they were', (t) => {
	for (const encoding of ['UTF-8', 'windows-1252', 'Shift_JIS'] as const) {
		t.notThrows(() =>
			fc.assert(
				fc.property(contents(encoding), fc.nat(), fc.constantFrom('x', '\n'), (content, place, character) => {
					const text = readText(content, encoding);
					if (!text) return true;
					const characters = [...text.text];
					const at = place % (characters.length + 1);
					const result = writeText(text, characters.toSpliced(at, 0, character).join(''));
					if (result.kind === 'lacks') return false;
					let start = 0;
					while (start < content.length && content[start] === result.bytes[start]) start++;
					let end = 0;
					while (end < content.length - start && content.at(-1 - end) === result.bytes.at(-1 - end)) end++;
					// Beside it a line whose bytes are not those that we would write may be written anew.
					return text.ownBytes.size > 0 || start + end === content.length;
				}),
				{ examples: [[bytes('\xff\0'), 0, '\n']] },
			),
		);
	}
});

test('a changed text is read as it was written, whatever was changed', (t) => {
	const lines = fc.array(fc.constantFrom('', 'a', 'b', 'ä')).map((all) => all.join('\n'));
	const ends = fc.array(fc.constantFrom('a', 'b', '\n', '\r', '\r\n')).map((all) => all.join(''));
	fc.assert(
		fc.property(ends, lines, (content, changed) => {
			const result = writeText(read(bytes(content)), changed);
			return result.kind === 'bytes' && read(result.bytes).text === changed;
		}),
	);
	t.pass();
});

test('each line keeps its own end, and new ones get the most frequent', (t) => {
	const mixed = read(bytes('one\r\ntwo\nthree\rfour\r\nfive'));
	t.is(mixed.text, 'one\ntwo\nthree\nfour\nfive');
	t.is(written(mixed, 'one\nTWO\nthree\nfour\nfive'), 'one\r\nTWO\nthree\rfour\r\nfive');
	t.is(written(mixed, 'one\ntwo\nnew\nthree\nfour\nfive'), 'one\r\ntwo\nnew\r\nthree\rfour\r\nfive');
	t.is(written(mixed, 'one\nthree\nfour\nfive\n'), 'one\r\nthree\rfour\r\nfive\r\n');
	t.is(written(mixed, 'one\nt\nwo\nthree\nfour\nfive'), 'one\r\nt\r\nwo\nthree\rfour\r\nfive');
	t.is(written(read(bytes('')), 'a\nb'), 'a\nb');
	// A carriage return before a line feed of an empty line would end one line and not two.
	t.is(written(read(bytes('a\rb\nc\r')), 'a\n\nc\n'), 'a\r\rc\r');
});

test('more changed lines than are matched one by one keep their ends by their places', (t) => {
	const old = Array.from({ length: 5000 }, (_, index) => `line ${index}${index % 7 === 0 ? '\r\n' : '\n'}`).join('');
	const text = read(bytes(old));
	t.is(written(text, text.text.replaceAll('line', 'row')), old.replaceAll('line', 'row'));
});

test('a byte order mark is kept, and shown to nobody', (t) => {
	for (const [encoding, content] of [
		['UTF-8', '\xef\xbb\xbfa\n'],
		['UTF-16LE', '\xff\xfea\0\n\0'],
		['UTF-16BE', '\xfe\xff\0a\0\n'],
	] as const) {
		const text = read(bytes(content), encoding);
		t.is(text.text, 'a\n');
		t.is(written(text, 'a\n'), content);
	}
	t.is(written(asUtf8(read(bytes('\xff\xfea\0\r\0\n\0'), 'UTF-16LE')), 'a\nb\n'), 'a\r\nb\r\n');
});

test('lines with codes that we would not write keep their bytes unless they are changed', (t) => {
	// Both are the same sign.
	const text = read(bytes('\x87\x9a one\r\n\x81\xe6 two\n\x87\x9a three'), 'Shift_JIS');
	t.is(text.text, '∵ one\n∵ two\n∵ three');
	t.is(written(text, '∵ one\n∵ 2\n∵ three'), '\x87\x9a one\r\n\x81\xe6 2\n\x87\x9a three');
	t.is(written(text, '∵ 1\n∵ two\n∵ three'), '\x81\xe6 1\r\n\x81\xe6 two\n\x87\x9a three');
});

test.serial(
	'lines with codes that we would not write need no decoder each, of which a text may have half a million',
	(t) => {
		const { TextDecoder: own } = globalThis;
		t.teardown(() => {
			globalThis.TextDecoder = own;
		});
		for (const [encoding, line] of [
			['GB18030', '\x80\n'],
			['GB18030', '\x80\r'],
			['Big5', '\xf9\xf9\n'],
			['ISO-2022-JP', '\x1b(Ja\x1b(B\n'],
		] as const) {
			// Its table is made once.
			encode('a', encoding);
			let decoders = 0;
			globalThis.TextDecoder = class extends own {
				constructor(...given: ConstructorParameters<typeof own>) {
					super(...given);
					decoders++;
				}
			};
			const content = line.repeat(2000);
			const text = read(bytes(content), encoding);
			t.is(text.ownBytes.size, 2000);
			t.is(written(text, `z\n${text.text}`), `z${line.slice(-1)}${content}`);
			t.true(decoders < 10, `${decoders} for ${encoding}`);
		}
	},
);

test('a line of which the bytes alone are another text is not told from those before it', (t) => {
	// Without the first sequence the second line would have no yen sign, and bytes of its own.
	for (const beginning of ['a', '\\']) {
		t.is(readText(bytes(`\x1b(J${beginning}\n\\\n\x1b(Ba`), 'ISO-2022-JP'), undefined, beginning);
	}
	for (const [alone, expected] of [
		['\x1b(J\\\n\x1b(Ja\n\x1b(Jb\x1b(B\n\x1b$B$"\x1b(B\n', '¥\na\nb\nあ\n'],
		['a\x1b(J\n\x1b(J\nb\x1b(B', 'a\n\nb'],
		['a\n\x1b(J', 'a\n'],
	] as const) {
		const text = read(bytes(alone), 'ISO-2022-JP');
		t.is(text.text, expected);
		t.is(written(text, text.text), alone);
	}
});

test('bytes without a meaning in an encoding are not read, since they would be lost', (t) => {
	t.is(readText(bytes('a\xffb'), 'UTF-8'), undefined);
	t.is(readText(bytes('a\0\0\xd8'), 'UTF-16LE'), undefined);
	t.is(readText(bytes('a\0b'), 'UTF-16LE'), undefined);
	t.is(readText(bytes('\x82'), 'Shift_JIS'), undefined);
	// The escape sequence of the first line holds on to the second.
	t.is(readText(bytes('\x1b(Ja\n\\\x1b(B'), 'ISO-2022-JP'), undefined);
	t.is(read(bytes('\x81\xff'), 'windows-1252').text, '\x81ÿ');
});

test('a character that the encoding lacks is named, and UTF-8 has it', (t) => {
	const text = read(bytes('caf\xe9\r\n'), 'windows-1252');
	t.is(written(text, 'café\n日本'), 'lacks 日');
	t.is(written(asUtf8(text), 'café\n日'), 'caf\xc3\xa9\r\n\xe6\x97\xa5');
	t.is(written(read(bytes('a')), '\ud800'), 'lacks \ud800');
});

/** The state of an editor that shows a text. */
const editorOf = (text: ReadText) => EditorState.create({ doc: text.text, extensions: trackReplacements });

function saved(text: ReadText, state: EditorState): string {
	const { text: changed, replacements } = editedText(state);
	const result = writeText(text, changed, replacements);
	return result.kind === 'bytes' ? Buffer.from(result.bytes).toString('latin1') : `lacks ${result.character}`;
}

test('of equal lines those that are left keep their ends and bytes, however many others come and go', (t) => {
	const change = (text: ReadText, ...changes: TransactionSpec[]) =>
		saved(
			text,
			changes.reduce((state, each) => state.update(each).state, editorOf(text)),
		);
	const equal = read(bytes('a\r\na\nb\r\n'));
	t.is(change(equal, { changes: { from: 0, to: 2 } }), 'a\nb\r\n');
	t.is(change(equal, { changes: { from: 2, to: 4 } }), 'a\r\nb\r\n');
	t.is(change(equal, { changes: { from: 0, to: 2 } }, { changes: { from: 0, insert: 'a\n' } }), 'a\r\na\nb\r\n');
	t.is(change(equal, { changes: { from: 3, insert: '\nnew' } }), 'a\r\na\nnew\r\nb\r\n');
	t.is(change(read(bytes('\r\n\n\r\nb')), { changes: { from: 0, to: 1 } }), '\n\r\nb');
	const signs = read(bytes('\x87\x9a\n\x81\xe6\n\x87\x9a'), 'Shift_JIS');
	t.is(change(signs, { changes: { from: 0, to: 2 } }), '\x81\xe6\n\x87\x9a');
	t.is(change(signs, { changes: { from: 1, insert: '\n' } }), '\x87\x9a\n\n\x81\xe6\n\x87\x9a');

	const parts = Array.from({ length: 3000 }, (_, index) => `line ${index}${index % 3 === 0 ? '\n' : '\r\n'}`);
	const long = read(bytes(parts.join('')));
	const starts = [...long.text.matchAll(/line/g)].map(({ index }) => index);
	const added = starts.filter((_, index) => index % 2 === 0).map((from) => ({ from, insert: 'new\n' }));
	const expected = parts.map((part, index) => (index % 2 === 0 ? `new\r\n${part}` : part)).join('');
	t.is(change(long, { changes: added }), expected);
});

test('lines that come and go leave the bytes of all others as they were', (t) => {
	const line = fc.tuple(fc.constantFrom<string>('', 'a', 'b'), fc.constantFrom('\n', '\r\n'));
	const step = fc.record({ at: fc.nat(), isRemoved: fc.boolean() });
	fc.assert(
		fc.property(fc.array(line, { minLength: 1 }), fc.array(step), (lines, steps) => {
			const text = read(bytes(lines.flat().join('')));
			const left = lines.map(([content, end]) => ({ content, end }));
			let state = editorOf(text);
			for (const { at, isRemoved } of steps) {
				const index = at % (left.length + 1);
				const { from, to } = state.doc.line(index + 1);
				if (!isRemoved) {
					left.splice(index, 0, { content: 'x', end: '\n' });
					state = state.update({ changes: { from, insert: 'x\n' } }).state;
				} else if (index < left.length) {
					left.splice(index, 1);
					state = state.update({ changes: { from, to: to + 1 } }).state;
				}
			}
			// A line that is added may have the end of one that it replaces.
			const written = saved(text, state).replaceAll('x\r\n', 'x\n');
			return written === left.map(({ content, end }) => content + (content === 'x' ? '\n' : end)).join('');
		}),
	);
	t.pass();
});

test('what is changed while a text is saved is told from what was saved', (t) => {
	const first = read(bytes('a\r\na\na\r\nb'));
	let state = editorOf(first);
	const apply = (spec: TransactionSpec) => {
		state = state.update(spec).state;
	};
	apply({ changes: { from: 0, to: 2 } });
	apply({ effects: savingEffect.of('begins') });
	const second = read(bytes(saved(first, state)));
	apply({ changes: { from: 0, to: 2 } });
	// If it failed, both are still to be saved.
	t.is(saved(first, state), 'a\r\nb');
	apply({ effects: savingEffect.of('succeeded') });
	t.is(saved(second, state), 'a\r\nb');
	apply({ changes: { from: 0, insert: 'c' } });
	t.is(saved(second, state), 'ca\r\nb');
	apply({ effects: savingEffect.of('begins') });
	apply({ changes: { from: 0, to: 1 } });
	t.is(saved(second, state), 'a\r\nb');
});

const edited = (text: string): EditedText => ({ text, replacements: undefined });

/** A file as a server has it, of which each writing makes another version. */
function serverWith(content: string) {
	let version = 1;
	let file: Uint8Array<ArrayBuffer> | undefined = bytes(content);
	let isAnswerLost = false;
	const entry: Entry = { name: 'a.txt', path: 'a.txt', type: 'file', size: 1, mtime: 1 };
	return {
		content: () => file && Buffer.from(file).toString('latin1'),
		/** Somebody else writes, or removes it. */
		put(other: string | undefined) {
			file = other === undefined ? undefined : bytes(other);
			version++;
		},
		loseNextAnswer() {
			isAnswerLost = true;
		},
		opened(): Base {
			const current = { bytes: file as Uint8Array<ArrayBuffer>, etag: `"${version}"` };
			return baseOf({ version: current, read: read(current.bytes) });
		},
		access: {
			async write(written: Uint8Array<ArrayBuffer>, replaced: Base['replaced']) {
				const isRight = replaced.kind === 'version' ? file && replaced.etag === `"${version}"` : file === undefined;
				if (!isRight) throw new Failure('preconditionFailed', 'The file has changed.');
				file = written;
				version++;
				if (isAnswerLost) {
					isAnswerLost = false;
					throw new Failure('unavailable', 'Network error');
				}
				return entry;
			},
			findCurrent: async () => file && { bytes: file, etag: `"${version}"` },
		},
	};
}

test('a text is saved over the version that was read, and then over what was saved', async (t) => {
	const server = serverWith('a\r\n');
	const first = await saveText(server.opened(), edited('b\n'), server.access);
	t.is(server.content(), 'b\r\n');
	if (first.kind !== 'saved') return t.fail();
	const second = await saveText(first.base, edited('c\n'), server.access);
	t.is(second.kind, 'saved');
	t.is(server.content(), 'c\r\n');
});

test('what others have written is not replaced, and is handed on', async (t) => {
	const server = serverWith('a');
	const base = server.opened();
	server.put('theirs');
	const result = await saveText(base, edited('mine'), server.access);
	t.is(result.kind === 'changed' && result.current && Buffer.from(result.current.bytes).toString(), 'theirs');
	t.is(server.content(), 'theirs');
	server.put(undefined);
	t.deepEqual(await saveText(base, edited('mine'), server.access), { kind: 'changed', current: undefined });
	t.is(server.content(), undefined);
	const again = await saveText({ ...base, replaced: { kind: 'missing' } }, edited('mine'), server.access);
	t.is(again.kind, 'saved');
	t.is(server.content(), 'mine');
});

test('a text whose answer was lost, or whose file was only written again, is saved without a question', async (t) => {
	const server = serverWith('a');
	const base = server.opened();
	server.loseNextAnswer();
	await t.throwsAsync(saveText(base, edited('b'), server.access), { message: 'Network error' });
	const again = await saveText(base, edited('b'), server.access);
	t.is(again.kind === 'saved' && again.entry, undefined);
	const touched = serverWith('a');
	const opened = touched.opened();
	touched.put('a');
	t.is((await saveText(opened, edited('b'), touched.access)).kind, 'saved');
	t.is(touched.content(), 'b');
	// What this page cannot have seen is not replaced, even if it was lost and changed by others.
	server.loseNextAnswer();
	await t.throwsAsync(saveText(server.opened(), edited('c'), server.access));
	server.put('theirs');
	t.is((await saveText(base, edited('d'), server.access)).kind, 'changed');
});

test('a version that can’t be told after it was saved is found at the next attempt', async (t) => {
	const server = serverWith('a');
	const blind = { ...server.access, findCurrent: () => Promise.reject(new Failure('unavailable', 'Network error')) };
	const first = await saveText(server.opened(), edited('b'), blind);
	if (first.kind !== 'saved') return t.fail();
	const second = await saveText(first.base, edited('c'), server.access);
	t.is(second.kind, 'saved');
	t.is(server.content(), 'c');
});

test('a text is edited unless one of its lines has more joined letters than a browser lays out at once', (t) => {
	const shown = (text: string) => canBeShown(read(new TextEncoder().encode(text)));
	t.true(shown('x'.repeat(1_000_000)));
	t.true(shown('عربي\n'.repeat(10_000)));
	t.false(shown(`short\n${'عربي'.repeat(2000)}`));
	t.false(shown(`a${'\u0301'.repeat(5001)}`));
});

test('a text is edited unless one of its lines has more script runs than a browser lays out at once', (t) => {
	const shown = (text: string) => canBeShown(read(new TextEncoder().encode(text)));
	for (const some of ['a\u0181', '日1', '⑀▀', 'αа', 'a\u1e00', '\u0430\u0460', '\u2190\u219a', '\u2500\u254c']) {
		t.false(shown(`short\n${some.repeat(42_000)}`), some);
		t.true(shown(`${some.repeat(2500)}\n`.repeat(40)), some);
	}
	for (const some of [
		'{"名前":"山田太郎","年":25,"住所":"東京都千代田区"},',
		'한국어 문장 1개, ',
		'Người Việt, ư. ',
		'<b>Слово</b> ',
	]) {
		t.true(shown(some.repeat(Math.floor(80_000 / some.length))), some);
	}
});

test('a text is edited unless one of its lines has more tabs, controls or blanks than a browser wraps at once', (t) => {
	const shown = (text: string) => canBeShown(read(new TextEncoder().encode(text)));
	t.true(shown('a few words '.repeat(85_000)));
	t.true(shown('\t\t\tf(a,  b);\r\n'.repeat(60_000)));
	t.true(shown(`${'\t'.repeat(20_000)}\n`.repeat(40)));
	t.true(shown('\n'.repeat(1_000_000)));
	for (const some of ['\t', '  ', '\u3000\u3000', 'a\t', '\x1b[m'])
		t.false(shown(`short\n${some.repeat(21_000)}`), JSON.stringify(some));
});

test('a text has colours in the editor if none of its parts is too long to be read at once', (t) => {
	t.true(isModest('a line of code\n'.repeat(10_000), false));
	t.false(isModest('a line of code\n'.repeat(20_000), false));
	t.false(isModest(`short\n${'x'.repeat(2001)}`, false));
	t.true(isModest('f({});\n'.repeat(10_000), false));
	t.false(isModest('f({\n'.repeat(1000), false));
	t.true(isModest('[a](b)\n\n'.repeat(10_000), true));
	t.false(isModest('[a](\n'.repeat(2000), true));
	t.true(isModest('x'.repeat(2001), true));
	t.true(isModest('[a](b)\n \t\r\n'.repeat(10_000), true));
});

test('a paragraph goes on over lines of white space that the grammar does not take for blank', (t) => {
	for (const line of ['\u00a0', '\u000b', '\f', '\u2028', '\u3000', '\ufeff'])
		t.false(isModest(`\`\`\`\n${`[a](b)\n${line}\n`.repeat(2000)}`, true), JSON.stringify(line));
});

const yamlLine = fc.string({
	unit: fc.constantFrom(' ', '\t', 'a', ':', '#', '-', '"', "'", '|', '[', '{', ',', '\u00a0'),
	maxLength: 12,
});

test('a key of YAML ends where the pattern of the library finds its end', (t) => {
	const pattern = /^\s*(?:[,[\]{}&*!|>'"%@`][^\s'":]|[^,[\]{}#&*!|>'"%@`])[^#]*?(?=\s*:($|\s))/;
	const property = fc.property(yamlLine, fc.nat(3), (line, from) => {
		const at = Math.min(from, line.length);
		const [found] = pattern.exec(line.slice(at)) ?? [];
		t.is(endOfKey(line, at), found === undefined ? undefined : at + found.length, JSON.stringify({ line, at }));
	});
	fc.assert(property, { numRuns: 5000 });
});

test('a text in YAML has the colours that the library gives it, also where only one character keeps lines of blanks from being read', (t) => {
	const treeOf = (grammar: typeof yaml, text: string) => {
		const spans: string[] = [];
		StreamLanguage.define(grammar)
			.parser.parse(text)
			.iterate({ enter: ({ name, from, to }) => void spans.push(`${name} ${from}-${to}`) });
		return spans;
	};
	const texts = fc.array(yamlLine, { maxLength: 5 }).map((lines) => lines.join('\n'));
	fc.assert(fc.property(texts, (text) => void t.deepEqual(treeOf(yamlGrammar, text), treeOf(yaml, text), text)));
	const lines = `${' '.repeat(2000)}\n`.repeat(3);
	// The first are the text of `a`, and read at once. The second would take the library minutes.
	t.true(treeOf(yamlGrammar, `a: |\n${lines}`).length > 0);
	t.true(treeOf(yamlGrammar, `#a: |\n${lines}`).length > 0);
});

/** The places that commands of the editor go to, of a query that searches by itself or of one that gets what was found. */
function steps(query: SearchQuery, doc: Text, positions: readonly number[]): unknown {
	const searches = (query as unknown as { create(): Searches }).create();
	const plain = (match: Place | null) => match && [match.from, match.to, searches.getReplacement(match)];
	return positions.map((position) => {
		const state = EditorState.create({ doc, selection: { anchor: Math.min(position, doc.length) } });
		const { from, to } = state.selection.main;
		const marks: [number, number][] = [];
		searches.highlight(state, 0, doc.length, (start, end) => end > start && marks.push([start, end]));
		const all = searches.matchAll(state, 1e9)?.map(plain);
		return [all, plain(searches.nextMatch(state, to, to)), plain(searches.prevMatch(state, from, from)), marks];
	});
}

interface Place {
	from: number;
	to: number;
}

interface Searches {
	nextMatch(state: EditorState, from: number, to: number): Place | null;
	prevMatch(state: EditorState, from: number, to: number): Place | null;
	matchAll(state: EditorState, limit: number): Place[] | null;
	highlight(state: EditorState, from: number, to: number, add: (from: number, to: number) => void): void;
	getReplacement(match: Place): string;
}

test('what a worker finds leads the commands of the editor where its own search does', (t) => {
	const text = 'one Two two22\n\ttwo-one 12 ﬁne x\n\nONE two 3\nonetwo';
	for (const { search, replace = '', regexp = false, caseSensitive = false, wholeWord = false } of [
		{ search: 'two', replace: 'a\\tb$1' },
		{ search: 'two', wholeWord: true },
		{ search: 'ONE', caseSensitive: true },
		{ search: 'two\\n', replace: '\\n' },
		{ search: 'f' },
		{ search: 'missing' },
		{ search: '(t)wo(\\d*)', replace: '$2-$1-$&-$$-$3', regexp: true },
		{ search: '\\w+\\s', replace: '\\n', regexp: true, wholeWord: true },
		{ search: '[^o]+', replace: '$&', regexp: true, caseSensitive: true },
	]) {
		const query = new SearchQuery({ search, replace, regexp, caseSensitive, wholeWord });
		const { doc } = EditorState.create({ doc: text });
		const matches = findMatches({ text, search, replace, regexp, caseSensitive, wholeWord, wordChars: '' });
		const found = new FoundQuery(query, { doc, matches });
		// Where no match is cut: from the middle of one the editor begins anew.
		const positions = [0, text.length, ...matches.places.filter((_, at) => at % 3 < 2)];
		t.deepEqual(steps(found, doc, positions), steps(query, doc, positions), search);
	}
	const any = { search: '.+', replace: '$&'.repeat(1000), regexp: true, caseSensitive: true, wholeWord: false };
	t.throws(() => findMatches({ text: 'a'.repeat(1e5), wordChars: '', ...any }), {
		message: 'The replacements are too long.',
	});
});

test('a search whose code could not be loaded is made again by the next command, and one that took too long is not', (t) => {
	const { doc } = EditorState.create({ doc: 'one two' });
	const missedOf = (matches: 'notLoaded' | 'tooSlow') => {
		const found = new FoundQuery(new SearchQuery({ search: 'two' }), { doc, matches });
		const missed: string[] = [];
		found.onMiss = (command) => missed.push(command);
		const searches = found.create() as Searches;
		t.is(searches.nextMatch(EditorState.create({ doc }), 0, 0), null);
		return missed;
	};
	t.deepEqual(missedOf('notLoaded'), ['next']);
	t.deepEqual(missedOf('tooSlow'), []);
});

test('as many beginnings overlap as a search by single characters would follow at once', (t) => {
	fc.assert(
		fc.property(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 }), (text) => {
			const ends = Array.from({ length: text.length }, (_, at) => text.slice(0, at + 1));
			const counts = ends.map((end) => ends.filter((beginning) => end.endsWith(beginning)).length);
			t.is(overlapsOf(text), Math.max(0, ...counts), text);
		}),
	);
	t.is(overlapsOf('-'.repeat(80)), 80);
	t.is(overlapsOf('const answer'), 1);
});

test('many lines are indented and dedented together as the editor does it one by one, and selected as before', (t) => {
	const [{ run: indentLines, shift: dedentLines }] = indentKeys;
	const run = (command: StateCommand, state: EditorState) => {
		let made: Transaction | undefined;
		t.true(command({ state, dispatch: (transaction) => (made = transaction) }));
		return made;
	};
	const place = fc.integer({ min: 0, max: 30 });
	fc.assert(
		fc.property(
			fc.array(fc.constantFrom('', 'a', ' a', '  a ', '\tb', '   \tb', '     '), { minLength: 1, maxLength: 9 }),
			fc.record({ start: place, fromEnd: place, isBackwards: fc.boolean(), unit: fc.constantFrom('\t', '  ') }),
			(beginning, { start, fromEnd, isBackwards, unit }) => {
				const lines = Array.from({ length: 2100 }, (_, n) => beginning[n % beginning.length] ?? '');
				const doc = lines.join('\n');
				const ends = [start, doc.length - fromEnd] as const;
				const [anchor, head] = isBackwards ? [ends[1], ends[0]] : ends;
				const selection = EditorSelection.range(anchor, head);
				const state = EditorState.create({ doc, selection, extensions: indentUnit.of(unit) });
				for (const [ours, its] of [
					[indentLines, indentMore],
					[dedentLines, indentLess],
				] as const) {
					const [made, expected] = [run(ours, state), run(its, state)];
					t.is(made?.newDoc.toString(), expected?.newDoc.toString());
					t.deepEqual(made?.newSelection.toJSON(), expected?.newSelection.toJSON());
					let changes = 0;
					made?.changes.iterChanges(() => changes++, true);
					t.true(changes <= 1);
				}
			},
		),
		{ numRuns: 60 },
	);
});
