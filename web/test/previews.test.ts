import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { constants, deflateRawSync, deflateSync, inflateRawSync } from 'node:zlib';
import type { Entry } from '@stowage/rules';
import test from 'ava';
import { Lexer } from 'marked';
import { Bomb, zipped } from '../../test/e2e/support/previewFiles.js';
import { usualMs } from '../../test/processorTime.js';
import { countTables, inflatedLength } from '../src/features/previews/common/bytes/inflatedLength.js';
import { imageSource } from '../src/features/previews/common/bytes/previewFile.js';
import { runInWorker, WorkerNotLoaded } from '../src/features/previews/common/bytes/runInWorker.js';
import { openZip, ZipTooLarge } from '../src/features/previews/common/bytes/zip.js';
import { mayTakeLong } from '../src/features/previews/common/images/decodingCost.js';
import { describeImage } from '../src/features/previews/common/images/imageFormat.js';
import { pictureIn } from '../src/features/previews/common/images/picture.js';
import { maxPixels, pixelsOf, pixelsOfAddress } from '../src/features/previews/common/images/pixels.js';
import { withQuotes } from '../src/features/previews/common/markup/cssTokens.js';
import { drawnOf, sheetsOf } from '../src/features/previews/common/markup/drawings.js';
import { FontBudget, fontBytes, fontBytesOfAddress } from '../src/features/previews/common/markup/fonts.js';
import { htmlAsXml, numberCharacters, textOfHtml } from '../src/features/previews/common/markup/htmlAsXml.js';
import {
	hasTooManyTracks,
	isShapedByPicture,
	namesTooManyAreas,
	repeatsTooOften,
} from '../src/features/previews/common/markup/layoutCost.js';
import { isOwnCall, mayOpenLink } from '../src/features/previews/common/markup/links.js';
import { isApart, textBound } from '../src/features/previews/common/markup/longTexts.js';
import { countElements, TooMuchMarkup } from '../src/features/previews/common/markup/markupBounds.js';
import { isNestedTooDeep, StyleBudget, stylesCostTooMuch } from '../src/features/previews/common/markup/styleCost.js';
import { valuesCostTooMuch } from '../src/features/previews/common/markup/styleValues.js';
import { maxCollapsedPlaces, maxSpannedPlaces, placesOf } from '../src/features/previews/common/markup/tablePlaces.js';
import { languageIn } from '../src/features/previews/document/languageIn.js';
import { assertModestFiles, assertModestPages } from '../src/features/previews/document/wordBounds.js';
import { bookPaths } from '../src/features/previews/epub/bookPaths.js';
import { nextReading, parsePosition, type Reading, storedPosition } from '../src/features/previews/epub/reading.js';
import { connectFrame } from '../src/features/previews/frame/frameLink.js';
import { frameEvent } from '../src/features/previews/frame/frameMessages.js';
import { scaleAfter } from '../src/features/previews/frame/zoom.js';
import { fitted, panBy, panOfKey, pinchTo, rotate, zoomTo } from '../src/features/previews/image/imageView.js';
import { undrawnState } from '../src/features/previews/image/undrawn.js';
import { replaceAddresses } from '../src/features/previews/inFrame/cssAddresses.js';
import { neighboursOf } from '../src/features/previews/panel/neighbours.js';
import { boundMemory, maxUnpackedBytes } from '../src/features/previews/pdf/boundMemory.js';
import { boundPages } from '../src/features/previews/pdf/boundPages.js';
import { encodingOf } from '../src/features/previews/text/encodings.js';
import { isNumber } from '../src/features/previews/text/isNumber.js';
import { languageOf } from '../src/features/previews/text/languages.js';
import { htmlTree, markdownTree } from '../src/features/previews/text/markdownTree.js';
import { askOnce } from '../src/features/previews/text/renderMarkdown.js';
import { runTextTask } from '../src/features/previews/text/runTextTask.js';
import { colouredBlocks, textBlocks } from '../src/features/previews/text/sourceBlocks.js';
import { subtitlesOf, toVtt } from '../src/features/previews/video/subtitles.js';

test('a picture zooms from 0.1 to 5', (t) => {
	t.is(zoomTo(fitted, 0.01).zoom, 0.1);
	t.is(zoomTo(fitted, 9).zoom, 5);
	t.is(zoomTo(fitted, 1.1 + 0.1).zoom, 1.2);
});

test('zooming keeps the point below the pointer in place', (t) => {
	const view = zoomTo(zoomTo(fitted, 2, { x: 100, y: -40 }), 4, { x: 100, y: -40 });
	t.deepEqual(view, { zoom: 4, rotation: 0, x: -300, y: 120 });
});

test('a picture can be moved only while it is enlarged and within its bounds, and is centred at a zoom of 1', (t) => {
	const drawn = { width: 400, height: 200 };
	t.deepEqual(panBy(fitted, { x: 10, y: 10 }, drawn), fitted);
	const moved = panBy(zoomTo(fitted, 2), { x: 5000, y: -5000 }, drawn);
	t.deepEqual([moved.x, moved.y], [400, -200]);
	t.deepEqual(zoomTo(moved, 1), fitted);
});

test('two fingers zoom a picture by how far they have come since they were put on it, however slowly', (t) => {
	const begun = { view: zoomTo(fitted, 1.5), distance: 200 };
	t.is(pinchTo(begun, 200.4, { x: 0, y: 0 }).zoom, 1.5);
	t.is(pinchTo(begun, 300, { x: 0, y: 0 }).zoom, 2.25);
	t.deepEqual(pinchTo(begun, 400, { x: 30, y: -10 }), zoomTo(begun.view, 3, { x: 30, y: -10 }));
});

test('pages are zoomed in steps, from a tenth of their size to five times of it', (t) => {
	t.is(scaleAfter(1, 'in'), 1.25);
	t.is(scaleAfter(1.25, 'out'), 1);
	t.is(scaleAfter(4.5, 'in'), 5);
	t.is(scaleAfter(0.11, 'out'), 0.1);
});

test('a picture that the server does not draw is broken only where it has a renderer, which must be known', (t) => {
	const state = (renderer: 'there' | 'none' | 'loading' | 'unreachable') =>
		undrawnState({ wanted: 'rendition', isKnown: true, renderer });
	t.is(state('there'), 'broken');
	t.is(state('none'), 'notAvailable');
	t.is(state('loading'), 'loading');
	t.is(state('unreachable'), 'unreachable');
	t.is(undrawnState({ wanted: 'rendition', isKnown: false, renderer: 'there' }), 'notAvailable');
	t.is(undrawnState({ wanted: 'none', isKnown: true, renderer: 'none' }), 'broken');
});

test('an arrow key shows what lies there of an enlarged picture, and has no use for another one', (t) => {
	t.deepEqual(panOfKey('ArrowRight', zoomTo(fitted, 2)), { x: -64, y: 0 });
	t.deepEqual(panOfKey('ArrowUp', zoomTo(fitted, 1.1)), { x: 0, y: 64 });
	t.is(panOfKey('Home', zoomTo(fitted, 2)), undefined);
	t.is(panOfKey('ArrowRight', fitted), undefined);
	t.is(panOfKey('ArrowRight', zoomTo(fitted, 0.5)), undefined);
});

test('four rotations restore a picture', (t) => {
	t.is(rotate(rotate(rotate(fitted))).rotation, 270);
	t.deepEqual(rotate(rotate(rotate(rotate(fitted)))), fitted);
});

const file = (name: string, folder = ''): Entry => ({ name, path: folder + name, type: 'file', size: 10, mtime: 0 });

test('the neighbours of a preview are of the same kind, in the order on screen', (t) => {
	const entries = [file('c.png'), file('x.txt'), file('b.svg'), file('film.mp4'), file('a.jpg')];
	t.deepEqual(neighboursOf(entries, file('b.svg'), 'image'), { previous: file('c.png'), next: file('a.jpg') });
	t.deepEqual(neighboursOf(entries, file('c.png'), 'image'), { previous: undefined, next: file('b.svg') });
	t.deepEqual(neighboursOf(entries, file('x.txt'), 'text'), { previous: undefined, next: undefined });
});

test('a file that is renamed or deleted while it is shown keeps the neighbours of its old place that still exist', (t) => {
	const listed = [file('a.jpg'), file('b.jpg'), file('c.jpg'), file('d.jpg')];
	const renamed = [file('a.jpg'), file('d.jpg'), file('z.jpg')];
	t.deepEqual(neighboursOf(renamed, file('c.jpg'), 'image', listed), { previous: file('a.jpg'), next: file('d.jpg') });
	t.deepEqual(neighboursOf([], file('c.jpg'), 'image', listed), { previous: undefined, next: undefined });
});

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));

test('the size of a picture is read from its first bytes', (t) => {
	t.deepEqual(describeImage(hex('89504e470d0a1a0a 0000000d 49484452 0000c350 00002710')), {
		type: 'image/png',
		width: 50_000,
		height: 10_000,
	});
	t.deepEqual(describeImage(hex('ffd8 ffe00004 0000 ffc0 0011 08 0100 0200 03')), {
		type: 'image/jpeg',
		width: 512,
		height: 256,
	});
	const gif = '474946383961 2003 5802 000000 2c 0000 0000 2003 5802 00';
	t.deepEqual(describeImage(hex(gif)), { type: 'image/gif', width: 800, height: 600 });
	const bitmap = { type: 'image/bmp', width: 640, height: 480 };
	t.deepEqual(describeImage(hex('424d 00000000 00000000 36000000 28000000 80020000 20feffff')), bitmap);
	// Of OS/2, with numbers of 16 bits.
	t.deepEqual(describeImage(hex('424d 00000000 00000000 1a000000 0c000000 8002 e001 0100 1800')), bitmap);
	t.deepEqual(describeImage(hex('89504e47')), { type: 'image/png', width: 0, height: 0 });
});

const pngOf = (width: number, height: number) => {
	const head = Buffer.from('89504e470d0a1a0a0000000d49484452000000000000000001000000000000', 'hex');
	head.writeUInt32BE(width, 16);
	head.writeUInt32BE(height, 20);
	return head;
};

test('a picture within a file is known by its pixels, and one without a known size counts as endless', (t) => {
	t.is(pixelsOf(pngOf(30_000, 30_000)), 900_000_000);
	// A browser enlarges a GIF to its first frame, here behind an extension.
	const gif = '474946383961 0100 0100 000000 21f904 00000000 00 2c 0000 0000 3075 3075 00';
	t.is(pixelsOf(hex(gif)), 900_000_000);
	const type = '00000010 66747970 61766966 00000000';
	const size = '00000014 69737065 00000000 00003e80 00003e80';
	t.is(pixelsOf(hex(`${type} 0000001c 6d657461 ${size}`)), 256_000_000);
	for (const other of ['', '89504e47', 'ffd8', '00000018 66747970 68656963', '3c737667']) {
		t.is(pixelsOf(hex(other)), Number.POSITIVE_INFINITY, other);
	}
	// A size in a box that no decoder reads, before one that lies further back.
	t.is(pixelsOf(hex(`${type} 0000001c 66726565 ${size} 00001000 6d657461`)), Number.POSITIVE_INFINITY);
	// Behind the extensions of a GIF, and behind markers that have no length or are filled up.
	t.is(pixelsOf(hex('474946383961 0100 0100 000000 21fe ff')), Number.POSITIVE_INFINITY);
	for (const marker of ['ffd0', 'ff01', 'ff', 'ffff']) {
		t.is(pixelsOf(hex(`ffd8 ${marker} ffc0 0011 08 4e20 4e20 03 000000 ffc0 0011 08 0001 0001`)), 400_000_000, marker);
	}
	t.is(pixelsOf(hex('ffd8 00 ffc0 0011 08 0001 0001 03')), Number.POSITIVE_INFINITY);
	t.is(pixelsOf(hex('ffd8 ffda ffc0 0011 08 0001 0001 03')), Number.POSITIVE_INFINITY);
	const address = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;
	t.is(pixelsOfAddress(address(pngOf(20, 30))), 600);
	t.is(pixelsOfAddress('data:image/png,%89PNG'), Number.POSITIVE_INFINITY);
	// A browser decodes percent signs before it decodes base64.
	t.is(pixelsOfAddress(address(pngOf(20, 30)).replaceAll('A', '%41')), 600);
	t.is(pixelsOfAddress('data:image/png;base64,iVBO_w0KGgo'), Number.POSITIVE_INFINITY);
});

test('a picture whose size can not be found is not drawn from its own bytes', (t) => {
	const shown = (name: string, bytes: Uint8Array) =>
		imageSource({ name, url: 'own', renditionUrl: 'rendition' }, pictureIn(bytes));
	const unknown = hex(`ffd8 ffe2 1f40 ${'00'.repeat(100)}`);
	const expected = { kind: 'rendition', url: 'rendition', otherwise: { kind: 'none' } };
	t.deepEqual(shown('a.jpg', unknown), expected);
	t.deepEqual(shown('a.ico', unknown), expected);
	t.deepEqual(shown('a.jpg', hex('ffd8 ffc0 0011 08 0100 0200 03')), { kind: 'address', url: 'own' });
	t.is(shown('a.ico', hex('00000100')).kind, 'blob');
});

test('a picture in a format that only browsers know is not drawn, but for icons', (t) => {
	const shown = (name: string, bytes: string) =>
		imageSource({ name, url: 'own', renditionUrl: 'rendition' }, pictureIn(hex(bytes)));
	const ofJpegXl = ['ff0a 4f06', '0000000c 4a584c20 0d0a870a'];
	const ofJpeg2000 = ['ff4fff51', '0000000c 6a502020 0d0a870a'];
	for (const bytes of ['', '00', '00000300', '3c737667', ...ofJpegXl, ...ofJpeg2000]) {
		for (const name of ['a.png', 'a.ico']) t.deepEqual(shown(name, bytes), { kind: 'none' }, bytes);
	}
	t.deepEqual(shown('a.svg', '3c737667'), { kind: 'blob', url: 'own', type: 'image/svg+xml' });
	t.deepEqual(shown('a.png', '00000100'), { kind: 'address', url: 'own' });
	t.is(shown('a.ico', '00000200').kind, 'blob');
	t.is(shown('a.heic', 'ff0a').kind, 'rendition');
});

const u32 = (...values: number[]) => Buffer.from(new Uint32Array(values).buffer).swap32();

/** The directory of a font, whose tables announce that they have so many bytes each. */
const fontOf = (beginning: 'wOFF' | 'wOF2' | 'OTTO', tables: Readonly<Record<string, number>>) => {
	const names = Object.keys(tables);
	const header = Buffer.alloc({ wOFF: 44, wOF2: 48, OTTO: 12 }[beginning]);
	header.write(beginning, 'latin1');
	header.writeUInt16BE(names.length, beginning === 'OTTO' ? 4 : 12);
	const entries = names.map((name) => {
		const size = tables[name] ?? 0;
		if (beginning === 'wOFF') return Buffer.concat([Buffer.from(name), u32(0, 0, size, 0)]);
		if (beginning === 'OTTO') return Buffer.concat([Buffer.from(name), u32(0, 0, size)]);
		const length = [4, 3, 2, 1, 0].map((place) => ((size >> (7 * place)) & 127) | (place > 0 ? 128 : 0));
		return Buffer.from([63, ...Buffer.from(name), ...length.slice(length.findIndex((each) => each !== 128))]);
	});
	// What comes behind it.
	return Buffer.concat([header, ...entries, Buffer.alloc(12)]);
};
const fontAddress = (bytes: Uint8Array, from = '') =>
	`data:font/woff2;charset=utf-8;base64,${from}${Buffer.from(bytes).toString('base64')}`;

test('what has the type of a font is one', async (t) => {
	const beginnings = ['00010000', '4f54544f', '774f4646', '774f4632', '74746366', '74727565'];
	for (const bytes of beginnings) {
		const font = hex(`${bytes} ${'00'.repeat(60)}`);
		t.true(fontBytes(font) < 100, bytes);
		t.true(fontBytesOfAddress(fontAddress(font)) < 100, bytes);
		t.is(fontBytesOfAddress(fontAddress(font, '%20')), Number.POSITIVE_INFINITY);
		t.is(fontBytesOfAddress(fontAddress(font).replace(';base64', '')), Number.POSITIVE_INFINITY);
		t.is(fontBytes(font.subarray(0, 5)), Number.POSITIVE_INFINITY);
	}
	const others = ['', '0001', '00000100', 'ff0a4f06', '89504e47'].map(hex);
	for (const bytes of [...others, pngOf(20_000, 20_000)]) {
		t.is(fontBytes(bytes), Number.POSITIVE_INFINITY);
		t.is(fontBytesOfAddress(fontAddress(bytes)), Number.POSITIVE_INFINITY);
	}
	for (const own of [
		'@fontsource-variable/lexend/files/lexend-latin-wght-normal.woff2',
		'pdfjs-dist/standard_fonts/LiberationSans-Bold.ttf',
	]) {
		const font = await readFile(createRequire(import.meta.url).resolve(own));
		const size = fontBytes(font);
		t.true(size >= font.length && size < 4 * font.length, own);
		t.true(Math.abs(fontBytesOfAddress(fontAddress(font)) - size) < 4, own);
	}
});

