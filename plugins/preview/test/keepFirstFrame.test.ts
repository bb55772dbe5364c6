import test from 'ava';
import { keepFirstFrame } from '../src/images/child/keepFirstFrame.js';
import { assertPicture, rendering, sharp } from './rendering.js';

const megabyte = 1024 * 1024;

function chunk(name: string, content: Buffer): Buffer {
	const header = Buffer.alloc(8);
	header.write(name, 'latin1');
	header.writeUInt32LE(content.length, 4);
	return Buffer.concat([header, content, Buffer.alloc(content.length % 2)]);
}

/** A WebP of one colour without its header. */
const still = async (size: number, background: string): Promise<Buffer> =>
	(
		await sharp({ create: { width: size, height: size, channels: 3, background } })
			.webp({ lossless: true })
			.toBuffer()
	).subarray(12);

/** A frame at the upper left. */
function frame(size: number, image: Buffer): Buffer {
	const header = Buffer.alloc(16);
	header.writeUIntLE(size - 1, 6, 3);
	header.writeUIntLE(size - 1, 9, 3);
	header.writeUIntLE(40, 12, 3);
	return chunk('ANMF', Buffer.concat([header, image]));
}

/** An animation of 64 by 64 pixels; a frame may lie within the one before it. */
async function animation(frames: readonly Buffer[]): Promise<Buffer> {
	const header = Buffer.alloc(10);
	header[0] = 2;
	header.writeUIntLE(63, 4, 3);
	header.writeUIntLE(63, 7, 3);
	const body = Buffer.concat([Buffer.from('WEBP'), chunk('VP8X', header), chunk('ANIM', Buffer.alloc(6)), ...frames]);
	return chunk('RIFF', body);
}

for (const [how, combine] of [
	['one after another', (first: Buffer, rest: Buffer) => Buffer.concat([frame(64, first), rest])],
	['within the first', (first: Buffer, rest: Buffer) => frame(64, Buffer.concat([first, rest]))],
] as const) {
	test.serial(`an animation with a hundred thousand frames, ${how}, has its picture as soon as others`, async (t) => {
		const made = await rendering(t);
		const small = frame(1, await still(1, 'blue'));
		const rest = Buffer.concat(Array<Buffer>(100_000).fill(small));
		const bomb = await animation([combine(await still(64, 'red'), rest)]);
		t.true(bomb.length < 7 * megabyte, `${bomb.length} bytes`);
		await made.write('a.webp', bomb);
		// The child is started.
		await made.write('b.webp', await animation([frame(64, await still(64, 'red'))]));
		await made.render('b.webp');
		const start = performance.now();
		const picture = await made.render('a.webp');
		const took = performance.now() - start;
		await assertPicture(t, picture, 64, 64);
		const [red = 0, green = 0, blue = 0]: Buffer = await sharp(picture).removeAlpha().raw().toBuffer();
		t.true(red > 200 && green < 50 && blue < 50, `${red} ${green} ${blue}`);
		t.true(took < 5000, `${Math.round(took)} ms`);
	});
}

test('a GIF ends behind its first frame, which gives way to nothing', (t) => {
	const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
	const head = '474946383961 1000 1000 800000 000000 ffffff 21fe 02 2c2c 00';
	const frame = (flags: string) => `21f904 ${flags} 05000000 2c 00000000 01000100 80 000000 ffffff 02 02 4401 00`;
	const bytes = hex(`${head} ${frame('0d')} ${frame('0c')} 3b`);
	keepFirstFrame(bytes, 'gif');
	const kept = hex(`${head} ${frame('01')} 3b`);
	t.deepEqual(bytes.subarray(0, kept.length), kept);
	// What ends within a frame, or within what is before it, is no longer than before.
	for (let length = 0; length < kept.length; length++) {
		const part = Buffer.from(kept.subarray(0, length));
		keepFirstFrame(part, 'gif');
		t.deepEqual(part, kept.subarray(0, length), `${length} bytes`);
	}
});
