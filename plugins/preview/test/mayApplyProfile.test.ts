import { crc32, deflateSync } from 'node:zlib';
import test from 'ava';
import { mayApplyProfile } from '../src/images/child/mayApplyProfile.js';
import { assertPicture, rendering, sharp } from './rendering.js';

const numbers = (...values: number[]) => {
	const bytes = Buffer.alloc(4 * values.length);
	for (const [index, value] of values.entries()) bytes.writeInt32BE(value, 4 * index);
	return bytes;
};
const text = (content: string) => Buffer.from(content, 'latin1');

const xyz = (...values: number[]) =>
	Buffer.concat([text('XYZ \0\0\0\0'), numbers(...values.map((value) => Math.round(value * 65536)))]);
const linear = text('curv\0\0\0\0\0\0\0\0');

/** Those of an ordinary profile, of which red and green are exchanged. */
const matrix: readonly [string, Buffer][] = [
	['wtpt', xyz(0.9642, 1, 0.8249)],
	['rXYZ', xyz(0.38515, 0.71687, 0.09708)],
	['gXYZ', xyz(0.43607, 0.22249, 0.01392)],
	['bXYZ', xyz(0.14307, 0.06061, 0.7141)],
	['rTRC', linear],
	['gTRC', linear],
	['bTRC', linear],
];

function profile(tags: readonly [string, Buffer][]): Buffer {
	const table: Buffer[] = [];
	const contents: Buffer[] = [];
	let at = 132 + 12 * tags.length;
	for (const [name, content] of tags) {
		table.push(text(name), numbers(at, content.length));
		contents.push(content);
		at += content.length;
	}
	const header = Buffer.concat([
		...[numbers(at), text('lcms'), numbers(0x04300000), text('mntrRGB XYZ '), text('\x07\xEA\0\x01\0\x01\0\0\0\0\0\0')],
		...[text('acspAPPL'), Buffer.alloc(24), numbers(63190, 65536, 54061), Buffer.alloc(48)],
	]);
	return Buffer.concat([header, numbers(tags.length), ...table, ...contents]);
}

/** A chain of `length` elements, each of which is the same set of three curves. */
function chain(length: number): Buffer {
	const curve = Buffer.concat([
		text('curf\0\0\0\0\0\x01\0\0parf\0\0\0\0\0\0\0\0\x3F\x80\0\0\x3F\x80\0\0'),
		Buffer.alloc(8),
	]);
	const curves = Buffer.concat([
		...[text('cvst\0\0\0\0\0\x03\0\x03'), ...Array(3).fill(numbers(36, curve.length)), curve],
	]);
	const element = numbers(16 + 8 * length, curves.length);
	return Buffer.concat([text('mpet\0\0\0\0\0\x03\0\x03'), numbers(length), ...Array(length).fill(element), curves]);
}

/** A red PNG with a profile. */
async function red(icc: Buffer): Promise<Buffer> {
	const image: Buffer = await sharp({ create: { width: 32, height: 32, channels: 3, background: '#f00' } })
		.png()
		.toBuffer();
	const body = Buffer.concat([text('iCCPx\0\0'), deflateSync(icc, { level: 9 })]);
	const headerEnd = 33;
	return Buffer.concat([
		...[image.subarray(0, headerEnd), numbers(body.length - 4), body, numbers(crc32(body) | 0)],
		image.subarray(headerEnd),
	]);
}

/** Red and green of a picture. */
async function coloursOf(picture: Buffer): Promise<[number, number]> {
	const [red = 0, green = 0]: Buffer = await sharp(picture).removeAlpha().raw().toBuffer();
	return [red, green];
}

test.serial('an image has the colours of its profile', async (t) => {
	const made = await rendering(t);
	await made.write('a.png', await red(profile(matrix)));
	const [r, g] = await coloursOf(await made.render('a.png'));
	t.true(r < 60 && g > 200, `${r} ${g}`);
});

test.serial('an image whose profile is a chain of thousands of curves has its picture as soon as others', async (t) => {
	const made = await rendering(t);
	const bomb = await red(profile([...matrix, ['D2B0', chain(3000)]]));
	t.true(bomb.length < 1000, `${bomb.length} bytes`);
	await made.write('a.png', bomb);
	// The child is started.
	await made.write('b.png', await red(profile(matrix)));
	await made.render('b.png');
	const start = performance.now();
	const picture = await made.render('a.png');
	const took = performance.now() - start;
	await assertPicture(t, picture, 32, 32);
	const [r, g] = await coloursOf(picture);
	t.true(r > 200 && g < 60, `${r} ${g}`);
	t.true(took < 1000, `${Math.round(took)} ms`);
});

test('chains are found wherever the table of a profile has them, and what is no profile transforms nothing', (t) => {
	t.true(mayApplyProfile(profile(matrix)));
	for (const name of ['D2B0', 'D2B1', 'D2B2', 'D2B3']) {
		t.false(mayApplyProfile(profile([[name, linear], ...matrix])), name);
		t.false(mayApplyProfile(profile([...matrix, [name, linear]])), name);
	}
	const whole = profile([...matrix, ['D2B0', linear]]);
	for (let length = 0; length < 132; length++) t.false(mayApplyProfile(whole.subarray(0, length)));
	t.true(mayApplyProfile(Buffer.concat([profile(matrix), text('D2B0')])));
	// The number of tags is what the profile says.
	const lying = profile(matrix);
	lying.writeUInt32BE(0xffffffff, 128);
	t.true(mayApplyProfile(lying));
});