test('a font whose glyphs are pictures or drawings is left out, but not for pictures that no browser draws', (t) => {
	const isLeftOut = (font: Uint8Array) => !new FontBudget().admits(font);
	for (const beginning of ['OTTO', 'wOFF', 'wOF2'] as const) {
		for (const name of ['sbix', 'CBDT', 'SVG ']) {
			t.true(isLeftOut(fontOf(beginning, { cmap: 1, [name]: 100 })), `${beginning} ${name}`);
		}
		t.false(isLeftOut(fontOf(beginning, { cmap: 1, EBDT: 100, COLR: 200, glyf: 1000 })), beginning);
	}
	for (const number of [32, 36, 37]) {
		const known = fontOf('wOF2', { cmap: 1 });
		known[48] = number;
		t.true(isLeftOut(known), `${number}`);
	}
	const first = Buffer.concat([Buffer.from('ttcf'), u32(0x10000, 2, 20, 20)]);
	t.true(isLeftOut(Buffer.concat([first, fontOf('OTTO', { sbix: 1 })])));
	t.false(isLeftOut(Buffer.concat([first, fontOf('OTTO', { glyf: 1 })])));
});

test('a collection of fonts whose directories overlap is left out', (t) => {
	const tables = 1000;
	const directories = Buffer.alloc(12 + 16 * tables + 100);
	const collection = (offsets: readonly number[]) =>
		Buffer.concat([Buffer.from('ttcf'), u32(0x10000, offsets.length, ...offsets), directories]);
	const begin = 12 + 4 * 100;
	for (let n = 0; n < 100; n++) directories.writeUInt8(tables >> 8, n);
	t.is(fontBytes(collection(Array.from({ length: 100 }, (_, n) => begin + n))), Number.POSITIVE_INFINITY);
	const same = collection(Array.from({ length: 100 }, () => begin));
	t.is(fontBytes(same), same.length, 'one is read once');
});

test('fonts have no more bytes together than a bound, as a browser unpacks them', (t) => {
	for (const beginning of ['wOFF', 'wOF2'] as const) {
		const font = fontOf(beginning, { GSUB: 100_000_000, cmap: 300 });
		t.is(fontBytes(font), 100_000_300);
		t.is(fontBytesOfAddress(fontAddress(font)), 100_000_300);
		const fonts = new FontBudget();
		const addresses = [font, Buffer.concat([font, Buffer.alloc(3)])].map((bytes) => fontAddress(bytes));
		t.deepEqual(
			addresses.map((address) => fonts.admitsAddress(address)),
			[true, false],
		);
		t.true(fonts.admitsAddress(fontAddress(font)), 'each counts once');
		t.true(fonts.admits(fontOf(beginning, { GSUB: 50_000_000 })));
	}
	const whole = fontOf('wOF2', { cmap: 300 });
	whole.writeUInt32BE(300_000_000, 16);
	t.false(new FontBudget().admits(whole));
	// A `glyf` table as it is, and one that is transformed.
	const glyphs = Buffer.concat([Buffer.alloc(48), Buffer.from([0xca, 100, 10, 5, 0x88, 0x80, 0x80, 0])]);
	glyphs.write('wOF2', 'latin1');
	glyphs.writeUInt16BE(2, 12);
	t.is(fontBytes(glyphs), 100 + 8 * 128 ** 3);
});

test('an animation with more frames than a browser goes through in a moment is not drawn from its own bytes', (t) => {
	const animation = (frames: number, flags = '02') =>
		Buffer.concat([
			hex(`52494646 00000000 57454250 56503858 0a000000 ${flags}000000 0f0000 0f0000`),
			...Array<Buffer>(frames).fill(Buffer.from('ANMF\x18\0\0\0'.padEnd(32, 'A'), 'latin1')),
		]);
	const address = (bytes: Buffer) => `data:image/webp;base64,${bytes.toString('base64')}`;
	t.is(pixelsOf(animation(2000)), 256);
	t.is(pixelsOf(animation(2001)), Number.POSITIVE_INFINITY);
	t.is(pixelsOf(animation(2001, '00')), 256, 'its frames are those of no animation');
	t.is(pixelsOfAddress(address(animation(2000))), 256);
	t.is(pixelsOfAddress(address(animation(2001))), Number.POSITIVE_INFINITY);
	// A large frame comes first.
	const late = Buffer.concat([animation(1), Buffer.alloc(500_000), animation(2000)]);
	t.is(pixelsOfAddress(address(late)), Number.POSITIVE_INFINITY);
	const shown = imageSource({ name: 'a.webp', url: 'own', renditionUrl: 'rendition' }, pictureIn(animation(2001)));
	t.deepEqual(shown, { kind: 'rendition', url: 'rendition', otherwise: { kind: 'none' } });
});

test('a WebP with more chunks than a browser goes through in a moment is not drawn from its own bytes', (t) => {
	const le = (value: number) => {
		const bytes = Buffer.alloc(4);
		bytes.writeUInt32LE(value);
		return bytes;
	};
	const chunk = (name: string, content: Uint8Array = Buffer.alloc(0), length = content.length) =>
		Buffer.concat([Buffer.from(name), le(length), content, Buffer.alloc(content.length % 2)]);
	const header = (flags: string) => chunk('VP8X', hex(`${flags}000000 0f0000 0f0000`));
	const webp = (chunks: readonly Buffer[], length = Buffer.concat(chunks).length) =>
		Buffer.concat([Buffer.from('RIFF'), le(4 + length), Buffer.from('WEBP'), ...chunks]);
	const many = (count: number, content?: Uint8Array) => Array<Buffer>(count).fill(chunk('abcd', content));
	const still = header('00');
	t.is(pixelsOf(webp([still, ...many(9_999)])), 256);
	t.is(pixelsOf(webp([still, ...many(10_000)])), Number.POSITIVE_INFINITY);
	t.is(pixelsOf(webp([still, ...many(10_000, Buffer.from('a'))])), Number.POSITIVE_INFINITY, 'of an odd length');
	const address = `data:image/webp;base64,${webp([still, ...many(200_000)]).toString('base64')}`;
	t.is(pixelsOfAddress(address), Number.POSITIVE_INFINITY);
	const within = chunk('ANMF', Buffer.concat([Buffer.alloc(16), ...many(10_000)]));
	t.is(pixelsOf(webp([header('02'), within])), Number.POSITIVE_INFINITY, 'behind the picture of a frame');
	t.is(pixelsOf(webp([still, chunk('VP8 ', Buffer.concat(many(20_000)))])), 256, 'what only looks like them');
	t.is(pixelsOf(webp([still, ...many(20_000)], still.length)), 256, 'behind its end');
	const picture = pictureIn(webp([still, ...many(10_000)]));
	const shown = imageSource({ name: 'a.webp', url: 'own', renditionUrl: 'rendition' }, picture);
	t.deepEqual(shown, { kind: 'rendition', url: 'rendition', otherwise: { kind: 'none' } });
});

test('an animation with many frames that each give way to what was there before is not drawn from its own bytes', (t) => {
	const gif = (frames: number, control: string) =>
		hex(
			`474946383961 1000 1000 000000 ${`21f904${control}05000000 2c 00000000 01000100 00 02024401 00`.repeat(frames)} 3b`,
		);
	t.is(pixelsOf(gif(2000, '0c')), 256);
	t.is(pixelsOf(gif(2001, '0c')), Number.POSITIVE_INFINITY);
	t.is(pixelsOf(gif(2001, '10')), Number.POSITIVE_INFINITY, 'as a browser reads a number that has no meaning');
	t.is(pixelsOf(gif(9000, '08')), 256);
	const chunk = (name: string, content = '') =>
		`${(content.replaceAll(' ', '').length / 2).toString(16).padStart(8, '0')} ${Buffer.from(name).toString('hex')} ${content} 00000000`;
	const header = `89504e470d0a1a0a ${chunk('IHDR', '00000010 00000010 0806000000')}`;
	const frame = (disposal: string) => chunk('fcTL', `${'00'.repeat(24)}${disposal}00`);
	const png = (frames: number, disposal: string) =>
		hex(`${header} ${chunk('acTL', '00002000 00000000')} ${frame(disposal).repeat(frames)} ${chunk('IDAT')}`);
	t.is(pixelsOf(png(2000, '02')), 256);
	t.is(pixelsOf(png(2001, '02')), Number.POSITIVE_INFINITY);
	t.is(pixelsOf(png(9000, '01')), 256);
	// Of these all is read before they are drawn.
	t.true(mayTakeLong(gif(1, '0c')));
	t.true(mayTakeLong(png(1, '02')));
	t.true(mayTakeLong(hex(`${header} ${chunk('tEXt', '00'.repeat(9000))}`).subarray(0, 4096)));
	t.true(mayTakeLong(hex(`${header} ${chunk('tEXt', Buffer.from('IDAT').toString('hex'))}`)));
	t.false(mayTakeLong(hex(`${header} ${chunk('IDAT')} ${chunk('acTL')}`)));
	const address = (type: string, bytes: Uint8Array) =>
		`data:image/${type};base64,${Buffer.from(bytes).toString('base64')}`;
	t.is(pixelsOfAddress(address('gif', gif(30_000, '0c'))), Number.POSITIVE_INFINITY);
	t.is(pixelsOfAddress(address('gif', gif(30_000, '0c')).replace(/.{90}$/, '%0A$&')), Number.POSITIVE_INFINITY);
	t.is(pixelsOfAddress(address('png', png(30_000, '02'))), Number.POSITIVE_INFINITY);
});

test('an animation with larger frames than a browser draws in a moment is not drawn from its own bytes', (t) => {
	const [shown, refused] = [0x0fa0, 0x0fa1];
	const digits = (value: number, bytes: number) => value.toString(16).padStart(2 * bytes, '0');
	const reversed = (value: number, bytes: number) => Buffer.from(digits(value, bytes), 'hex').reverse().toString('hex');
	const gifFrame = '21f9040405000000 2c 00000000 01000100 00 02024401 00';
	const gif = (side: number, frames: string) =>
		hex(`474946383961 ${reversed(side, 2).repeat(2)} 800000 000000 ffffff 21fe 02 2c2c 00 ${frames} 3b`);
	const webp = (side: number, frames: number) =>
		hex(
			`52494646 00000000 57454250 56503858 0a000000 02000000 ${reversed(side - 1, 3).repeat(2)} ${`414e4d46 18000000 ${'00'.repeat(24)}`.repeat(frames)}`,
		);
	const chunk = (name: string, content: string) =>
		`${digits(content.length / 2, 4)} ${Buffer.from(name).toString('hex')} ${content} 00000000`;
	const png = (side: number, frames: number) =>
		hex(
			`89504e470d0a1a0a ${chunk('IHDR', `${digits(side, 4).repeat(2)}0806000000`)} ${chunk('acTL', '00'.repeat(8))} ${chunk('fcTL', '00'.repeat(26)).repeat(frames)}`,
		);
	for (const [made, kind] of [
		[(side: number, frames: number) => gif(side, gifFrame.repeat(frames)), 'GIF'],
		[webp, 'WebP'],
		[png, 'PNG'],
	] as const) {
		t.is(pixelsOf(made(shown, 2)), 16_000_000, kind);
		t.is(pixelsOf(made(refused, 2)), Number.POSITIVE_INFINITY, kind);
		t.is(pixelsOf(made(refused, 1)), refused ** 2, `one frame, which is no animation: ${kind}`);
	}
	// Frames behind what fills a GIF up, without a word before them, and with colours of their own.
	const bare = '2c 00000000 01000100 80 000000 ffffff 02024401 00';
	t.is(pixelsOf(gif(refused, `${bare} 00 ${bare}`)), Number.POSITIVE_INFINITY);
	t.is(pixelsOf(gif(refused, `${bare} 3b ${bare}`)), refused ** 2, 'behind its end');
});

test('a JPEG with more scans than a browser goes through in a moment is not drawn from its own bytes', (t) => {
	const side = (pixels: number) => pixels.toString(16).padStart(4, '0');
	const jpeg = (scans: number, { frame = 'c2', pixels = 8000 } = {}) =>
		hex(
			`ffd8 ff${frame} 0011 08 ${side(pixels)} ${side(pixels)} 03 ${'00'.repeat(9)} ffda 000c 03 ${'00'.repeat(9)} 20 ${'ffda 0008 01 01 00 01 3f 00 20'.repeat(scans - 1)} ffd9`,
		);
	t.is(pixelsOf(jpeg(31)), 64_000_000);
	t.is(pixelsOf(jpeg(32)), Number.POSITIVE_INFINITY);
	t.is(pixelsOf(jpeg(500, { pixels: 2000 })), 4_000_000);
	t.is(pixelsOf(jpeg(501, { pixels: 2000 })), Number.POSITIVE_INFINITY);
	t.is(pixelsOf(jpeg(501, { pixels: 2000, frame: 'c0' })), Number.POSITIVE_INFINITY);
	// Of these all is read before they are drawn.
	t.true(mayTakeLong(jpeg(1)));
	t.true(mayTakeLong(jpeg(1, { frame: 'c0' })), 'of any kind');
	const late = Buffer.concat([jpeg(1).subarray(0, -2), Buffer.alloc(500_000), jpeg(32)]);
	t.is(pixelsOfAddress(`data:image/jpeg;base64,${late.toString('base64')}`), Number.POSITIVE_INFINITY);
});

test('compressed data are as long as they become, by whatever program they are written', (t) => {
	const text = Buffer.from(JSON.stringify(Array.from({ length: 30_000 }, (_, index) => index ** 2)));
	for (const bytes of [text, randomBytes(200_000), Buffer.alloc(200_000), Buffer.from('a'), Buffer.alloc(0)]) {
		for (const level of [0, 1, 6, 9]) {
			const packed = deflateRawSync(bytes, { level });
			t.is(inflatedLength(packed, 10_000_000), bytes.length, `level ${level}`);
			t.true(inflatedLength(packed.subarray(0, -1), 10_000_000) <= bytes.length, 'a part of them');
		}
		for (const strategy of [constants.Z_FIXED, constants.Z_HUFFMAN_ONLY, constants.Z_RLE])
			t.is(inflatedLength(deflateRawSync(bytes, { strategy }), 10_000_000), bytes.length, `strategy ${strategy}`);
	}
	t.true(inflatedLength(deflateRawSync(Buffer.alloc(10_000_000)), 1000) > 1000);
});

test('a ZIP is read whose blocks of compressed data are no more than a browser unpacks in time', (t) => {
	// Without content: the codes for lengths, 15 letters with 1 to 15 bits, the end of the block, and a distance.
	const bits: number[] = [];
	const put = (value: number, count: number) => {
		for (let at = 0; at < count; at++) bits.push((value >> at) & 1);
	};
	const code = (value: number) => {
		for (const at of [3, 2, 1, 0]) bits.push((value >> at) & 1);
	};
	put(0b100, 3);
	put(0, 10);
	put(15, 4);
	for (const length of [0, 0, 4, 0, ...Array<number>(15).fill(4)]) put(length, 3);
	for (let length = 0; length < 15; length++) code(length);
	for (const zeros of [138, 103]) {
		code(15);
		put(zeros - 11, 7);
	}
	code(14);
	code(0);
	put(0x7fff, 15);
	const zipOf = (blocks: number) => {
		const all = Array.from({ length: blocks }, () => bits).flat();
		all.push(1, 1, 0, ...Array<number>(7).fill(0));
		const packed = Buffer.alloc(Math.ceil(all.length / 8));
		for (const [at, bit] of all.entries()) packed[at >> 3] = (packed[at >> 3] ?? 0) | (bit << (at & 7));
		t.is(inflateRawSync(packed).length, 0);
		t.is(countTables(packed, 1_000_000), blocks);
		const content = Object.assign(new Bomb(0), { packed, size: 0 });
		return openZip(zipped({ mimetype: 'x', 'a.xml': content, 'b.xml': content }), 1000);
	};
	const few = zipOf(2000);
	t.is(few.read('a.xml')?.length, 0);
	t.is(few.read('b.xml')?.length, 0);
	const many = zipOf(15_001);
	t.throws(() => many.read('a.xml'), { instanceOf: ZipTooLarge });
	// Of what programs write, blocks are no bound before bytes are.
	for (const level of [1, 6, 9]) {
		const packed = deflateRawSync(randomBytes(4_000_000).toString('base64'), { level });
		t.true(countTables(packed, 15_000) < 500, `level ${level}`);
	}
});

test('files of a ZIP that share their data are unpacked no further than the whole ZIP is long', (t) => {
	const files = zipped(Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`${n}.xml`, 'a'.repeat(9)])));
	// Blocks that are as they are, and empty.
	const data = Buffer.concat([Buffer.alloc(5000, Buffer.from('000000ffff', 'hex')), Buffer.from('010000ffff', 'hex')]);
	const header = Buffer.alloc(30);
	header.write('PK\x03\x04', 'latin1');
	const directory = Buffer.from(files.subarray(files.indexOf('PK\x01\x02')));
	for (let at = 0; directory.readUInt32LE(at) === 0x02014b50; at += 46 + 5) {
		directory.writeUInt16LE(8, at + 10);
		directory.writeUInt32LE(data.length, at + 20);
		directory.writeUInt32LE(0, at + 42);
	}
	directory.writeUInt32LE(header.length + data.length, directory.length - 6);
	const shared = openZip(Buffer.concat([header, data, directory]), 1000);
	t.is(shared.read('0.xml')?.length, 0);
	t.is(shared.read('0.xml')?.length, 0, 'it is kept');
	t.throws(() => shared.read('1.xml'), { instanceOf: ZipTooLarge });

	const honest = openZip(files, 1000);
	for (const name of honest.names) t.is(honest.read(name)?.length, 9);
	const broken = openZip(Buffer.from(files).fill(0xff, 30 + 5 + 9 + 30 + 5, 30 + 5 + 9 + 30 + 5 + 3), 1000);
	for (let times = 0; times < 100; times++) t.throws(() => broken.read('1.xml'), { message: 'invalid block type' });
	t.is(broken.read('2.xml')?.length, 9, 'a broken one is read once');
});

