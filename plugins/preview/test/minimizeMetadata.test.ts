import { crc32, deflateSync } from 'node:zlib';
import test from 'ava';
import { imageFormat } from '../src/images/child/imageFormat.js';
import { minimizeMetadata } from '../src/images/child/minimizeMetadata.js';
import { assertPicture, rendering, sharp } from './rendering.js';

interface Entry {
	tag: number;
	type?: number;
	count?: number;
	value: number;
}

const orientation = (value: number, type = 3, count = 1): Entry => ({ tag: 0x0112, type, count, value });

/** EXIF data with one directory. */
function exif(entries: readonly Entry[], { order = 'II', directory = 8 } = {}): Buffer {
	const data = Buffer.alloc(directory + 2 + 12 * entries.length + 4);
	const write = (value: number, at: number, width: number) =>
		order === 'II' ? data.writeUIntLE(value, at, width) : data.writeUIntBE(value, at, width);
	data.write(order, 'latin1');
	write(42, 2, 2);
	write(directory, 4, 4);
	write(entries.length, directory, 2);
	for (const [index, { tag, type = 4, count = 1, value }] of entries.entries()) {
		const at = directory + 2 + 12 * index;
		write(tag, at, 2);
		write(type, at + 2, 2);
		write(count, at + 4, 4);
		const width = [1, 1, 1, 2, 4, 8, 1, 1, 2, 4][type] ?? 4;
		write(value, at + 8, Math.min(width, 4));
	}
	return data;
}

/** Each of 5,000 entries leads to the directory that it is in, which the library reads again for each. */
const costly = (tag: number, of: readonly Entry[] = []) =>
	exif([...of, ...Array<Entry>(5000 - of.length).fill({ tag, value: 8 })]);

const image = () => sharp({ create: { width: 40, height: 20, channels: 3, background: 'red' } });

/** A segment of a JPEG file; the prefix is that of EXIF data. */
function segment(data: Buffer, prefix = 'Exif\0\0'): Buffer {
	const header = Buffer.alloc(4 + prefix.length);
	header.write(`\xFF\xE1..${prefix}`, 'latin1');
	header.writeUInt16BE(2 + prefix.length + data.length, 2);
	return Buffer.concat([header, data]);
}

const jpeg = async (...segments: Buffer[]) => {
	const bytes: Buffer = await image().jpeg().toBuffer();
	return Buffer.concat([bytes.subarray(0, 2), ...segments, bytes.subarray(2)]);
};

const png = (data: Buffer) => pngWith(pngChunk('eXIf', data));

function pngChunk(type: string, data: Buffer): Buffer {
	const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
	const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	length.writeUInt32BE(data.length);
	checksum.writeUInt32BE(crc32(body));
	return Buffer.concat([length, body, checksum]);
}

async function pngWith(...chunks: Buffer[]): Promise<Buffer> {
	const bytes: Buffer = await image().png().toBuffer();
	return Buffer.concat([bytes.subarray(0, 33), ...chunks, bytes.subarray(33)]);
}

async function webp(data: Buffer): Promise<Buffer> {
	// As a file with other EXIF data, which are its last chunk.
	const bytes: Buffer = await image()
		.withExif({ IFD0: { Artist: 'Somebody' } })
		.webp()
		.toBuffer();
	const header = Buffer.from('EXIF....', 'latin1');
	header.writeUInt32LE(data.length, 4);
	const made = Buffer.concat([
		bytes.subarray(0, bytes.lastIndexOf('EXIF')),
		header,
		data,
		Buffer.alloc(data.length % 2),
	]);
	made.writeUInt32LE(made.length - 8, 4);
	return made;
}

/** The data take the place of as many bytes. */
async function avif(data: Buffer): Promise<Buffer> {
	const text = 'Q'.repeat(data.length);
	const bytes: Buffer = await image()
		.withExif({ IFD0: { Artist: text } })
		.avif({ effort: 0 })
		.toBuffer();
	data.copy(bytes, bytes.lastIndexOf('II*\0', bytes.indexOf('QQQQ'), 'latin1'));
	return bytes;
}

const makers = {
	jpeg: (data: Buffer) => jpeg(segment(data)),
	png,
	webp,
	avif,
};

/** What the decoder finds in it, before or after. */
async function metadata(bytes: Buffer) {
	const { width, height, orientation, icc } = await sharp(bytes).metadata();
	return { width, height, orientation, icc };
}

const minimized = (bytes: Buffer): Buffer => {
	const copy = Buffer.from(bytes);
	minimizeMetadata(copy, imageFormat(copy) ?? 'gif');
	return copy;
};

for (const [format, make] of Object.entries(makers)) {
	test(`EXIF data in ${format} whose entries lead to each other cost the decoder no time`, async (t) => {
		const made = await rendering(t);
		// It has started its child.
		await made.write('a.jpg', await image().jpeg().toBuffer());
		await made.render('a.jpg');
		for (const tag of [0x8769, 0x8825, 0xa005]) {
			await made.write('a.jpg', await make(costly(tag)));
			// It took 9 s.
			const start = performance.now();
			await assertPicture(t, await made.render('a.jpg'), 40, 20);
			t.true(performance.now() - start < 4000, `${Math.round(performance.now() - start)} ms`);
		}
	});
}

