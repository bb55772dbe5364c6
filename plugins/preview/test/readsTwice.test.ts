import { deflateSync } from 'node:zlib';
import test from 'ava';
import { assertPicture, rendering, sharp } from './rendering.js';

/** A line of a strip, before which there are this many empty blocks to be read. */
function strip(line: Buffer, emptyBlocks = 0): Buffer {
	const packed = deflateSync(line, { level: 0 });
	const blocks = Buffer.alloc(5 * emptyBlocks);
	blocks.fill(Buffer.from([0, 0, 0, 0xff, 0xff]));
	return Buffer.concat([packed.subarray(0, 2), blocks, packed.subarray(2)]);
}

/** A TIFF of one colour, each of whose lines is the same strip. */
function sharedStrips(width: number, height: number, data: Buffer, order: 'II' | 'MM' = 'II'): Buffer {
	const number = (value: number, bytes: number) => {
		const made = Buffer.alloc(bytes);
		if (order === 'II') made.writeUIntLE(value, 0, bytes);
		else made.writeUIntBE(value, 0, bytes);
		return made;
	};
	const parts: Buffer[] = [Buffer.from(order), number(42, 2), number(0, 4)];
	let length = 8;
	const put = (part: Buffer) => {
		parts.push(part);
		length += part.length;
		return length - part.length;
	};
	const list = (value: number) => Buffer.concat(Array<Buffer>(height).fill(number(value, 4)));
	const at = put(data);
	const [starts, lengths] = [put(list(at)), put(list(data.length))];
	const bits = put(Buffer.concat(Array<Buffer>(3).fill(number(8, 2))));
	const entries = [
		...[
			[256, 1, width],
			[257, 1, height],
			[258, 3, bits, 3],
			[259, 1, 8],
			[262, 1, 2],
		],
		...[
			[273, height, starts],
			[277, 1, 3],
			[278, 1, 1],
			[279, height, lengths],
		],
	];
	const directory = [number(entries.length, 2)];
	for (const [tag = 0, count = 1, value = 0, type = 4] of entries) {
		directory.push(number(tag, 2), number(type, 2), number(count, 4), number(value, 4));
	}
	parts[2] = number(put(Buffer.concat([...directory, number(0, 4)])), 4);
	return Buffer.concat(parts);
}

test.serial('a TIFF whose strips are the same bytes again and again has no picture, at once', async (t) => {
	const made = await rendering(t);
	const data = strip(Buffer.alloc(30, 7), 100_000);
	await made.write('warm.tif', sharedStrips(10, 20, strip(Buffer.alloc(30, 7))));
	await made.render('warm.tif');
	for (const order of ['II', 'MM'] as const) {
		await made.write(`${order}.tif`, sharedStrips(10, 20_000, data, order));
		const start = performance.now();
		await t.throwsAsync(made.render(`${order}.tif`), { message: 'The image can not be decoded.' });
		const took = performance.now() - start;
		t.true(took < 5000, `${Math.round(took)} ms`);
	}
});

test.serial('a TIFF has its picture with strips, tiles, and with equal lines that were written once', async (t) => {
	const made = await rendering(t);
	const noise = Buffer.alloc(300 * 200 * 3, 'some noise of colours');
	const image = () => sharp(noise, { raw: { width: 300, height: 200, channels: 3 } });
	const files = {
		'strips.tif': await image().tiff({ compression: 'lzw' }).toBuffer(),
		'tiles.tif': await image().tiff({ tile: true, tileWidth: 16, tileHeight: 16, compression: 'deflate' }).toBuffer(),
		'plain.tif': await image().tiff({ compression: 'none' }).toBuffer(),
		'equal.tif': sharedStrips(300, 200, strip(Buffer.alloc(900, 7))),
		'big.tif': sharedStrips(300, 200, strip(Buffer.alloc(900, 7)), 'MM'),
	};
	for (const [name, content] of Object.entries(files)) {
		await made.write(name, content);
		await assertPicture(t, await made.render(name), 256, 171);
	}
});