test('style sheets have no more selectors and declarations together than a browser reads in time', (t) => {
	const noElements = { querySelectorAll: () => [] } as never;
	for (const part of ['a{top:0}', 'a,', 'top:0;']) {
		const sheet = (count: number) => (part === 'top:0;' ? `a{${part.repeat(count)}}` : `${part.repeat(count)}a{}`);
		t.false(stylesCostTooMuch(noElements, [sheet(5000)]), part);
		t.true(stylesCostTooMuch(noElements, [sheet(201_000)]), part);
		const budget = new StyleBudget();
		t.true(budget.admits(sheet(150_000)), part);
		t.false(budget.admits(sheet(100_000)), 'together');
		t.true(budget.admits(sheet(40_000)), 'others are read');
	}
	t.true(new StyleBudget().admits(`@font-face{src:url(data:font/woff2;base64,${'A'.repeat(1_000_000)})}`));
});

/** Elements of some types beside each other, with these attributes. */
const elementsOf = (counts: Record<string, number>, attributes: Record<string, string> = {}) => {
	const all = Object.entries(counts).flatMap(([localName, count]) =>
		Array.from({ length: count }, () => ({
			localName,
			parentElement: null,
			childElementCount: 0,
			classList: [],
			id: '',
			getAttribute: (name: string) => attributes[name] ?? null,
		})),
	);
	return { querySelectorAll: () => all } as never;
};

test('tracks of a grid are repeated by a number of three digits at most', (t) => {
	for (const times of ['1000', '9999999', '+9999', 'calc(9999)', 'var(--n)', '/**/9999', `${' '.repeat(40)}9999`, ''])
		t.true(repeatsTooOften(`repeat(2, 1px) repeat(${times}, [a] 1px)`), times);
	t.true(repeatsTooOften('--t: r\\65 peat(9999, 1px)'));
	t.true(repeatsTooOften('REPEAT(9999, 1px)'));
	for (const times of ['1', '999', ' 12 ', 'auto-fill', 'Auto-Fit'])
		t.false(repeatsTooOften(`grid: repeat(${times}, [a] 1px) / repeat(2, 1fr)`), times);
	t.false(repeatsTooOften('background: repeat-x; animation: repeat'));
});

test('what is repeated counts by its length', (t) => {
	t.true(hasTooManyTracks(`repeat(999, ${'[a] 1px '.repeat(100)})`));
	t.true(hasTooManyTracks('repeat(999, [a] 1px) '.repeat(20)));
	t.true(hasTooManyTracks('repeat(1000, 1px)'));
	for (const value of [
		'repeat(999, 1px)',
		'repeat(12, [col-start] 1fr [col-end])',
		'repeat(auto-fill, minmax(9em, 1fr))',
	])
		t.false(hasTooManyTracks(value), value);
});

test('a grid names no more areas than a browser writes again in time', (t) => {
	const areas = Array.from({ length: 900 }, (_, at) => `"a${at} b${at}"`).join(' ');
	t.true(namesTooManyAreas(`@media all { div { /* ; */ grid-template-areas: ${areas} } }`));
	t.true(namesTooManyAreas(`display: grid; gr\\69 d: ${areas}`), 'of one element, by an escape');
	const few = `div { grid-template-areas: ${areas.slice(0, 1500)} }`;
	t.true(namesTooManyAreas(few.repeat(2)), 'together');
	t.false(namesTooManyAreas(few));
	const honest = 'div { grid-template-areas: "head head" "side main"; grid: "a b" 1fr / 2em auto }';
	t.false(namesTooManyAreas(honest.repeat(200)));
	t.false(namesTooManyAreas(`${honest} /* ${areas} */ b { content: "${'x'.repeat(6000)}" }`));
	t.false(namesTooManyAreas(`${honest} /*# sourceMappingURL=data:application/json;base64,${'grid'.repeat(9000)} */`));
});

test('lines go around the shapes that a style says, and around no picture or gradient', (t) => {
	for (const value of [
		'linear-gradient(red, transparent)',
		'url("a.png")',
		'circle(50%) var(--x)',
		'-webkit-image-set("a.png" 1x)',
		'cross-fade(red, blue)',
	])
		t.true(isShapedByPicture(value), value);
	for (const value of [
		'',
		'none',
		'margin-box',
		'circle(50%) border-box',
		'polygon(0px 0px, calc((1px + 2px) * 3) 100%)',
		'path("M0 0")',
		'polygon(calc(sin(30deg) * 1px) round(3px, 2px), 0 hypot(3px, 4px))',
	])
		t.false(isShapedByPicture(value), value);
});

test('the places of a table are counted as a browser makes them', (t) => {
	const part = (localName: string, children: readonly Element[] = [], attributes: Record<string, string> = {}) =>
		({
			localName,
			children,
			childElementCount: children.length,
			getAttribute: (name: string) => attributes[name] ?? null,
		}) as unknown as Element;
	const rows = (count: number, ...cells: readonly Element[]) => Array.from({ length: count }, () => part('tr', cells));
	const table = (...groups: readonly (readonly Element[])[]) =>
		part(
			'table',
			groups.map((group) => part('tbody', group)),
		);
	const wide = Array.from({ length: 6 }, () => part('td', [], { colspan: '1000', rowspan: '6000' }));
	const reaching = table([...rows(1, ...wide), ...rows(6000)]);
	t.true(placesOf(reaching, []) > maxCollapsedPlaces, 'rows without cells that cells above reach into');
	t.true(placesOf(reaching, [], { hasStyledRows: false }) > maxSpannedPlaces);
	const styled = table(rows(3000, part('td')), rows(3000, part('td')));
	t.true(placesOf(styled, []) > maxCollapsedPlaces, 'groups that a style makes rows');

	const long = table(rows(1, part('td', [], { colspan: '3' })), rows(900, part('td'), part('td'), part('td')));
	t.true(placesOf(long, [], { hasStyledRows: false }) < maxSpannedPlaces, 'an honest table of hundreds of rows');
	const titled = table(rows(900, part('td', [], { colspan: '2', rowspan: '2' }), part('td')));
	t.true(placesOf(titled, [], { hasStyledRows: false }) < maxSpannedPlaces);
	const cells = part(
		'tbody',
		Array.from({ length: 200 }, () => part('td', [], { colspan: '1000' })),
	);
	t.true(
		placesOf(part('table', [cells]), [], { hasStyledRows: false }) > maxSpannedPlaces,
		'cells in no row are in one',
	);
});

test('styles write no more text for the elements that have it than a browser lays out in time', async (t) => {
	const book = elementsOf({ p: 1000, h2: 40, li: 200, q: 50, b: 500 }, { class: 'x'.repeat(20) });
	const refused = (css: string, name = css.slice(0, 60)) => t.true(valuesCostTooMuch(book, [css]), name);
	const shown = (css: string, name = css.slice(0, 60)) => t.false(valuesCostTooMuch(book, [css]), name);
	const long = 'abcdefg '.repeat(12_500);
	refused(`p::before { content: "${long}" }`);
	refused(`@media screen { p::before { content: "a" "${long}" } }`);
	refused(`p { & b::after { content: '${long}' } }`);
	refused(`@keyframes k { to { content: "${long}" } }`);
	refused(`q { quotes: "${long}" "b" }`);
	refused(`body { list-style: inside "${long}" }`);
	refused(`p { display: list-item; list-style-type: "${'a'.repeat(1000)}" }`);
	refused(`@counter-style c { system: cyclic; symbols: "${long}" } li { list-style: c }`);
	refused(`@counter-style c { symbols: ${'a'.repeat(100_000)} } li { list-style: c }`);
	refused(`@counter-style c { system: extends decimal; pad: 60 "${'a'.repeat(1000)}" } li { list-style: c }`);
	for (const name of ['prefix', 'suffix', 'negative']) refused(`@counter-style c { ${name}: "${long}" }`);
	refused('p { hyphenate-character: "a long text" }');
	refused(`:root { --x: "${long}" } p::before { content: var(--x) }`);
	refused(
		`@property --x { syntax: "<string>"; inherits: false; initial-value: "${long}" } p::before { content: var(--x) }`,
	);
	const doubled = Array.from({ length: 17 }, (_, at) => `--a${at + 1}: var(--a${at}) var(--a${at});`).join('');
	refused(`:root { --a0: "xxxxx"; ${doubled} } p::before { content: var(--a16) }`, 'variables that multiply');
	refused(`:root { --\\61: "${long}" } p::before { content: var(--\\61 ) }`, 'a name that is written in another way');
	refused(`p::before { content: ${'attr(class) '.repeat(100)} }`);
	refused(`b::before { content: "${'\\7f a'.repeat(20)}" }`, 'controls in one paragraph');
	refused(`b::before { content: "${'عربي'.repeat(20)}" }`, 'joined letters in one paragraph');
	refused(`b::before { content: ${'counter(a, arabic-indic) '.repeat(20)} }`);
	refused(`p::before { content: ${'counters(a, ". ") '.repeat(200)} }`);

	const list = (part: string, count: number) => Array.from({ length: count }, () => part).join(', ');
	refused(`p { background-image: ${list('linear-gradient(red, blue)', 5000)} }`);
	refused(`p { counter-reset: ${list('a', 50_000)} }`);
	refused(`svg { stroke-dasharray: ${list('1 2', 50_000)} }`);
	refused(`:root { --x: ${list('url(#a) red', 50_000)} } p { background: var(--x) }`);
	shown(`p { background: ${list('linear-gradient(red, blue)', 3)}; box-shadow: ${list('0 0 1px red', 20)} }`);
	shown(
		`body { counter-reset: ${list('docx-num-12-3 0', 2000)}; background: ${list('linear-gradient(red, blue)', 3)} }`,
	);
	const dashed = elementsOf({ path: 3000 }, { 'stroke-dasharray': list('1 2', 20_000) });
	t.true(valuesCostTooMuch(dashed, []));
	t.false(valuesCostTooMuch(elementsOf({ path: 3000 }, { 'stroke-dasharray': '1 2' }), []));

	const frames = (count: number) => `@keyframes k { ${'0%, 9% { left: 1px } '.repeat(count)} }`;
	refused(`${frames(1200)} p { animation: k 1s }`, 'key frames that each element keeps');
	refused(`${frames(1200)} p { animation-name: none, k }`, 'by their name');
	refused(`${frames(30)} p { animation-name: ${list('k', 60)} }`, 'the same ones again and again');
	refused(`${frames(1200)} :root { --k: k } p { -webkit-animation: 1s var(--k) }`, 'of a variable');
	refused(`${frames(1200)} :root { animation: k 1s } p { animation: inherit }`, 'that others take over');
	shown(`${frames(1200)} p { animation: none !important } .x { animation: k 1s ease }`);
	refused(`${frames(1200)} p { animation: "k" 1s }`, 'in quotes');
	const used = [`${frames(1200)} .one { animation: k 1s }`];
	t.true(valuesCostTooMuch(elementsOf({ rect: 1, use: 999 }, { class: 'one' }), used, 2000), 'of one that is used');
	t.true(valuesCostTooMuch(elementsOf({ rect: 1, use: 1999 }, { class: 'one' }), used), 'in a book');
	t.false(valuesCostTooMuch(elementsOf({ rect: 1 }, { class: 'one' }), used, 2));
	refused(`@\\6b eyframes \\6b { ${'0%{}'.repeat(3000)} } p { -moz-animation: k 1s }`, 'by escapes, and of nothing');
	shown(`${frames(20)} p { animation: k 1s }`);
	shown(`${frames(5)} p { animation: k 1s cubic-bezier(.4, 0, .2, 1), k 1s steps(4, end) }`);
	const ownFrames = Array.from(
		{ length: 300 },
		(_, at) => `@keyframes k${at} { ${'9% { left: 1px; top: 1px }'.repeat(8)} } .a${at} { animation: k${at} 1s }`,
	);
	shown(ownFrames.join(' '), 'where each element has key frames of its own');
	shown(`${'i { color: rgb(0, 0, 0) } '.repeat(3000)} @keyframes fade { to { opacity: 0 } } p { animation: fade 1s }`);

	const empty = '"" '.repeat(20_000);
	refused(`p::before { content: ${empty} }`, 'empty texts');
	refused(`p::before { content: ${'open-quote '.repeat(10_000)} }`, 'quotes in one value');
	refused(`p::before { content: ${list('linear-gradient(red, blue)', 5000)} }`, 'pictures in place of a text');
	refused(`li { list-style-image: linear-gradient(${list('red', 50_000)}) }`, 'the picture of a bullet');
	refused(`:root { --q: open-quote; quotes: "${long}" "b" } p::before { content: var(--q) }`, 'a quote of a variable');
	refused(
		`:root { --c: counter(a, c) } @counter-style c { symbols: "${long}" } p::before { content: var(--c) }`,
		'a counter of a variable',
	);
	refused(`:root { content: "${long}" } p::before { content: inherit }`, 'a text that others take over');
	refused(
		`:root { background: ${list('linear-gradient(red, blue)', 5000)} } p { background-image: inherit }`,
		'a list that others take over',
	);
	refused(`p { --a0: xxxxx; ${doubled} }`, 'variables that each element makes anew');
	refused(`:root { --x: "${long}" } p::before { content: v\\61r(--x) }`, 'a function with an escape');
	refused(`:root { --x\\.y: "${long}" } p::before { content: var(--x\\.y) }`, 'a name with another character');
	refused(`p::before { content: ${'attr(a\\.b) '.repeat(100)} }`, 'an attribute with another character');
	refused(
		`:root { --e: ; --x: var(--e, {}) "${long}" } p::before { content: var(--x) }`,
		'behind brackets that stand in for a variable',
	);
	refused(`p { color: var(--a, {}); content: var(--e, {}) "${long}" }`, 'the same of a text');
	shown('.a\\:b::before { content: "\\201C"; font-family: Noto\\ Serif } :root { --a\\.b: 1px }');
	refused(`p { /**/ @media all { content: "${long}" } }`, 'behind a comment');
	const shortened = doubled.slice(0, doubled.indexOf('--a17'));
	refused(`p { --é0: xxxxx; ${shortened.replaceAll('--a', '--é')} }`, 'names beyond ASCII');
	refused(`p { --a0: xxxxx; ${shortened.replaceAll('var(', 'var( /**/')} }`, 'names behind comments');
	refused(`p { --a\\.0: xxxxx; ${shortened.replaceAll('--a', '--a\\.')} }`, 'names with other characters');
	refused(`p { --a: var(--b) var(--b) } b { --b: var(--a) var(--a) } q { color: var(--a) }`, 'by turns');
	shown(':root { --a: red; --b: blue } .x { --a: var(--b); --b: var(--a) } p { --c: var(--c); color: var(--a) }');
	refused(`:root { --x: "${long}" } p { content: attr(class type(*)) }`, 'an attribute that may have variables');
	refused('p { content: attr(a|class) }', 'an attribute with a namespace');
	refused('p { --x: inherit(--x) inherit(--x) }', 'a variable of the element around');
	const endless = Array.from({ length: 1100 }, (_, at) => `--a${at + 1}: var(--a${at}) var(--a${at});`).join('');
	refused(`x { --a0: x; ${endless} color: var(--a1100) } p::before { content: "${long}" }`, 'before another one');
	refused(
		`@property --l { syntax: "<length>+"; inherits: false; initial-value: 0px } p { --l: ${'1em '.repeat(6000)} }`,
		'lengths by the font of each element',
	);
	refused(
		`@counter-style f { system: fixed; symbols: a } @counter-style c { symbols: "${'a'.repeat(300)}" } li { list-style: c }`,
		'beside counters with a fixed number of symbols',
	);
	for (const system of ['fixed', 'cyclic']) {
		const repeating = `symbols: "${'a'.repeat(300)}" } li { list-style: c }`;
		refused(
			`@counter-style c { system: ${system}; symbols: a } @counter-style c { ${repeating}`,
			`after one: ${system}`,
		);
		refused(`@counter-style c { system: ${system} none; ${repeating}`, `invalid: ${system}`);
		shown(`@counter-style c { system: ${system}; ${repeating}`);
	}
	shown(`@counter-style c { system: fixed -1; symbols: "${'a'.repeat(300)}" } li { list-style: c }`);
	const many = (part: string) => Array.from({ length: 20_000 }, () => part).join('');
	const ms = await usualMs(() =>
		shown(`${many('u,')}u { ${many('top:0;')} }`, 'a rule of many selectors and declarations'),
	);
	t.true(ms < 10_000, `${ms} ms`);

	shown(`body { background: ${list('linear-gradient(red, blue)', 20)} } p, b { background: inherit; color: inherit }`);
	shown(
		`body { font: 1em serif } * { box-sizing: inherit } .a, p { box-shadow: ${list('0 0 1px red', 600)} } b { box-sizing: inherit }`,
		'a name that begins with the same word',
	);
	refused(`body { background-image: ${list('linear-gradient(red, blue)', 5000)} } p { background: inherit }`);
	refused(`body { mask: ${list('url(#a)', 50_000)} } p { all: inherit }`);
	shown(`p { --shadow: ${list('0 0 1px red', 200)} } b { --own: var(--a, 0 0 1px) }`);
	shown('h2::before { content: "Twenty characters: " }');
	shown('p::before { content: "\\201C" } p::after { content: "”" } li::before { content: "• " }');
	shown('h2::before { content: "Chapter " counter(chapter) ". " } h2 { counter-increment: chapter }');
	shown('li::before { content: counters(item, ".") " " } b::before { content: "\\e900" }');
	shown('q { quotes: "«" "»" "“" "”" } q::before { content: open-quote } body { quotes: "„" "“" }');
	shown('@counter-style c { system: fixed; symbols: "①" "②" "③" "④" "⑤"; suffix: " " } li { list-style: c }');
	shown(
		'@counter-style c { system: additive; additive-symbols: 10 "X", 5 "V", 1 "I"; pad: 2 "0" } ol { list-style: c }',
	);
	shown('a::after { content: " (" attr(href) ")" } b::before { content: attr(class) }');
	shown('h2::before { content: "الفصل " counter(c, arabic-indic) } p { hyphenate-character: "‐" }');
	shown(`b::before { content: url("data:image/png;base64,${'A'.repeat(200_000)}") }`);
	shown(`:root { ${Array.from({ length: 200 }, (_, at) => `--a${at}: var(--a${at + 1});`)} } p { color: var(--a0) }`);
	shown(
		`@font-face { font-family: "A long name of a font"; src: url(data:font/woff2;base64,${'A'.repeat(1_000_000)}) }`,
	);
	shown(Array.from({ length: 300 }, () => 'p { font-family: "Times New Roman", "Noto Serif", serif }').join(''));
	const levels = (at: number) =>
		[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `counter(docx-num-${at}-${n}, decimal)`).join(' "." ');
	shown(Array.from({ length: 100 }, (_, at) => `p.docx-num-${at}-8:before { content: ${levels(at)} "\\9 " }`).join(''));
});

