import test from 'ava';
import fc from 'fast-check';
import { contentType, mayShowInline } from '../../src/index.js';

const plain = 'text/plain; charset=utf-8';
const bytes = 'application/octet-stream';

const served = test.macro({
	exec: (t, name: string, type: string) => {
		t.is(contentType(name), type);
		t.is(mayShowInline(name), type !== bytes);
	},
	title: (_, name, type) => `${name} is served as ${type}`,
});
test(served, 'a.png', 'image/png');
test(served, 'a.JPG', 'image/jpeg');
test(served, 'a.gif', 'image/gif');
test(served, 'a.webp', 'image/webp');
test(served, 'a.avif', 'image/avif');
test(served, 'a.mp3', 'audio/mpeg');
test(served, 'a.mp4', 'video/mp4');
test(served, 'a.mkv', 'video/x-matroska');
test(served, 'a.pdf', 'application/pdf');
for (const name of ['a.txt', 'a.md', 'a.csv', 'a.log', 'a.json', 'a.yaml', 'a.py', 'a.ts', 'a.sh', 'a.css']) {
	test(served, name, plain);
}
for (const extension of ['html', 'HTM', 'xhtml', 'xml', 'xsl', 'svg', 'js', 'mjs', 'wasm']) {
	test(served, `a.${extension}`, bytes);
}
for (const name of [
	'a.zip',
	'a.docx',
	'a.epub',
	'a.exe',
	'a.ttf',
	'a.bmp',
	'a.key',
	'a',
	'a.constructor',
	'a.__proto__',
]) {
	test(served, name, bytes);
}

test('no extension is served as a type that a browser executes', (t) => {
	const extension = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 6 });
	fc.assert(
		fc.property(extension, (each) =>
			/^(image\/(png|jpeg|gif|webp|avif)|audio\/[\w-]+|video\/[\w-]+|application\/pdf|text\/plain; charset=utf-8|application\/octet-stream)$/.test(
				contentType(`a.${each}`),
			),
		),
	);
	t.pass();
});