test('compressed texts of a PNG cost the decoder no time, however long they are', async (t) => {
	const made = await rendering(t);
	await made.write('a.jpg', await image().jpeg().toBuffer());
	await made.render('a.jpg');
	const [plain, long] = [Buffer.from('text'), deflateSync(Buffer.alloc(7_000_000, 'x'))];
	const texts = Array.from({ length: 300 }, (_, index) => [
		pngChunk('tEXt', Buffer.concat([Buffer.from(`a${index}\0`), plain])),
		pngChunk('zTXt', Buffer.concat([Buffer.from(`b${index}\0\0`), long])),
		pngChunk('iTXt', Buffer.concat([Buffer.from(`c${index}\0\x01\0\0\0`), long])),
	]);
	const bytes = await pngWith(...texts.flat(), pngChunk('eXIf', exif([orientation(6)])));
	await made.write('a.png', bytes);
	// After 15 s it had no picture.
	const start = performance.now();
	await assertPicture(t, await made.render('a.png'), 20, 40);
	t.true(performance.now() - start < 4000, `${Math.round(performance.now() - start)} ms`);
	const found = await sharp(minimized(bytes)).metadata();
	t.is(found.comments, undefined);
	t.is(found.orientation, 6);
});

for (const format of ['jpeg', 'png', 'webp'] as const) {
	test(`an image of format ${format} keeps its orientation, as the decoder finds it`, async (t) => {
		for (const order of ['II', 'MM'])
			for (let value = 0; value <= 9; value++) {
				const bytes = await makers[format](exif([orientation(value)], { order }));
				const after = await metadata(minimized(bytes));
				const before = await metadata(bytes);
				t.deepEqual(
					{ ...after, orientation: after.orientation ?? 1 },
					{ ...before, orientation: before.orientation ?? 1 },
				);
				if (value > 0 && value < 9) t.is(after.orientation, value);
			}
	});
}

test('the orientation is found in unusual places and types', async (t) => {
	const others = Array.from({ length: 20 }, (_, index): Entry => ({ tag: 0x0100 + index, value: 7 })).filter(
		({ tag }) => tag !== 0x0112,
	);
	const data = {
		'far from the header': exif([orientation(6)], { directory: 99 }),
		'between others': exif([...others.slice(0, 9), orientation(6), ...others.slice(9)]),
		'before costly ones': costly(0x8769, [orientation(6)]),
		'a long': exif([orientation(6, 4)]),
		'a signed long': exif([orientation(6, 9)], { order: 'MM' }),
		'a signed short': exif([orientation(6, 8)]),
		'a byte': exif([orientation(6, 1)]),
		'two shorts': exif([orientation(6, 3, 2)]),
		twice: exif([orientation(6), orientation(3)]),
		'without an end': exif([orientation(6)]).subarray(0, 22),
	};
	for (const [title, bytes] of Object.entries(data))
		t.is((await metadata(minimized(await jpeg(segment(bytes))))).orientation, 6, title);
	const between = Buffer.from('\x01\x02\xFF\x00\xFF\xD0\xFF\xFF', 'latin1');
	t.is((await metadata(minimized(await jpeg(between, segment(exif([orientation(6)])))))).orientation, 6);
	t.is(
		(await metadata(minimized(await jpeg(segment(exif([orientation(6)])), segment(exif([orientation(3)]))))))
			.orientation,
		6,
	);
});

test('nothing but EXIF data and texts is changed in an image', async (t) => {
	const data = exif([orientation(6)]);
	for (const [format, make] of Object.entries(makers)) {
		const colour = (bytes: Buffer) => sharp(bytes).withIccProfile('p3').withMetadata({ orientation: 6 }).toBuffer();
		const bytes = await colour(await make(data));
		const { icc } = await metadata(bytes);
		t.true(icc instanceof Buffer, format);
		t.deepEqual(await metadata(minimized(bytes)), await metadata(bytes));
		t.deepEqual(await sharp(minimized(bytes)).raw().toBuffer(), await sharp(bytes).raw().toBuffer(), format);
	}
	const foreign = await jpeg(segment(data, 'http://ns.adobe.com/xap/1.0/\0'), segment(Buffer.from('Exif'), ''));
	t.deepEqual(minimized(foreign), foreign);
	for (const format of ['gif', 'tiff'] as const) {
		const bytes = await sharp(await jpeg(segment(data)))
			.withMetadata({ orientation: 6 })
			.toFormat(format)
			.toBuffer();
		t.deepEqual(minimized(bytes), bytes);
	}
});

test('a minimized image under a brand of AVIF is not read, and one that is cut off anywhere does no harm', async (t) => {
	const box = (type: string, content: string) => {
		const length = Buffer.alloc(4);
		length.writeUInt32BE(content.length + 8);
		return Buffer.concat([length, Buffer.from(type + content, 'latin1')]);
	};
	const bytes = Buffer.concat([box('ftyp', 'avif\0\0\0\0avif'), box('mini', '\0'.repeat(64)), box('mdat', 'mini')]);
	t.is(minimized(bytes).toString('latin1'), bytes.toString('latin1').replace('mini', 'free'));
	for (const make of Object.values(makers)) {
		const whole = await make(exif([orientation(6)]));
		for (let length = 12; length < whole.length; length++) t.is(minimized(whole.subarray(0, length)).length, length);
	}
});