test('what hides in an address without quotes, or in a string that ends with its line, hides nothing behind it', async (t) => {
	const root = elementsOf({ p: 1000 });
	const sheets = (css: string) =>
		sheetsOf({ querySelectorAll: () => [{ localName: 'style', textContent: css }] } as never);
	const long = 'abcdefg '.repeat(12_500);
	const deep = `${':is('.repeat(24)}a${')'.repeat(24)} {}`;
	const hiding = [
		'b { fill: url(/*) }',
		'b { fill: url(}) }',
		"b { fill: url( a'b) }",
		'b { fill: url(\\)") }',
		'b { fill: uRl([) }',
		'b { fill: \\75 r\\06c\r\n(/*) }',
		'b { fill: 5%url(/*) }',
		'b { fill: \\\\20 url(/*) }',
		'<!--url(/*)-->',
		"b { fill: '\n}",
		'b { fill: "\\\r\n \f}',
	];
	for (const css of hiding) {
		t.true(valuesCostTooMuch(root, sheets(`${css} p::before { content: "${long}" }`)), css);
		t.true(stylesCostTooMuch(root, sheets(`${css} ${deep.repeat(2_000)}`)), css);
		t.true(isNestedTooDeep(`${css} ${'('.repeat(100)}`), css);
		t.is(withQuotes(withQuotes(css)), withQuotes(css), css);
	}
	// What a browser reads as no address, or as no end of a line.
	const same = [
		'#url(/*)*/) {}',
		'a { b: \\75\vrl(/*)*/) }',
		'a { b: x\\20 url(/*)*/) }',
		'a { b: \\75\u00a0rl(/*)*/) }',
		'a { b: aurl(/*)*/) }',
		'a { b: "a\\\nb" url("(") /* url(a) */ }',
		'a { b: var(--c) }',
	];
	for (const css of same) t.is(withQuotes(css), css);
	t.is(withQuotes('a { fill: url(#a) url( "b" ) }'), 'a { fill: url("#a") url("b" ) }');
	t.is(withQuotes('a { b: url(c"\n\\)d) }'), 'a { b: url("c\\" \\)d") }');
	t.false(valuesCostTooMuch(root, sheets(`p::before { content: url(data:image/png;base64,${'A'.repeat(200_000)}) }`)));
	const ms = await usualMs(() => {
		for (const part of ['url(', 'u\\72l(a)', '"', '\\', '<!--', '-', 'url( ', "'\n"]) withQuotes(part.repeat(200_000));
	});
	t.true(ms < 10_000, `${ms} ms`);
});

test('an element of a drawing counts by its letters, and by the numbers in its lists, each time that it is used', (t) => {
	const drawn = (localName: string, given: Record<string, string>, ...texts: string[]) =>
		drawnOf({
			namespaceURI: 'http://www.w3.org/2000/svg',
			localName,
			attributes: Object.entries(given).map(([name, value]) => ({ name, value })),
			childNodes: texts.map((nodeValue) => ({ nodeType: 3, nodeValue })),
		} as never);
	const uses = (element: number) => element * 3000 > 200_000;
	t.true(uses(drawn('text', { x: '1 '.repeat(100_000) }, 'abc')));
	t.true(uses(drawn('path', { 'stroke-dasharray': '1 2 '.repeat(100_000) })));
	t.true(uses(drawn('path', { d: `M0 0${'l9 9-9 7'.repeat(100_000)}` })));
	t.true(uses(drawn('text', {}, 'abcdefg '.repeat(2000))));
	t.true(uses(drawn('text', {}, '日1'.repeat(300))), 'letters that take longer');
	t.true(uses(drawn('text', {}, ...'日1'.repeat(300))), 'also with comments between them');
	t.is(
		drawn('text', {}, ...Array<string>(21).fill('日'.repeat(100_000))),
		Number.MAX_SAFE_INTEGER,
		'more than is read',
	);
	t.is(drawn('text', { x: '1 2 3 4', dy: '0 1', style: 'fill: red' }, 'A label of a map'), 1);
	t.is(drawn('text', {}, '東京都千代田区'), 1);
	t.is(drawn('image', { href: `data:image/png;base64,${'A'.repeat(1_000_000)}` }), 1);
	t.true(drawn('path', { d: 'l9 9-9 7'.repeat(500_000) }) < 5000, 'a long path that is used once');
	t.false(uses(drawn('path', { d: 'l9 9-9 7'.repeat(2000) })), 'a symbol of a map');
});

test('paths in a book are resolved within it, and no more of them than take a moment', (t) => {
	const resolve = bookPaths();
	t.is(resolve('OPS/my text/c1.xhtml', '../i%20m/a&b.png#x'), 'OPS/i m/a&b.png#x');
	t.is(resolve('OPS/100%/c1.xhtml', '#there'), 'OPS/100%/c1.xhtml#there');
	t.is(resolve('c1.xhtml', '../../100%'), '100%');
	t.is(resolve('c1.xhtml', 'http://'), '');
	for (let n = 0; n < 5000; n++) resolve('OPS/package.opf', `text/c${n}.xhtml`);
	t.throws(
		() => {
			const resolveAll = bookPaths();
			for (let n = 0; n < 500; n++) resolveAll(`${'d'.repeat(62_000)}/package.opf`, `text/c${n}.xhtml`);
		},
		{ instanceOf: TooMuchMarkup },
	);

	const names = openZip(zipped({ ['a'.repeat(1024)]: '1', ['b'.repeat(1025)]: '2', c: '3' }), 100).names;
	t.deepEqual(
		names.map((name) => [name.charAt(0), name.length]),
		[
			['a', 1024],
			['c', 1],
		],
	);
});

test('a picture whose colour profile takes a browser longer than its pixels is not drawn from its own bytes', (t) => {
	const chunk = (name: string, content: Uint8Array) =>
		Buffer.concat([u32(content.length), Buffer.from(name), content, Buffer.alloc(4)]);
	const withProfile = (profile: Uint8Array, packed: Uint8Array = deflateSync(profile)) =>
		Buffer.concat([
			pngOf(10, 10).subarray(0, 24),
			hex('0802000000 00000000'),
			chunk('iCCP', Buffer.concat([Buffer.from('profile\0\0'), packed])),
			chunk('IDAT', Buffer.alloc(20)),
		]);
	const address = (type: string, bytes: Uint8Array) =>
		`data:image/${type};base64,${Buffer.from(bytes).toString('base64')}`;
	const megabytes = (count: number) => Buffer.alloc(count * 1_000_000);
	t.is(pixelsOf(withProfile(Buffer.alloc(3144))), 100 + 5 * 3144);
	t.is(pixelsOf(withProfile(megabytes(2))), 10_000_100, 'the table of a printer');
	t.true(pixelsOf(withProfile(megabytes(24))) > maxPixels);
	t.true(pixelsOfAddress(address('png', withProfile(megabytes(24)))) > maxPixels);
	t.true(
		pixelsOf(Buffer.concat([withProfile(hex('00')).subarray(0, -32), withProfile(hex('00')).subarray(33)])) > maxPixels,
		'no format has two',
	);
	// Without a faultless header and end, as some browsers unpack it.
	t.true(pixelsOf(withProfile(Buffer.alloc(0), deflateSync(megabytes(24)).fill(0, 0, 2).subarray(0, -4))) > maxPixels);
	t.is(pixelsOf(withProfile(Buffer.alloc(0), Buffer.from('no stream'))), 105);
	t.is(
		pixelsOf(withProfile(Buffer.alloc(0), randomBytes(4_000_001))),
		100 + 5 * (maxPixels / 5 + 1),
		'too many packed bytes',
	);
	// Blocks that unpack to nothing, for each of which a browser makes tables.
	const blocks = (count: number) => Buffer.concat([hex('789c'), hex('0208208000'.repeat(count / 4))]);
	t.is(pixelsOf(withProfile(Buffer.alloc(0), blocks(100))), 100 + 5 * 500 * 99);
	t.true(pixelsOf(withProfile(Buffer.alloc(0), blocks(50_000))) > maxPixels);
	t.true(mayTakeLong(withProfile(randomBytes(5000)).subarray(0, 4096)), 'one that ends further back is read whole');
	const own = { name: 'a.png', url: 'own', renditionUrl: 'rendition' };
	t.is(imageSource(own, pictureIn(withProfile(megabytes(2)))).kind, 'address');
	t.deepEqual(imageSource(own, pictureIn(withProfile(megabytes(24)))), {
		...{ kind: 'rendition', url: 'rendition', otherwise: { kind: 'none' } },
	});
	// Icons may be PNGs, which lie anywhere in the file.
	const icon = (...pictures: Uint8Array[]) =>
		Buffer.concat([hex('00000100 0100'), Buffer.alloc(16 + 9000), ...pictures]);
	const sourceOf = (bytes: Uint8Array) => imageSource({ ...own, name: 'a.ico' }, pictureIn(bytes)).kind;
	t.is(sourceOf(icon(...Array<Uint8Array>(100).fill(withProfile(randomBytes(3144))))), 'blob', 'those of one program');
	t.is(sourceOf(icon(withProfile(megabytes(24)))), 'none');
	t.is(sourceOf(icon(withProfile(megabytes(12)), withProfile(megabytes(12)))), 'none', 'together');
	// Each costs time, also one that is empty.
	t.is(sourceOf(icon(Buffer.from('\0\0\0\0iCCP'.repeat(30_000)))), 'none', 'any number of them');
	t.is(sourceOf(icon(...Array<Uint8Array>(255).fill(withProfile(Buffer.alloc(0))))), 'blob', 'one for each picture');
	t.true(mayTakeLong(icon().subarray(0, 4096)), 'icons are read whole');
	// Each of a text is small: they count together.
	const text = `![a](${address('png', withProfile(megabytes(1)))})\n\n`.repeat(30);
	t.is(JSON.stringify(markdownTree(text)).split('"img"').length - 1, 19);

	const size = (count: number) => u32(count).swap32();
	const webp = (profile: string, length: number) =>
		Buffer.concat([
			...[Buffer.from('RIFF'), size(21_000_000), Buffer.from('WEBPVP8X'), size(10), hex('20000000 090000 090000')],
			...[Buffer.from(profile), size(length), Buffer.alloc(4000)],
		]);
	t.is(pixelsOf(webp('ICCP', 3144)), 100 + 5 * 3144);
	t.true(pixelsOf(webp('ICCP', 21_000_000)) > maxPixels);
	t.true(pixelsOf(webp('VP8 ', 21)) > maxPixels, 'it may come behind the picture');
	t.is(pixelsOf(webp('VP8 ', 21).fill(0, 20, 21)), 100, 'it has none');

	const part = hex(`ffe2 fffe ${'00'.repeat(0xfffc)}`);
	const jpeg = (parts: number) =>
		Buffer.concat([
			hex('ffd8 ffc0 0011 08 000a 000a 03'),
			Buffer.alloc(9),
			...Array<Uint8Array>(parts).fill(part),
			hex('ffda 000c 03'),
		]);
	t.is(pixelsOf(jpeg(16)), 100 + 5 * 16 * 0xfffe + 16 ** 2);
	t.true(pixelsOf(jpeg(330)) > maxPixels);
});

test('a JPEG with empty segments by the hundred thousand before its picture is not drawn from its own bytes', (t) => {
	const picture = Buffer.from('ffc0 0011 08 0040 0040 03 012200021101031101'.replaceAll(' ', ''), 'hex');
	for (const segment of ['ffe00002', 'fffe0002', 'ffdb0002', 'ff01', 'ff']) {
		const before = (count: number) =>
			Buffer.concat([Buffer.from('ffd8', 'hex'), Buffer.from(segment.repeat(count), 'hex'), picture]);
		t.is(pixelsOf(before(1000)), 64 * 64, segment);
		t.is(pixelsOf(before(200_000)), Number.POSITIVE_INFINITY, segment);
	}
});

test('a picture with empty parts of any format by the hundred thousand is not drawn from its own bytes', (t) => {
	const repeated = (part: string, count: number) => Buffer.alloc((part.length / 2) * count, Buffer.from(part, 'hex'));
	const png = pngOf(64, 64);
	const gif = hex('474946383961 4000 4000 00 00 00');
	const frame = hex('2c 0000 0000 4000 4000 00 02 01 00 00');
	const avif = hex('00000010 66747970 61766973 00000000');
	const meta = hex('00000020 6d657461 00000014 69737065 00000000 00000040 00000040 00000000');
	const moov = hex('00000008 6d6f6f76');
	const kinds: Record<string, (count: number) => Buffer> = {
		'chunks of a PNG': (count) =>
			Buffer.concat([png, hex('0000'), repeated('000000007465535400000000', count), hex('00000000 49444154 00000000')]),
		'extensions of a GIF': (count) => Buffer.concat([gif, repeated('21fe00', count), frame, hex('3b')]),
		'parts of an extension': (count) =>
			Buffer.concat([gif, hex('21fe'), repeated('0161', count), hex('00'), frame, hex('3b')]),
		'parts of a frame': (count) => Buffer.concat([gif, frame.subarray(0, 11), repeated('0161', count), hex('00 3b')]),
		'boxes of an AVIF': (count) => Buffer.concat([avif, repeated('0000000866726565', count), meta, moov]),
		'boxes behind the size of an AVIF': (count) =>
			Buffer.concat([avif, meta, moov, repeated('0000000866726565', count)]),
	};
	for (const [kind, make] of Object.entries(kinds)) {
		t.is(pixelsOf(make(1000)), 64 * 64, kind);
		t.is(pixelsOf(make(200_000)), Number.POSITIVE_INFINITY, kind);
	}
	// As an honest GIF of 20 MB has it: a frame in parts of 255 bytes.
	const large = Buffer.concat([gif, frame.subarray(0, 11), repeated(`ff${'61'.repeat(255)}`, 80_000), hex('00 3b')]);
	t.is(pixelsOf(large), 64 * 64);
});

test('what lies behind the end of a JPEG, such as the film of a camera, has no scans', (t) => {
	const head = hex(`ffd8 ffe1 0006 ffd9 ffda ffc0 0011 08 1000 1000 03 ${'00'.repeat(9)}`);
	const scan = hex(`ffda 000c 03 ${'00'.repeat(9)} 20 ff00 ffd0 55`);
	const scans = (count: number) => Buffer.concat(Array<Uint8Array>(count).fill(scan));
	// Between scans as well, what looks like an end in a segment is none.
	const hidden = hex('fffe 0006 ffd9 ffd9');
	const film = Buffer.concat([hex('ffd9'), hex('ffdaffe1'.repeat(3000))]);
	t.is(pixelsOf(Buffer.concat([head, scans(10), hidden, scans(10), film])), 4096 * 4096 + 1);
	t.is(pixelsOf(Buffer.concat([head, scans(100), hidden, scans(100), film])), Number.POSITIVE_INFINITY);
});

test('a JPEG with more segments than a browser keeps in a moment is not drawn from its own bytes', (t) => {
	const picture = hex(`ffc0 0011 08 000a 000a 03 ${'00'.repeat(9)} ffda 000c 03 ${'00'.repeat(9)} 20 55`);
	for (const marker of ['e1', 'e2']) {
		const segments = (count: number) => hex(`ff${marker} 0002`.repeat(count));
		const before = (count: number) => Buffer.concat([hex('ffd8'), segments(count), picture, hex('ffd9')]);
		const behind = (count: number) => Buffer.concat([hex('ffd8'), picture, segments(count), hex('ffd9')]);
		for (const jpeg of [before, behind]) {
			t.true(pixelsOf(jpeg(600)) < 1_000_000, 'more than any camera writes');
			t.true(pixelsOf(jpeg(60_000)) > maxPixels);
			const own = { name: 'a.jpg', url: 'own', renditionUrl: 'rendition' };
			t.is(imageSource(own, pictureIn(jpeg(600))).kind, 'address');
			t.deepEqual(imageSource(own, pictureIn(jpeg(60_000))), {
				...{ kind: 'rendition', url: 'rendition', otherwise: { kind: 'none' } },
			});
		}
		// Each of a text has few: they count together.
		const address = `data:image/jpeg;base64,${behind(4000).toString('base64')}`;
		t.is(JSON.stringify(markdownTree(`![a](${address})\n\n`.repeat(10))).split('"img"').length - 1, 6);
	}
});

test('a sequence that announces more frames than a browser goes through in a moment is not drawn from its own bytes', (t) => {
	const box = (name: string, ...contents: Uint8Array[]) => {
		const length = Buffer.alloc(4);
		length.writeUInt32BE(8 + contents.reduce((sum, { length }) => sum + length, 0));
		return Buffer.concat([length, Buffer.from(name), ...contents]);
	};
	const numbers = (...values: number[]) => hex(values.map((value) => value.toString(16).padStart(8, '0')).join(''));
	const head = [box('ftyp', Buffer.from('avis\0\0\0\0avis')), box('meta', numbers(0), box('ispe', numbers(0, 16, 16)))];
	const within = (names: readonly string[], ...contents: Uint8Array[]): Buffer =>
		names.reduceRight<Buffer>((inner, name) => box(name, inner), Buffer.concat(contents));
	const path = ['moov', 'trak', 'mdia', 'minf', 'stbl'];
	const sequence = (...tables: Uint8Array[]) => Buffer.concat([...head, within(path, ...tables)]);
	const sizes = (count: number, size = 0) => box('stsz', numbers(0, size, count));
	const chunks = (count: number, name = 'stco') => box(name, numbers(0, count, ...Array<number>(count).fill(99)));
	const perChunk = (...counts: number[]) =>
		box('stsc', numbers(0, counts.length, ...counts.flatMap((count, index) => [index + 1, count, 1])));
	const isDrawn = (bytes: Buffer) => pixelsOf(bytes) === 256;
	t.true(isDrawn(sequence(sizes(2000), chunks(1), perChunk(2000))));
	t.false(isDrawn(sequence(sizes(2001), chunks(1), perChunk(1))));
	// All have one size: then nothing says how many there are but the chunks.
	t.true(isDrawn(sequence(sizes(1, 9), chunks(20), perChunk(100, 7))));
	t.false(isDrawn(sequence(sizes(1, 9), chunks(21), perChunk(1, 100))));
	t.false(isDrawn(sequence(sizes(1, 9), chunks(10, 'co64'), chunks(11), perChunk(100))));
	t.false(isDrawn(sequence(perChunk(100_000), sizes(1, 9), chunks(1))));
	// Lengths in 64 bits, or until the end.
	for (const length of [0, 1]) {
		const bytes = sequence(sizes(1), chunks(1), perChunk(1));
		bytes.writeUInt32BE(length, bytes.indexOf('mdia') - 4);
		t.false(isDrawn(bytes), String(length));
	}
	t.true(isDrawn(Buffer.concat([...head, within(Array<string>(5000).fill('moov'), sizes(9999))])));
});

test('a Markdown text has no pictures above a bound of all pixels', (t) => {
	const image = (width: number, height: number) =>
		`![a](data:image/png;base64,${pngOf(width, height).toString('base64')})\n\n`;
	const shown = (text: string) => JSON.stringify(markdownTree(text)).split('"img"').length - 1;
	t.is(shown(image(30_000, 30_000)), 0);
	t.is(shown(image(5000, maxPixels / 10_000).repeat(3)), 2);
	t.is(shown(image(20, 30).repeat(3)), 3);
});

test('subtitles of a film are in its folder and begin with its name', (t) => {
	const film = file('film.mp4', 'a/');
	const beside = [file('film.srt', 'a/'), file('film.de.vtt', 'a/'), file('films.srt', 'a/'), file('film.srt', 'b/')];
	t.deepEqual(
		subtitlesOf(film, [film, ...beside]).map(({ entry, label }) => [entry.path, label]),
		[
			['a/film.srt', ''],
			['a/film.de.vtt', 'de'],
		],
	);
});

test('SubRip is converted to WebVTT, also with CRLF lines', (t) => {
	const srt =
		'\uFEFF1\r\n00:00:01,500 --> 00:00:02,000 X1:1\r\n<i>Hello</i> <font color="red">you</font>\r\n\r\n2\r\n1:00:00,000 --> 1:00:01,000\r\n{\\an8}Up\r\n';
	t.is(
		toVtt(srt),
		'WEBVTT\n\n1\n00:00:01.500 --> 00:00:02.000\n<i>Hello</i> you\n\n2\n01:00:00.000 --> 01:00:01.000\nUp',
	);
	t.is(toVtt('WEBVTT\n\n00:01.000 --> 00:02.000\nHi'), 'WEBVTT\n\n00:01.000 --> 00:02.000\nHi');
});

test('a cue of subtitles begins at each line of times, whatever is between two of them', (t) => {
	const cue = (at: number, between: string) => `${at}\n00:00:0${at},000 --> 00:00:0${at},900\nLine ${at}\n${between}`;
	const subRip = (between: string) => [1, 2, 3].map((at) => cue(at, between)).join('');
	const shown = [1, 2, 3].map((at) => `${at}\n00:00:0${at}.000 --> 00:00:0${at}.900\nLine ${at}`).join('\n\n');
	for (const between of ['\n', ' \n', '\t\n', '\n \n\n', '']) {
		t.is(toVtt(subRip(between)), `WEBVTT\n\n${shown}`, `SubRip with ${JSON.stringify(between)}`);
		const vtt = `WEBVTT\n\n${subRip(between).replaceAll(',', '.')}`;
		t.is(toVtt(vtt), `WEBVTT\n\n${shown}`, `WebVTT with ${JSON.stringify(between)}`);
	}
	for (const end of ['\r', '\r\n', '\r\r\n', '\n\n']) {
		t.is(toVtt(subRip('\n').replaceAll('\n', end)), `WEBVTT\n\n${shown}`, JSON.stringify(end));
	}
	for (const [written, times] of [
		[' 00:00:01,000 -->  00:00:02,000 ', '00:00:01.000 --> 00:00:02.000'],
		['\t0:00:01,5 --> 0:00:02,50', '00:00:01.500 --> 00:00:02.500'],
		['00:00:01 ,000 --> 00:00:02 ,000', '00:00:01.000 --> 00:00:02.000'],
		['00:00:01, 000-->00:00:02, 000', '00:00:01.000 --> 00:00:02.000'],
		['00:00:01 --> 00:00:02', '00:00:01.000 --> 00:00:02.000'],
		['00:01,000 --> 00:02,000', '00:01.000 --> 00:02.000'],
	]) {
		t.is(toVtt(`1\n${written}\nHi\n\n`), `WEBVTT\n\n1\n${times}\nHi`, written);
	}
	const times = (at: number) => `00:00:0${at}.000 --> 00:00:0${at}.900`;
	const spoken = (text: string) => toVtt(`1\n${times(1)}\n${text}\n\n2\n${times(2)}\nb`).slice('WEBVTT\n\n'.length);
	const next = `\n\n2\n${times(2)}\nb`;
	t.is(spoken('a\n\nb\n \nc'), `1\n${times(1)}\na\nb\nc${next}`, 'empty lines within a text');
	t.is(spoken('- Go --> there\nok'), `1\n${times(1)}\n- Go --&gt; there\nok${next}`, 'an arrow in a text');
	t.is(spoken('42'), `1\n${times(1)}\n42${next}`, 'a number that is spoken');
	t.is(toVtt(`${times(1)}\n42\n\n${times(2)}\nb`), `WEBVTT\n\n${times(1)}\n42\n\n${times(2)}\nb`, 'without numbers');
	const parts = `NOTE a\nb\n\none\n${times(1)} align:start\na\n\nNOTE --> c\nd\n\ntwo\n${times(2)}\nb`;
	t.is(toVtt(`WEBVTT\n\n${parts}`), `WEBVTT\n\none\n${times(1)} align:start\na\n\ntwo\n${times(2)}\nb`, 'notes');
});

test('an encoding is recognized by its byte order mark or as UTF-8, or else guessed', async (t) => {
	const never = () => Promise.reject(new Error('It need not be guessed.'));
	t.is(await encodingOf(Buffer.from('Grüße 日本'), never), 'UTF-8');
	t.is(await encodingOf(new Uint8Array([0xff, 0xfe, 65, 0]), never), 'UTF-16LE');
	const latin = Buffer.from('Grüße', 'latin1');
	t.is(await encodingOf(latin, async () => ['UTF-8', 'ISO-8859-1']), 'windows-1252');
	t.is(await encodingOf(latin, async () => ['EBCDIC', 'Shift_JIS']), 'Shift_JIS');
	t.is(await encodingOf(latin, async () => []), 'windows-1252');
});

test('the language of code is recognized by the file name, and prose has none', (t) => {
	t.is(languageOf('a.ts'), 'ts');
	t.is(languageOf('page.html'), 'xml');
	t.is(languageOf('Makefile'), 'makefile');
	t.is(languageOf('letter.txt'), undefined);
	t.is(languageOf('constructor'), undefined);
});

const page = { href: 'https://nas.example/files/browser?type=private', basePath: '/files' };
const link = test.macro({
	exec: (t, address: string, isOpened: boolean) => t.is(mayOpenLink(address, page), isOpened),
	title: (_, address, isOpened) => `a link in a file to ${address} is ${isOpened ? 'opened' : 'not opened'}`,
});
for (const address of [
	'https://example.org/api/logout',
	'mailto:ada@example.org',
	'https://nas.example/files/s/token',
	'https://nas.example/files/apiary',
	'http://nas.example/api/logout',
]) {
	test(link, address, true);
}
for (const address of [
	'https://nas.example/files/api/logout',
	'HTTPS://NAS.example/files/api/logout',
	'http://nas.example:8080/files/api/logout',
	'https:api/logout',
	'https:/files/api/logout',
	'https://nas.example/files/%61pi/logout',
	'https://nas.example//files///api/logout',
	'https://nas.example/files/x/../api/logout',
	'https://nas.example\\files\\api\\logout',
	'https://nas.example/%zz',
	'javascript:alert(1)',
	'data:text/html,x',
	'//nas.example/files/api/logout',
]) {
	test(link, address, false);
}

test('a relative address is known as a call of the server', (t) => {
	t.true(isOwnCall('/files/api/logout', page));
	t.true(isOwnCall('api/logout', page));
	t.false(isOwnCall('chapter2.xhtml', page));
});

const css = test.macro({
	exec: (t, given: string, expected: string) => {
		t.is(
			replaceAddresses(given, (address) => (address.startsWith('own') ? `blob:${address}` : undefined)),
			expected,
		);
	},
	title: (_, given) => `addresses in CSS are replaced: ${given}`,
});
test(css, 'a { background: url("own.png") }', 'a { background: url("blob:own.png") }');
test(css, "a { background: URL( 'own.png' ) }", 'a { background: url("blob:own.png") }');
test(css, 'a { background: url(own.png) }', 'a { background: url("blob:own.png") }');
test(css, 'a { background: var(--a,) u\\72l(own.png) }', 'a { background: var(--a,) url("blob:own.png") }');
test(css, 'a { background: var(--a,) s\\72 c("own.png") }', 'a { background: var(--a,) none }');
test(css, 'a { b: var(--a,) url(}b{c:d) e }', 'a { b: var(--a,) none e }');
test(css, 'a { b: var(--a,) url(/*) e } /* f */', 'a { b: var(--a,) none e } /* f */');
test(css, '.a\\:b, .\\31 2:is(.c\\() { content: var(--a) }', '.a\\:b, .\\31 2:is(.c\\() { content: var(--a) }');
test(css, 'a { background: url("http://else/a") }', 'a { background: none }');
test(css, 'a { fill: url("#g") }', 'a { fill: url("#g") }');
test(css, 'a { background: url("a)b\\"c") no-repeat }', 'a { background: none no-repeat }');
test(css, 'a { content: "url(own.png) } b {" }', 'a { content: "url(own.png) } b {" }');
test(css, 'a { background: image-set("x" 1x, linear-gradient(rgb(0, 0, 0), red) 2x) }', 'a { background: none }');
test(css, 'a { background: -webkit-image-set("x)" 1x) }', 'a { background: none }');
test(css, 'a { --x: url("http://else"); color: red }', 'a { ; color: red }');
test(css, 'a { --x:{b;c:\\75rl(x)}; color: red }', 'a { ; color: red }');
test(css, 'a { --x: 1px; --y : //else }', 'a { --x: 1px; }');
test(css, '.a--b:hover { background: url("own") }', '.a--b:hover { background: url("blob:own") }');
test(css, '--x: url(a', '');
test(css, 'src: url(own', 'src: url("blob:own")');
test(css, '@font-face { src: src("http://else") }', '@font-face { src: none }');
test(css, 'a { b: my-url(x) c(url("own")) }', 'a { b: my-url(x) c(url("blob:own")) }');

test('the language of a document is that of the first style that names one', (t) => {
	t.is(languageIn('<w:language/><w:lang w:eastAsia="ja"/><w:lang w:eastAsia="ja-JP" w:val="de-CH"/>'), 'de-CH');
	t.is(languageIn('<w:lang w:val="x"/>'), undefined);
	t.is(languageIn(`<w:lang ${'a="b" '.repeat(1000)}w:val="de"/>`), undefined);
});

test('numbers in a table are recognized with signs, currencies and separators', (t) => {
	for (const text of ['1', '-1.5', '(1,234)', '€ 5', '- $ 1 000', '12 %', "1'000.50", '5 €'])
		t.true(isNumber(text), text);
	for (const text of ['', 'a', '1a', '$', '12-3', '1'.repeat(41)]) t.false(isNumber(text), text);
});

const element = (tag: string, children: unknown[], attributes = {}) => ({ tag, attributes, children });

test('Markdown is read into elements of a list, without the styles and scripts in it', (t) => {
	t.deepEqual(markdownTree('a *b* <script>c</script><x-y onclick="d">e</x-y>'), [
		element('p', ['a ', element('em', ['b']), ' e']),
		'\n',
	]);
	t.deepEqual(htmlTree('a<style>b</style >c<SVG><b>x</b></SVG>d'), ['acd']);
	t.deepEqual(htmlTree('a<style>b'), ['a']);
	t.deepEqual(htmlTree('<h2 id="x" style="color:red" title="t">a</h2>'), [
		element('h2', ['a'], { title: 't', role: 'heading', 'aria-level': '4' }),
	]);
	t.deepEqual(htmlTree('<img src="https://a/b.png" alt="a"><input autofocus><td colspan=99999 rowspan=x>b'), [
		'a',
		element('td', ['b'], { colspan: '100' }),
	]);
});

test('Markdown that is nested too deep, or has too many elements, is not read', (t) => {
	t.not(htmlTree('<div>'.repeat(40)), undefined);
	t.is(htmlTree('<div>'.repeat(41)), undefined);
	t.is(htmlTree('<x>'.repeat(200_000)), undefined, 'elements that are left out count, too');
	t.is(htmlTree('<hr>'.repeat(20_001)), undefined);
	t.not(htmlTree('<li>a'.repeat(4000)), undefined);
	t.is(htmlTree('<li>a'.repeat(4001)), undefined, 'each has a mark, which is laid out by itself');
	t.is(htmlTree('<details>a</details>'.repeat(1819)), undefined);
	t.is(markdownTree('|a|b|\n|-|-|\n'.concat('|1|2|\n'.repeat(10_000))), undefined);
	// The browser's parser would copy all open formats into each paragraph.
	const copied = htmlTree(`<p>${'<b><i><u>'.repeat(10)}<p>`.repeat(9));
	t.true(copied === undefined || JSON.stringify(copied).length < 100_000);
});

test('Markdown whose links and pictures repeat more characters than a page keeps is not read', (t) => {
	const image = Buffer.concat([pngOf(2, 2), Buffer.alloc(45_000)]).toString('base64');
	const repeated = (times: number) => [
		`[a]: https://files.example/${'é/'.repeat(11_000)}\n\n${'[a][a]'.repeat(times)}`,
		`[a]: https://files.example/ "${'t'.repeat(22_000)}"\n\n${'[a][a]'.repeat(times)}`,
		`[a]: data:image/png;base64,${image}\n\n${'![][a] '.repeat(times)}`,
		`[a]: https://files.example/${'a'.repeat(22_000)}\n\n${'![b][a]'.repeat(times)}`,
	];
	for (const [index, text] of repeated(2000).entries()) t.is(markdownTree(text), undefined, `${index}`);
	for (const [index, text] of repeated(20).entries()) t.not(markdownTree(text), undefined, `${index}`);
	// As long as a text may be, and each of its addresses once.
	const own = Array.from({ length: 4000 }, (_, index) => `[a](https://files.example/${'a'.repeat(190)}/${index})`);
	t.not(markdownTree(own.join('\n\n')), undefined);
	t.is(htmlTree(`<b title="${'t'.repeat(500_000)}">a</b>`.repeat(9)), undefined);
});

test('tables in Markdown have no more cells together than a page could show, before any of them is made', (t) => {
	const table = (columns: number, rows: number, mark = '') =>
		[`${'a|'.repeat(columns)}`, '-|'.repeat(columns), ...Array.from({ length: rows }, () => 'a|'), '']
			.map((line) => `${mark}${line}\n`)
			.join('');
	const { inline } = Lexer.prototype;
	let made = 0;
	Lexer.prototype.inline = function (...given) {
		made++;
		return inline.apply(this, given);
	};
	t.teardown(() => {
		Lexer.prototype.inline = inline;
	});
	const texts = {
		'of one table': table(500, 1000),
		'of many': table(100, 100).repeat(50),
		'in a quote': table(500, 1000, '> '),
		'in quotes within each other': table(500, 1000, '> > '),
		'in a list': `- a\n\n${table(500, 1000, '  ')}`,
		'in a list in a quote': `> - a\n>\n${table(500, 1000, '>   ')}`,
	};
	for (const [name, text] of Object.entries(texts)) {
		made = 0;
		t.is(markdownTree(text), undefined, name);
		t.true(made < 120_000, `${name}: ${made}`);
	}
	for (const mark of ['', '> ', '> > ', '    ']) {
		const text = `${mark.trim() === '' ? '1.  a\n\n' : ''}${table(20, 150, mark)}`;
		t.is(JSON.stringify(markdownTree(text)).split('"td"').length - 1, 3000, JSON.stringify(mark));
	}
	t.not(markdownTree(table(3, 20).repeat(80)), undefined);
	t.not(markdownTree(`${table(20, 100, '> > ').trim()}\nand more\n> > b\nand more\n`), undefined);
});

test('quotes and lists in Markdown that are nested too deep are refused before each keeps the text within it', (t) => {
	const { blockTokens } = Lexer.prototype;
	let read = 0;
	Lexer.prototype.blockTokens = function (...given: Parameters<typeof blockTokens>) {
		read += given[0].length;
		return blockTokens.apply(this, given);
	};
	t.teardown(() => {
		Lexer.prototype.blockTokens = blockTokens;
	});
	const line = `${'a'.repeat(1000)}\n`;
	const texts = {
		'quotes that lines without marks continue': `${'>'.repeat(200)} ${line.repeat(100)}`,
		'quotes of one line': `${'>'.repeat(200)} ${'a'.repeat(100_000)}`,
		'quotes of many lines': `${'>'.repeat(200)} ${line}`.repeat(80),
		lists: `${'- '.repeat(200)}${'a'.repeat(100_000)}`,
		'lists in quotes': `${'> - '.repeat(100)}${'a'.repeat(100_000)}`,
	};
	for (const [name, text] of Object.entries(texts)) {
		read = 0;
		t.is(markdownTree(text), undefined, name);
		t.true(read < 50 * text.length, `${name}: ${read / text.length}`);
	}
	t.not(markdownTree(`${'>'.repeat(39)} a\nb\n`), undefined);
	t.not(markdownTree(`${'- '.repeat(19)}a\n`), undefined);
	t.not(markdownTree(`${'> - '.repeat(12)}a\n\n${'> > a\n> - b\n\n'.repeat(500)}`), undefined);
});

test('quotes and lists in Markdown that would be read again and again are refused after some readings', (t) => {
	const { blockTokens, inline } = Lexer.prototype;
	let readings = 0;
	let kept = 0;
	Lexer.prototype.blockTokens = function (...given: Parameters<typeof blockTokens>) {
		readings++;
		return blockTokens.apply(this, given);
	};
	Lexer.prototype.inline = function (...given) {
		kept += given[0].length;
		if (readings > 40_000 || kept > 40_000_000) throw new Error('It is read again and again.');
		return inline.apply(this, given);
	};
	t.teardown(() => {
		Object.assign(Lexer.prototype, { blockTokens, inline });
	});
	const stairs = (depth: number, first: string, mark: (level: number) => string, last = '[a]: b\n') =>
		`${mark(depth)}${first}\n${Array.from({ length: depth }, (_, at) => `${mark(depth - at)}[a]: b\n`).join('')}${last}`;
	const quotes = (level: number) => `${'>'.repeat(level)} `;
	const texts = {
		'headings in a staircase of quotes': stairs(38, `# ${'a'.repeat(2000)}`, quotes),
		'a staircase of few characters': stairs(18, '# a', quotes),
		'a long heading in a low staircase': stairs(14, `# ${'a'.repeat(10_000)}`, quotes),
		'paragraphs in a staircase of quotes': stairs(38, 'a', quotes),
	};
	for (const [name, text] of Object.entries(texts)) {
		readings = 0;
		kept = 0;
		t.is(markdownTree(text), undefined, name);
		t.true(readings < 40_000 && kept < 40_000_000, `${name}: ${readings}, ${kept}`);
	}
	const nested = `${['- a', '  - b', '    - c', '      - d', '        > e', '        > > f'].join('\n')}\n\ntext\n\n`;
	readings = 0;
	kept = 0;
	t.not(markdownTree(nested.repeat(300)), undefined, 'lists and quotes within each other');
	t.not(markdownTree(`${'- a line of a long list, with some words\n'.repeat(3000)}`), undefined);
	t.not(markdownTree(`> > > ${'a line of a long quote\n> > > '.repeat(20_000)}`), undefined);
});

test('a page asks once of each address whether a link may lead there, and of none that is longer than a browser has', (t) => {
	const asked: string[] = [];
	const ask = askOnce((address) => asked.push(address) > 1);
	t.deepEqual(['a', 'b', 'a', 'b', 'a'].map(ask), [false, true, false, true, false]);
	t.deepEqual(asked, ['a', 'b']);
	t.true(mayOpenLink(`https://else/${'a'.repeat(9000)}`, page));
	t.false(mayOpenLink(`https://else/${'a'.repeat(10_000)}`, page));
});

test('a picture in Markdown does not float, where each of thousands would look for its place beside the others', (t) => {
	const src = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
	t.deepEqual(htmlTree(`<img align=left src="${src}">`), [element('img', [], { src })]);
});

test('cells in Markdown that take several places of a table take no more of them than a browser lays out in time', (t) => {
	const spans = (html: string) => JSON.stringify(htmlTree(html)).split('span":"').length - 1;
	t.is(spans('<table><tr>'.concat('<td colspan=100 rowspan=100>a</td>'.repeat(9), '</tr></table>')), 4);
	t.is(spans('<td colspan=100>a</td>'.repeat(9000)), 200);
	t.is(spans('<td rowspan=2>a</td>'.repeat(9000)), 9000);
});

test('Markdown with a paragraph or list of more joined letters than a browser lays out in time is not read', (t) => {
	const letters = (count: number) => 'ب\u064e'.repeat(count / 2);
	t.not(markdownTree(`${letters(18_000)}\n\n`.repeat(20)), undefined);
	t.is(markdownTree(letters(22_000)), undefined);
	t.is(markdownTree(`<b>${letters(12_000)}</b> *${letters(12_000)}*`), undefined);
	t.is(markdownTree(`- ${letters(10_000)}\n`.repeat(12)), undefined);
	t.is(markdownTree(`a${'\u0301'.repeat(22_000)}`), undefined);
});

test('Markdown with more marks, bidi controls or script runs than a browser lays out in time is not read', (t) => {
	const isRefused = (text: string) => markdownTree(`a${text}`) === undefined;
	const piles = {
		isolates: '\u2067a\u2069',
		embeddings: '\u202ba\u202c',
		'marks of direction': 'a\u200fb\u200e',
		'marks of symbols': '\u20d0\u20d1',
		'marks by their numbers': '&#x301;&#x301;',
	};
	for (const [name, part] of Object.entries(piles)) {
		t.false(isRefused(part.repeat(2400)), name);
		t.true(isRefused(part.repeat(2600)), name);
		t.true(isRefused(`${part.repeat(100)}\n\n`.repeat(30)), `${name} in many paragraphs`);
	}
	const parts = {
		'letters and a script beyond the first plane': 'a\u{11005}b\u{11046}',
		'letters in both directions': 'a\u{10800}',
		'mathematical letters': '\u{1d400}'.repeat(4),
		'letters of several scripts': 'aя漢α',
		'letters and wide spaces': '漢\u3000',
		'letters and numbers of another font': '漢1字 漢-字\u2003',
		'form feeds': 'a\f',
		'form feeds alone': '\f',
		'form feeds by their numbers': 'a&#12;',
		'controls by their numbers': '1&#1;',
		'deletions and blanks': ' \x7f',
		'controls of the second set': '.\x85',
		'marks beside letters': ' \u02ff \u2e3a \ufe50'.repeat(2),
		'symbols of two fonts': '⑀▀'.repeat(4),
		'signs of East Asia of two fonts': '㆐䷀'.repeat(4),
		'ideographs and what is none': '日\ufffd'.repeat(4),
		'letters of Cyrillic that are rare': 'ԑԯ'.repeat(4),
		'rare letters of Latin': 'a\u0181 \u0180\u024f'.repeat(2),
		'joiners of words': 'a\u2060\u2064\u206a'.repeat(2),
		'joiners of letters': 'a\u200d\u200c'.repeat(2),
		'letters of private use': '\ue000\uf8ff\u{f0000}\u{10fffd}',
	};
	for (const [name, part] of Object.entries(parts)) {
		t.false(isRefused(part.repeat(2200)), name);
		t.true(isRefused(part.repeat(6000)), name);
	}
	const fonts = {
		'rare letters of Latin': 'a\u1e00',
		'rare letters of Cyrillic': '\u0430\u0460',
		'old letters of Cyrillic': '\u0430\u0400',
		'letters of Greek and what is none': 'α\u038b',
		'rare letters of Armenian': 'ա\u0560',
		arrows: '\u2190\u219a',
		'lines of boxes': '\u2500\u254c',
		'one symbol': '\u2190\u2190',
		braille: '\u2801\u2801',
		emoji: '\u{1f600}\u{1f468}',
		'rare punctuation': 'a\u2045',
		'letters of Chinese and radicals': '日\u2e80',
		'kana and what is none': 'あ\u3097',
		'letters of Chinese that are rare': '\u{20000}\u{2a700}',
		'old letters of Korean': '가\u3164',
	};
	for (const [name, part] of Object.entries(fonts)) {
		t.false(isRefused(part.repeat(9000)), name);
		t.false(isRefused(`${part.repeat(2000)}\n\n`.repeat(60)), `${name} in many paragraphs`);
		t.true(isRefused(part.repeat(50_100)), name);
		t.true(isRefused(`<b>${part.repeat(26_000)}</b> *${part.repeat(26_000)}*`), `${name} in parts of a paragraph`);
		t.true(isRefused(`\n- ${part.repeat(19_000)}`.repeat(8)), `${name} in a list`);
		t.true(isRefused(`\n\n    ${part.repeat(50_100)}`), `${name} in a line of a preformatted text`);
	}
	const drawing = '├──────\n'.repeat(9000);
	t.false(isRefused(`\n\`\`\`\n${drawing}\`\`\`\n`), 'lines are shaped by themselves where their ends are kept');
	t.true(isRefused(drawing), 'in a paragraph they are blanks');
	t.false(isRefused('Người Việt ở nước ngoài. '.repeat(4000)), 'a long paragraph of Vietnamese');
	t.false(isRefused('Русский язык — ёж. '.repeat(15_000)), 'a long paragraph of Russian');
	const texts = [
		'👩🏽‍🚀 漢字かな, ',
		'　そうか！　漢字かな、カナ。',
		'שָׁלוֹם עֲלֵיכֶם 12. ',
		'हिन्दी में ',
		'Tiếng Việt, ö. ',
		'«Русский» — ',
		'Қазақ тілі, әліпби. ',
		'Ἑλληνικὴ γλῶσσα. ',
		'┌──┬─┐▓▒░█▀▄ ▲●■ ',
		'⠁⠂⣿⡇⢸⣀',
		'😀🎉🚀🤖🥳🧑‍🚀🇩🇪',
		'∀x ∈ ℝ: x² ≤ ∑ → √2 ',
		'ガンダム㊙️㍿「々〆」',
		'Ștefan și țara, într-o ',
		'Người Việt ở nước ngoài. ',
		'Hànyǔ pīnyīn: nǚ, lǜ, ǒu. ',
		'Ƙasar Hausa, ɓangaren ƴan ƙauye. ',
		'می‌خواهم کتاب‌ها را ',
		'한국어 문장 1개, ',
	];
	for (const text of texts) t.false(isRefused(`${text.repeat(500)}\n\n`.repeat(20)), text);
	t.false(isRefused('漢字かなカナ。1 '.repeat(20_000)), 'one paragraph');
	t.false(isRefused(`${'A line of a standard.\n'.repeat(58)}\f\n`.repeat(700)), 'pages in one paragraph');
});

test('no tag in Markdown parts a paragraph or block but those of elements that are laid out apart', (t) => {
	const isRefused = (text: string) => markdownTree(text) === undefined;
	const texts = {
		controls: 'a\x7f'.repeat(1000),
		'wide spaces': '日\u3000'.repeat(1000),
		'joined letters': 'ب'.repeat(9000),
		'characters of two fonts': 'a\u1e00'.repeat(15_000),
	};
	const inLine = {
		unknown: '<x></x>',
		'without an end': '<x>',
		empty: '<x/>',
		'left out': '<center></center>',
		removed: '<script>a</script>',
		'removed with elements': '<svg><p>a</p></svg>',
		'a picture that is its text': '<img alt="a">',
		'a field that is left out': '<input>',
		checkbox: '<input type="checkbox">',
		bold: '<b></b>',
		'an end alone': '</div>',
	};
	for (const [name, text] of Object.entries(texts)) {
		for (const [kind, tag] of Object.entries(inLine)) {
			const parted = `${text}${tag}`;
			t.true(isRefused(`T ${parted.repeat(12)}`), `${name}, ${kind}`);
			t.true(isRefused(`</x>\n${parted.repeat(12)}`), `${name} outside of all elements, ${kind}`);
			t.false(isRefused(`T ${parted.repeat(1)}\n\n`), `${name}, ${kind}, once`);
		}
		for (const tag of ['<p></p>', '<div></div>', '<hr>', '<br>']) {
			t.false(
				isRefused(`</x>\n${`${text}${tag}`.repeat(name === 'characters of two fonts' ? 2 : 5)}`),
				`${name}, ${tag}`,
			);
		}
	}
	const broken = `<img src="data:image/png;base64,${pngOf(2, 2).toString('base64')}" alt="${texts.controls}">`;
	t.true(isRefused(broken.repeat(12)), 'the text of a picture, which stands there for one that is broken');
	const outside = `</x>\n${`${'ب'.repeat(9000)}<br><b></b><div></div><x></x>`.repeat(12)}`;
	t.true(isRefused(outside), 'what is outside of all elements is one block');
	t.false(isRefused(`<div>\n${'ب'.repeat(9000)}\n</div>\n\n`.repeat(12)), 'each element at the top is one');
	t.true(
		isRefused(`<x><div>\n${`${'ب'.repeat(9000)}<hr>`.repeat(12)}\n</div></x>`),
		'also within one that is left out',
	);
	t.false(
		isRefused(`<center>\n\n${`${'ب'.repeat(9000)}\n\n`.repeat(12)}</center>`),
		'paragraphs in one that is left out',
	);
});

test('a book or document has no more controls, script runs, joiners or lines than a browser lays out in time', (t) => {
	const isRefused = (paragraph: string, count = 1) => {
		const bound = textBound();
		try {
			for (let index = 0; index < count; index++) {
				bound.add(paragraph);
				bound.endParagraph();
			}
			return false;
		} catch (error) {
			t.true(error instanceof TooMuchMarkup);
			return true;
		}
	};
	const parts = {
		controls: 'a\x7f',
		'symbols of two fonts': '⑀▀'.repeat(4),
		'rare letters of Latin': 'a\u0181'.repeat(4),
		'letters in both directions': 'aא',
		'letters and wide spaces': '漢\u3000',
		'letters and numbers of another font': '日1日1',
		'joiners of words': 'a\u2060'.repeat(4),
		'private use': '\ue000'.repeat(4),
		'bidi controls': '\u2067a\u2069',
	};
	for (const [name, part] of Object.entries(parts)) {
		t.false(isRefused(part.repeat(2000)), name);
		t.true(isRefused(part.repeat(10_100)), name);
		t.true(isRefused(part.repeat(2000), 160), `${name} in many paragraphs`);
	}
	for (const part of ['a\u1e00', '\u0430\u0460', '\u2190\u219a', '\u2500\u254c']) {
		t.true(isRefused(part.repeat(50_001)), part);
		t.false(isRefused(part.repeat(5000), 20), `${part} in many paragraphs`);
	}
	for (const part of ['a\n', '\ta']) t.true(isRefused(part.repeat(100_001)), JSON.stringify(part));
	const texts = [
		'Words of a novel, “and what he said”.\n',
		'Người Việt ở nước ngoài, ư. ',
		'Ștefan și țara, într-o ',
		'Қазақ тілі, әліпби — «так». ',
		'Ἐν ἀρχῇ ἦν ὁ λόγος, ',
		'漢字かなカナ、2024年10月。「そうか」\u3000',
		'他说：“你好”。English 字 1，',
		'한국어 문장은 띄어쓰기가 있다, 1개. ',
	];
	for (const text of texts) {
		t.false(isRefused(text.repeat(Math.floor(1000 / text.length)), 1500), text);
		t.false(isRefused(text.repeat(Math.floor(30_000 / text.length))), `${text} in one paragraph`);
	}
	const joined = [
		'שָׁלוֹם עֲלֵיכֶם 12. ',
		'می‌خواهم کتاب‌ها را (2 بار) ',
		'हिन्दी में लिखा, 10. ',
		'ภาษาไทย 1 คำ ',
		'Հայերեն, բառեր. ',
	];
	for (const text of joined) t.false(isRefused(text.repeat(Math.floor(1000 / text.length)), 330), text);
	const code = '\tif (a) {\n\t\treturn; // it is\n\t}\n\n';
	t.false(isRefused(code.repeat(14_000)), 'code');
});

test('a paragraph of a book goes on behind what other elements have between its texts', (t) => {
	const paragraph = { costly: 0, piled: 0, uncommon: 0 };
	for (const text of ['a\x7f'.repeat(500), 'a\u1e00'.repeat(6000)]) {
		const parted = textBound();
		const whole = textBound();
		const goOn = (times: number) => {
			for (let index = 0; index < times; index++) {
				parted.add(text);
				parted.endParagraph();
				whole.add(text, paragraph);
				whole.add('b');
				whole.endParagraph();
			}
		};
		t.notThrows(() => goOn(5));
		t.throws(() => goOn(6), { instanceOf: TooMuchMarkup }, JSON.stringify(text.slice(0, 2)));
		Object.assign(paragraph, { costly: 0, piled: 0, uncommon: 0 });
	}
	for (const name of ['p', 'div', 'br', 'td']) t.true(isApart(name), name);
	for (const name of ['b', 'x', 'x-section', 'input', 'img', 'dialog', 'math', 'option']) t.false(isApart(name), name);
});

test('Markdown with more lines and tabs in preformatted texts than a browser lays out in a moment is not read', (t) => {
	const isRefused = (text: string) => markdownTree(text) === undefined;
	for (const part of ['\n', 'a\n', '\ta', 'a\r\n']) {
		t.true(isRefused(`\`\`\`\n${part.repeat(100_001)}\n\`\`\``), JSON.stringify(part));
		t.true(isRefused(`<pre>\n<code>${part.repeat(100_001)}</code></pre>`), JSON.stringify(part));
		t.false(isRefused(`<p>${part.repeat(100_001)}</p>`), 'in a paragraph they are blanks');
	}
	t.true(isRefused(`\`\`\`\n${'\n'.repeat(1000)}a\n\`\`\`\n\n`.repeat(101)), 'in many of them');
	const code = '\tif (a) {\n\t\treturn; // it is\n\t}\n\n';
	t.false(isRefused(`\`\`\`js\n${code.repeat(14_000)}\`\`\`\n`), 'code');
	t.false(isRefused(`\`\`\`\n${'1\t22.5\t333.75\t4444\n'.repeat(24_000)}\`\`\`\n`), 'a table');
});

test('a text is cut into blocks of whole lines, and only a line that is too long for a block is cut itself', (t) => {
	const text = `${'line\n'.repeat(250)}${'x'.repeat(3999)}😀${'y'.repeat(5000)}\nend`;
	const blocks = textBlocks(text);
	t.is(blocks.map(({ content }) => content).join(''), text);
	t.deepEqual(
		blocks.map(({ lines, content }) => [lines, content.length]),
		[
			[200, 1000],
			[50, 250],
			[34, 3999],
			[34, 4000],
			[9, 1006],
		],
	);
	t.deepEqual(textBlocks(''), []);
});

test('colours go on in the next block, and a text with too many has none', (t) => {
	const html = `<span class="a">${'line\n'.repeat(250)}</span>end`;
	t.deepEqual(colouredBlocks(html), [
		{ lines: 200, content: `<span class="a">${'line\n'.repeat(200)}</span>` },
		{ lines: 51, content: `<span class="a">${'line\n'.repeat(50)}</span>end` },
	]);
	t.is(colouredBlocks('<span class="a">'.repeat(41)), undefined);
	t.is(colouredBlocks('<i>x</i>\n'.repeat(100_001)), undefined);
	t.is(colouredBlocks('x'.repeat(16_001)), undefined);
});

test('a line in colours has no more letters that join, or script runs, than a browser lays out in a moment, and the height of what it wraps to', (t) => {
	t.is(colouredBlocks(`<i>${'ب'.repeat(4001)}</i>`), undefined);
	t.is(colouredBlocks('\u2067a\u2069'.repeat(2001)), undefined);
	t.is(colouredBlocks('aб'.repeat(2001)), undefined);
	for (const part of ['a\u1e00', '\u0430\u0460', '\u2190\u219a']) {
		t.is(colouredBlocks(`<i>${part.repeat(4001)}</i>`), undefined, part);
		t.not(colouredBlocks(`<i>${part.repeat(1900)}</i>\n`.repeat(20)), undefined, part);
	}
	t.deepEqual(
		colouredBlocks(`${`<i>${'ب'.repeat(120)}</i>\n`.repeat(60)}${'x'.repeat(1000)}`)?.map(({ lines }) => lines),
		[129],
	);
});

test('the elements of XML are counted, whatever lies in its comments, sections, attributes and declarations', (t) => {
	t.is(
		countElements(
			'<?a <b> ?><!DOCTYPE a [<!ATTLIST a b CDATA "></a></a>">]><a b="<c>"><!-- <d> --><e/><![CDATA[<f>]]></a>',
		),
		2,
	);
	const deepest = (before = '') => `<a>${before}`.repeat(100);
	t.is(countElements(deepest()), 100);
	for (const before of ['', '<!-- </a> -->', '<![CDATA[</a>]]>', '<?b </a>?>', '<b c="</a>"/>']) {
		t.throws(() => countElements(`${deepest(before)}<a>`), { instanceOf: TooMuchMarkup }, before);
	}
	t.throws(() => countElements('<a/>'.repeat(20_001)), { instanceOf: TooMuchMarkup });
});

test('entities may stand for texts, and not for elements or other entities', (t) => {
	const drawing = (value: string) => `<!DOCTYPE a [<!ENTITY b "${value}">]><a>&b;</a>`;
	t.is(countElements(drawing('http://www.w3.org/2000/svg&#160;')), 1);
	for (const value of ['<c/>', '&c;', '&#60;c/>', '&#x3C;c/>', '&#38;c;', '%c;']) {
		t.throws(() => countElements(drawing(value)), { instanceOf: TooMuchMarkup }, value);
	}
});

test('HTML that is no XML becomes XML with the same elements', (t) => {
	const [, inside] =
		/^<html [^>]*>(.*)<\/html>$/s.exec(
			htmlAsXml(
				'<!DOCTYPE html><html lang="en"><body><p title=\'"\' 1x="y">a&nbsp;b<br>c<p>d\u0001&lt;<svg><a xlink:href="#e"/></svg><title/><b>e',
			),
		) ?? [];
	t.is(
		inside,
		'<body><p title="&quot;">a\u00A0b<br></br>c</p><p>d&lt;<svg xmlns="http://www.w3.org/2000/svg"><a xlink:href="#e"></a></svg><title></title><b>e</b></p></body>',
	);
	t.true(htmlAsXml('<html lang="en"><p>').startsWith('<html xmlns="http://www.w3.org/1999/xhtml"'));
	t.is(textOfHtml('<p>a <b>quiet</b> novel &amp; more</p>', 15), 'a quiet novel &');
	const drawing =
		'<svg viewbox="0 0 6 8" CLASS="a"><clipPath clipPathUnits="userSpaceOnUse"/><image xlink:href="a"/></svg><p viewBox="a"/>';
	const drawn = htmlAsXml(`<p>a&nbsp;${drawing}`);
	t.true(
		drawn.includes(
			'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 6 8" class="a"><clipPath clipPathUnits="userSpaceOnUse"></clipPath><image xlink:href="a"></image></svg>',
		),
		drawn,
	);
	t.true(drawn.includes('<p viewbox="a">'), 'of anything else as before');
	const deep = `text${'<b>'.repeat(2000)}below`;
	t.throws(() => htmlAsXml(deep), { instanceOf: TooMuchMarkup });
	t.is(textOfHtml(deep, 100), 'text');
});

test('characters that only HTML names get their numbers in XML', (t) => {
	t.is(
		numberCharacters('<a b="&QUOT;&LT;&nbsp;">&amp;&eacute;&lt;</a>'),
		'<a b="&#34;&#60;&#160;">&amp;&#233;&lt;</a>',
	);
	t.is(numberCharacters('&nothing; &#233; & b; &eacute;&eacute;'), '&nothing; &#233; & b; &#233;&#233;');
});

test('a document is refused for what its pages and notes repeat, and for its styles and lists', (t) => {
	const nodes = (count: number, node: object) => Array.from({ length: count }, () => node);
	const text = { type: 'text' };
	const document = (children: object[], parts: object[] = []) => ({ documentPart: { body: { children } }, parts });
	const refused = (given: Parameters<typeof assertModestPages>[0]) =>
		t.throws(() => assertModestPages(given), { instanceOf: TooMuchMarkup });
	const header = { rootElement: { type: 'header', children: nodes(100, text) } };
	assertModestPages(document(nodes(29_000, text)));
	assertModestPages(document([{ type: 'image', src: '' }], [{ rels: null, path: 'word/styles.xml' }]));
	refused(document(nodes(30_000, text)));
	assertModestPages(document(nodes(100, { break: 'page' }), [header]));
	refused(document(nodes(200, { break: 'page' }), [header]));
	refused(document(nodes(200, { sectionProps: {} }), [header]));
	refused(document(nodes(300, { type: 'footnoteReference' }), [{ notes: [{ children: nodes(100, text) }] }]));
	refused({ ...document([]), stylesPart: { styles: nodes(2001, {}) } });
	refused({ ...document([]), numberingPart: { domNumberings: nodes(2001, {}) } });
});

test('a document is refused for lists that would be gone through for each page, picture, style or level', (t) => {
	const many = (count: number) => Array.from({ length: count }, () => ({}));
	const word = (given: object, body: object = {}) => ({ documentPart: { body }, parts: [], ...given });
	for (const [few, tooMany] of [
		[word({ contentTypes: many(2000) }), word({ contentTypes: many(5001) })],
		[
			word({ stylesPart: { styles: [{ styles: many(100) }] } }),
			word({ stylesPart: { styles: [{ styles: many(301) }] } }),
		],
		[word({}, { props: { headerRefs: many(6) } }), word({}, { props: { headerRefs: many(60), footerRefs: many(41) } })],
		[
			word({}, { children: [{ sectionProps: { footerRefs: many(6) } }] }),
			word({}, { children: [{ sectionProps: { footerRefs: many(101) } }] }),
		],
	] as const) {
		assertModestPages(few);
		t.throws(() => assertModestPages(tooMany), { instanceOf: TooMuchMarkup });
	}
	const bullets = (count: number) =>
		openZip(zipped({ a: '', 'n.xml': `<abstractNum>${'<w:numPicBullet/><w:lvl/>'.repeat(count)}</abstractNum>` }), 1e6);
	assertModestFiles(bullets(1000));
	t.throws(() => assertModestFiles(bullets(2000)), { instanceOf: TooMuchMarkup });
});

test('a document is refused for the characters that its styles, lists and pages would be written with', (t) => {
	const long = 'x'.repeat(100_000);
	const many = <T>(item: (at: number) => T, count = 400) => Array.from({ length: count }, (_, at) => item(at));
	const body = { children: [] };
	const word = (styles: object[], levels: object[] = []) => ({
		documentPart: { body },
		parts: [],
		stylesPart: { styles },
		numberingPart: { domNumberings: levels },
	});
	const refused = (given: Parameters<typeof assertModestPages>[0]) =>
		t.throws(() => assertModestPages(given), { instanceOf: TooMuchMarkup });
	const family = { styles: [{ values: { 'font-family': long } }] };
	const first = { id: 'first', ...family };
	assertModestPages(word([first, ...many((at) => ({ id: `${at}` }))]));
	refused(word([first, ...many((at) => ({ id: `${at}`, basedOn: 'first' }))]));
	refused(word([first, ...many((at) => ({ id: `${at}`, linked: 'first' }))]));
	refused(
		word([
			{ id: 'first', styles: many(() => ({ values: {} }), 1000) },
			...many((at) => ({ id: `${at}`, linked: 'first' })),
		]),
	);
	refused(word([{ id: long, styles: many(() => ({ values: {} })) }]));
	// Styles that are based on each other, or on themselves.
	assertModestPages(
		word([
			{ id: 'a', basedOn: 'b', linked: 'a', ...family },
			{ id: 'b', basedOn: 'a' },
			{ id: 'c', basedOn: 'c' },
		]),
	);
	assertModestPages(
		word(
			[],
			many((at) => ({ id: `${at}`, levelText: '%1.%2.%3.%4.%5.%6.%7.%8.%9', pStyle: { margin: '1pt' } }), 2000),
		),
	);
	refused(
		word(
			[],
			many((at) => ({ id: `${at}`, levelText: long })),
		),
	);
	refused(
		word(
			[],
			many((at) => ({ id: `${at}`, rStyle: { color: long } })),
		),
	);
	refused(
		word(
			[],
			many(() => ({ id: long })),
		),
	);

	const pages = { children: many(() => ({ break: 'page' }), 100) };
	const header = (node: object) => ({ documentPart: { body: pages }, parts: [{ rootElement: { children: [node] } }] });
	assertModestPages(header({ text: 'short', cssStyle: { color: 'red' } }));
	for (const node of [
		{ text: long },
		{ styleName: long },
		{ cssStyle: { color: long } },
		{ attrs: { stroke: long } },
	]) {
		refused(header(node));
	}
	const links = { children: many((at) => ({ type: 'hyperlink', id: 'link', anchor: `${at}` })) };
	refused({ documentPart: { body: links, rels: [{ id: 'link', target: long }] }, parts: [] });
	const twice = [
		{ id: 'link', target: long },
		{ id: 'link', target: '' },
	];
	refused({ documentPart: { body: links, rels: twice }, parts: [] });
	for (const picture of [{ type: 'image', src: 'link' }, { imageHref: { id: 'link' } }]) {
		const pictures = { children: many(() => picture) };
		refused({ documentPart: { body: pictures, rels: twice }, parts: [] });
		refused({ documentPart: { body: pictures, path: long, rels: [{ id: 'link', target: 'a.png' }] }, parts: [] });
		refused({ documentPart: { body: pages }, parts: [{ rootElement: { children: [picture] }, rels: twice }] });
		assertModestPages({ documentPart: { body: pictures, rels: [{ id: 'link', target: 'a.png' }] }, parts: [] });
	}
	const relations = many((at) => ({ id: `${at}`, target: 'a' }), 20_000);
	assertModestPages({ documentPart: { body: { children: many(() => ({}), 5000) }, rels: relations }, parts: [] });
	refused({ documentPart: { body: { children: many(() => ({}), 11_000) }, rels: relations }, parts: [] });
	assertModestPages({
		documentPart: { body: links, rels: [{ id: 'link', target: 'https://example.com' }] },
		parts: [],
	});
});

const zip = (files: Record<string, string>) => ({
	names: Object.keys(files),
	has: (name: string) => name in files,
	read: (name: string) => new Uint8Array(Buffer.from(files[name] ?? '')),
});

test('a document is not parsed whose lists have more levels together than could be copied', (t) => {
	const lists = (count: number, levels: number, prefix = 'w:') =>
		`<${prefix}numbering>${`<${prefix}abstractNum>${`<${prefix}lvl/>`.repeat(9)}</${prefix}abstractNum>`.repeat(levels / 9)}${`<${prefix}num w:numId="1"></${prefix}num>`.repeat(count)}</${prefix}numbering>`;
	assertModestFiles(zip({ 'word/numbering.xml': lists(900, 1800) }));
	for (const prefix of ['w:', '', 'other:']) {
		const file = zip({ 'word/a.xml': lists(9000, 18_000, prefix) });
		t.throws(() => assertModestFiles(file), { instanceOf: TooMuchMarkup });
	}
});

test('the elements of all files of a document are counted together, whatever they are called', (t) => {
	const half = '<a/>'.repeat(50_001);
	assertModestFiles(zip({ 'a.xml': half, 'b.png': 'PNG<a>', 'c.txt': half.replace('<', 'x') }));
	for (const start of ['', '\uFEFF', ' \n']) {
		t.throws(() => assertModestFiles(zip({ 'a.xml': half, 'b.png': start + half })), { instanceOf: TooMuchMarkup });
	}
	t.throws(() => assertModestFiles(zip(Object.fromEntries(Array.from({ length: 5001 }, (_, at) => [`${at}`, ''])))));
});

const opened = (chapter: number, down = 0): Reading => {
	const book = { title: '', creator: '', description: '', publisher: '', language: '', toc: [] };
	const event = { kind: 'opened', book: { ...book, chapters: ['a', 'b', 'c'], asides: ['n'] } } as const;
	return nextReading({ status: 'loading', position: { chapter, down } }, event);
};
const placeIn = (reading: Reading) => (reading.status === 'failed' ? undefined : reading.position);

test('a book opens at its last position, and at its last chapter if it has fewer by now', (t) => {
	t.deepEqual(placeIn(opened(1, 0.5)), { chapter: 1, down: 0.5 });
	t.deepEqual(placeIn(opened(7, 0.5)), { chapter: 2, down: 0 });
	t.deepEqual(parsePosition(storedPosition({ chapter: 2, down: 0.25 })), { chapter: 2, down: 0.25 });
	for (const stored of [undefined, '', 'x', '-1:0', '1.5:0'])
		t.deepEqual(parsePosition(stored), { chapter: 0, down: 0 });
});

test('a page that is turned at the end of a chapter begins the next one, once', (t) => {
	const next = nextReading(opened(0), { kind: 'ended', chapter: 0, by: 1 });
	t.deepEqual(placeIn(next), { chapter: 1, down: 0 });
	// Another page was turned before the chapter was there.
	t.is(nextReading(next, { kind: 'ended', chapter: 0, by: 1 }), next);
	t.deepEqual(placeIn(nextReading(next, { kind: 'ended', chapter: 1, by: -1 })), { chapter: 0, down: 1 });
	t.deepEqual(placeIn(nextReading(opened(2), { kind: 'stepped', by: 1 })), { chapter: 2, down: 0 });
	t.deepEqual(placeIn(nextReading(opened(0), { kind: 'followed', href: 'c#d' })), {
		chapter: 2,
		down: 0,
		fragment: 'd',
	});
	t.deepEqual(placeIn(nextReading(opened(0), { kind: 'followed', href: 'd' })), { chapter: 0, down: 0 });
	const failed = nextReading(next, { kind: 'failed' });
	t.is(nextReading(failed, { kind: 'stepped', by: 1 }), failed);
});

test('a link leads to a note beside the reading order, and each step back to where it was', (t) => {
	const note = nextReading(opened(1), { kind: 'followed', href: 'n#x', down: 0.25 });
	t.like(note, { position: { chapter: 3, down: 0, fragment: 'x' }, from: { chapter: 1, down: 0.25 } });
	t.like(nextReading(note, { kind: 'followed', href: 'n#y', down: 0.75 }), { from: { chapter: 1, down: 0.25 } });
	for (const back of [
		nextReading(note, { kind: 'stepped', by: 1 }),
		nextReading(note, { kind: 'stepped', by: -1 }),
		nextReading(note, { kind: 'ended', chapter: 3, by: 1 }),
	]) {
		t.like(back, { position: { chapter: 1, down: 0.25 }, from: undefined });
	}
	// The text has a link back.
	t.like(nextReading(note, { kind: 'followed', href: 'b#r', down: 0 }), { position: { chapter: 1 }, from: undefined });
});

test('a chapter that can not be shown leaves the book open, whose other chapters are read', (t) => {
	const second = nextReading(opened(0), { kind: 'stepped', by: 1 });
	const failed = nextReading(second, { kind: 'chapterFailed', chapter: 1 });
	t.like(failed, { status: 'open', chapter: 'failed', isReady: true });
	t.is(nextReading(failed, { kind: 'chapterShown', chapter: 1 }), failed, 'said before it failed');
	const third = nextReading(failed, { kind: 'stepped', by: 1 });
	t.like(third, { status: 'open', chapter: 'wanted', position: { chapter: 2 } });
	t.is(nextReading(third, { kind: 'chapterFailed', chapter: 1 }), third, 'another one is wanted by now');
	t.like(nextReading(third, { kind: 'chapterShown', chapter: 2 }), { chapter: 'shown' });
	// The first one as well.
	t.like(nextReading(opened(0), { kind: 'chapterFailed', chapter: 0 }), { status: 'open', chapter: 'failed' });
});

test('a book is opened again in a new frame, without the chapter with which one was silent', (t) => {
	const silent = nextReading(opened(1), { kind: 'silent' });
	t.like(silent, { status: 'open', chapter: 'failed', isReady: false });
	const again = (reading: Reading) =>
		nextReading(reading, { kind: 'opened', book: (opened(0) as Extract<Reading, { status: 'open' }>).book });
	t.like(again(silent), { chapter: 'failed', isReady: true, position: { chapter: 1 } });
	const next = nextReading(silent, { kind: 'stepped', by: 1 });
	t.like(next, { chapter: 'wanted', isReady: false });
	t.like(again(next), { chapter: 'wanted', isReady: true, position: { chapter: 2 } });
	// It is the book itself.
	t.is(nextReading(silent, { kind: 'silent' }).status, 'failed');
	t.is(nextReading({ status: 'loading', position: { chapter: 0, down: 0 } }, { kind: 'silent' }).status, 'failed');
});

test('what the frame of a file says is read by its form', (t) => {
	t.true(frameEvent.safeParse({ kind: 'failed' }).success);
	t.true(frameEvent.safeParse({ kind: 'ended', chapter: 1, by: -1 }).success);
	for (const other of [
		undefined,
		'failed',
		{ kind: 'other' },
		{ kind: 'link', address: {} },
		{ kind: 'ended', chapter: 1, by: 9 },
		{ kind: 'link', address: `https://a/${'a'.repeat(20_000)}` },
	]) {
		t.false(frameEvent.safeParse(other).success);
	}
});

test('a frame can not have the page show a table of contents without an end', (t) => {
	const line = (items: readonly object[]) => ({ label: 'a', href: 'b', items });
	const texts = { title: '', creator: '', description: '', publisher: '', language: '' };
	const isRead = (toc: readonly object[]) =>
		frameEvent.safeParse({ kind: 'opened', book: { ...texts, chapters: ['b'], asides: [], toc } }).success;
	const nested = (levels: number) => {
		let lines: object[] = [];
		for (let level = 0; level < levels; level++) lines = [line(lines)];
		return lines;
	};
	t.true(isRead(nested(9)));
	t.false(isRead(nested(10)));
	t.false(isRead(nested(50_000)));
	const many = Array.from({ length: 100 }, () => line(Array.from({ length: 60 }, () => line([]))));
	t.true(isRead(many.slice(0, 80)));
	t.false(isRead(many));
	t.false(isRead([{ ...line([]), label: 'a'.repeat(501) }]));
});

test('a frame that says more than a page could hear has failed, and is heard no more', async (t) => {
	const ports: MessagePort[] = [];
	const target = { postMessage: (_: string, __: string, given: MessagePort[]) => ports.push(...given) };
	const heard: string[] = [];
	const failed = new Promise<void>((resolve) => {
		connectFrame(target as unknown as Window, ({ kind }) => {
			heard.push(kind);
			if (kind === 'failed') resolve();
		});
	});
	const [port] = ports;
	for (let count = 0; count < 5000; count++) port?.postMessage({ kind: 'scrolled', chapter: 0, down: 0 });
	await failed;
	// The others have arrived already.
	await new Promise(setImmediate);
	t.true(heard.length <= 1001);
	t.is(heard.indexOf('failed'), heard.length - 1);
});

test('a page of a PDF has no more links and texts than a browser lays out in a moment', async (t) => {
	const texts = Array.from({ length: 30 }, () => ({ items: Array.from({ length: 1000 }, () => ({ str: 'word' })) }));
	const made = {
		getAnnotations: async () => Array.from({ length: 40_000 }, () => ({})),
		streamTextContent: () =>
			new ReadableStream<(typeof texts)[number]>({
				start(controller) {
					for (const chunk of texts) controller.enqueue(chunk);
					controller.close();
				},
			}),
	};
	const document = { getPage: async () => made };
	boundPages(document);
	await document.getPage();
	const page = await document.getPage();
	t.is((await page.getAnnotations()).length, 2000);
	let items = 0;
	for await (const chunk of page.streamTextContent() as unknown as AsyncIterable<(typeof texts)[number]>) {
		items += chunk.items.length;
	}
	t.is(items, 8_000);
});

test('subtitles have no more files, cues and characters than a browser lays out in time', (t) => {
	const film = { name: 'a.mp4', path: 'a.mp4', type: 'file', size: 1, mtime: 0 } as unknown as Entry;
	const beside = Array.from({ length: 300 }, (_, index) => ({
		...film,
		name: `a.${index}.srt`,
		path: `a.${index}.srt`,
	}));
	t.is(subtitlesOf(film, beside as Entry[]).length, 30);
	const cue = (text: string, at = 0) => {
		const minute = `${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`;
		return `1\n${minute}:00,000 --> ${minute}:59,000\n${text}\n\n`;
	};
	const countIn = (vtt: string) => vtt.split('-->').length - 1;
	t.is(countIn(toVtt(Array.from({ length: 11_000 }, (_, at) => cue('a', at % 5900)).join(''))), 10_000);
	t.is(countIn(toVtt(cue('a').repeat(100))), 12, 'at the same time');
	t.is(countIn(toVtt(`WEBVTT\n\n${'00:00.000 --> 99:00:00.000\na\n'.repeat(30)}`)), 12, 'in one block');
	t.is(countIn(toVtt(cue('long') + Array.from({ length: 90 }, (_, at) => cue('a', at)).join(''))), 91);
	t.true(toVtt(cue('a'.repeat(1_000_000))).length < 1100);
	t.true(toVtt(`WEBVTT\n\n${cue('a'.repeat(1_000_000))}`).length < 1100);
});

test('a cell of a table has no more letters that join or combine than it can show', (t) => {
	const cellsOf = (text: string) => runTextTask({ kind: 'table', text, delimiter: ',' });
	const pointed = 'ש\u05b8'.repeat(60);
	const long = 'a'.repeat(500);
	t.deepEqual(cellsOf(`${pointed},${long}`), [[pointed, long]]);
	t.deepEqual(cellsOf(`a${'\u0301'.repeat(480)}b,${'ب'.repeat(480)}`), [[`a${'\u0301'.repeat(120)}`, 'ب'.repeat(120)]]);
});

test('a cue of subtitles stands on a line that a browser finds at once, and has few tags', (t) => {
	const cue = (settings: string, text = 'a') => `00:01.000 --> 00:02.000${settings}\n${text}`;
	const shown = (text: string) => toVtt(`WEBVTT\n\n${text}`).slice('WEBVTT\n\n'.length);
	for (const settings of ['line:-999999999', 'line:999999999', 'line:1e9', 'line:100', 'line:-999999999,start']) {
		t.is(shown(cue(` ${settings} align:start`)), cue(' align:start'), settings);
	}
	t.is(shown(cue('line:99999')), cue(''), 'behind the time at once');
	const plain = ' line:-2,end position:10%,line-left size:35% align:start vertical:rl region:fred';
	for (const settings of [plain, ' line:0', ' line:84.5%', ' line:100%']) t.is(shown(cue(settings)), cue(settings));
	const karaoke = '<00:01.100><c> word</c>'.repeat(16);
	t.is(shown(cue('', karaoke)), cue('', karaoke));
	t.is(shown(cue('', '<ruby>b<rt>'.repeat(80))), cue('', 'b'.repeat(80)));
	t.false(shown(cue('', '<'.repeat(900))).includes('<'));
});

test('styles of subtitles have nothing but colours, fonts and lines, wherever they are', (t) => {
	const cue = '00:01.000 --> 00:02.000\na';
	const shown = (...blocks: string[]) =>
		toVtt(['WEBVTT', ...blocks].join('\n\n'))
			.split('\n\n')
			.slice(1);
	const styled = (css: string) => shown(`STYLE\n${css}`, cue).slice(0, -1);
	const plain = [
		'::cue {color: red}',
		'::cue(v[voice="A B"]:lang(en), .b:past) {color: rgba(255 0 0 / 50%); font: italic 1.2em/1.5 "Gill Sans", serif}',
	];
	t.deepEqual(styled(plain.join('\n')), [`STYLE\n${plain.join('\n')}`]);
	t.deepEqual(styled('/* one */::cue(b)\n{\n/* two */ COLOR : red;\n}\n/* three'), ['STYLE\n::cue(b) {COLOR : red}']);

	const wide = Array<string>(40).fill('1px 1px 900px red').join();
	t.deepEqual(styled(`::cue { TEXT-shadow : ${wide}; color: red }`), ['STYLE\n::cue {color: red}']);
	for (const declaration of [
		`text-shadow: ${wide}`,
		`text-shadow/**/: ${wide}`,
		`text-sha\\64 ow: ${wide}`,
		// A drawing of a kilobyte whose references multiply would stop the page.
		'background: url("data:image/svg+xml,%3Csvg%3E")',
		'background: URL(/a)',
		'background: u\\72l(/a)',
		'background: red, image-set("/a" 1x)',
		'background: rgb(0, 0, url(/a))',
		'background: repeating-conic-gradient(red 0, blue .001deg)',
		'background-color: var(--a)',
		'background-image: none',
		'--a: red',
	]) {
		t.deepEqual(styled(`::cue { ${declaration} }`), [], declaration);
	}
	for (const css of [
		'@import url(/a);',
		'::cue { ::cue { color: red } }',
		'::cue(:has(b)) { color: red }',
		'b { color: red }',
	]) {
		t.deepEqual(styled(css), [], css);
	}
	t.deepEqual(
		shown(`STYLE\n::cue { text-shadow: ${wide} }\n${cue}`),
		[`::cue { text-shadow: ${wide} }\n${cue}`],
		'its name',
	);
	t.deepEqual(
		shown('REGION\nid:a width:40%\nSTYLE\n::cue { text-shadow: none }', cue)[0],
		'REGION\nid:a width:40%',
		'in a region',
	);
});

/** How much of it a stream is after decompression, as pdf.js reads one. */
async function unpackedBytes(scope: Pick<typeof globalThis, 'DecompressionStream'>, packed: Buffer): Promise<number> {
	const { readable, writable } = new scope.DecompressionStream('deflate');
	const writer = writable.getWriter();
	writer
		.write(new Uint8Array(packed))
		.then(() => writer.close())
		// Reading throws the same.
		.catch(() => {});
	let sum = 0;
	for await (const chunk of readable) sum += chunk.length;
	return sum;
}

/** What a worker has, to be bounded. */
const unboundScope = () => ({
	Uint8Array,
	Uint8ClampedArray,
	Int16Array,
	Uint16Array,
	Int32Array,
	Uint32Array,
	Float32Array,
	DecompressionStream,
});

test('a PDF names no length of a list that takes more memory than its streams may', (t) => {
	const scope = unboundScope();
	boundMemory(scope);
	// The columns of a fax, the coefficients of a JPEG.
	t.throws(() => new scope.Uint32Array(maxUnpackedBytes / 4 + 1), { instanceOf: RangeError });
	t.throws(() => new scope.Int16Array(maxUnpackedBytes / 2 + 1), { instanceOf: RangeError });
	t.throws(() => new scope.Uint8ClampedArray(2 * maxUnpackedBytes + 1), { instanceOf: RangeError });
	t.is(new scope.Uint8ClampedArray(4 * 100_000_000).length, 400_000_000, 'a picture of 100 megapixels');
	t.deepEqual(new scope.Uint32Array([1, 2]), Uint32Array.from([1, 2]));
	t.is(new scope.Int16Array(new ArrayBuffer(8), 2, 3).length, 3);
});

test('a stream of a PDF is unpacked up to a bound', async (t) => {
	const scope = unboundScope();
	boundMemory(scope);
	t.is(new scope.Uint8Array(maxUnpackedBytes).length, maxUnpackedBytes);
	t.throws(() => new scope.Uint8Array(maxUnpackedBytes + 1), { instanceOf: RangeError });
	t.deepEqual(new scope.Uint8Array([1, 2]), Uint8Array.from([1, 2]));
	t.true(new Uint8Array(1) instanceof scope.Uint8Array);
	const ordinary = Buffer.alloc(5_000_000, 'paper ');
	t.is(await unpackedBytes(scope, deflateSync(ordinary)), ordinary.length);
	const bomb = deflateSync(Buffer.alloc(maxUnpackedBytes + 1));
	await t.throwsAsync(unpackedBytes(scope, bomb), { instanceOf: RangeError });
});

/** A worker that answers a task by one of its events. */
function workerWith(event: 'message' | 'error', content: object): Worker {
	const worker = {
		terminate() {},
		postMessage() {
			queueMicrotask(() => worker[`on${event}`]({ preventDefault() {}, ...content }));
		},
	} as unknown as Worker & Record<`on${typeof event}`, (event: object) => void>;
	return worker;
}

test.serial(
	'a worker that could not be loaded is told from one that fails or is ended, and has the page look for a new version',
	async (t) => {
		const page = new EventTarget();
		Object.assign(globalThis, { window: page });
		t.teardown(() => Reflect.deleteProperty(globalThis, 'window'));
		let notices = 0;
		page.addEventListener('vite:preloadError', () => notices++);
		const { signal } = new AbortController();
		t.is(await runInWorker(workerWith('message', { data: 7 }), 'task', signal), 7);
		t.is(await runInWorker(workerWith('error', { message: 'Uncaught RangeError' }), 'task', signal), undefined);
		const end = new AbortController();
		const ended = runInWorker(workerWith('message', {}), 'task', end.signal);
		end.abort();
		t.is(await ended, undefined);
		t.is(notices, 0);
		await t.throwsAsync(runInWorker(workerWith('error', {}), 'task', signal), { instanceOf: WorkerNotLoaded });
		t.is(notices, 1);
	},
);
