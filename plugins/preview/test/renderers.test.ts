import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { assertPicture, isAbout, pdf, rendering, sharp } from './rendering.js';

const run = promisify(execFile);

const red = [220, 40, 40];
const green = [40, 180, 40];
const blue = [40, 40, 220];

/** A quarter in red, a quarter in green, and the lower half in blue. */
function quarters(width: number, height: number) {
	const part = (rgb: number[], width: number, height: number) => ({
		create: { width, height, channels: 3, background: { r: rgb[0], g: rgb[1], b: rgb[2] } },
	});
	const [half, middle] = [width / 2, height / 2];
	return sharp(part(blue, width, height)).composite([
		{ input: part(red, half, middle), left: 0, top: 0 },
		{ input: part(green, half, middle), left: half, top: 0 },
	]);
}

// Encoded with the least effort, since only decoding is tested.
const formats = { jpeg: {}, png: {}, webp: { effort: 0 }, gif: { effort: 1 }, tiff: {}, avif: { effort: 0 } };

for (const [format, options] of Object.entries(formats)) {
	test(`an image of format ${format} is rendered in both sizes`, async (t) => {
		const { render, write } = await rendering(t);
		// The format is recognized by the first bytes, not by the name.
		await write('a.jpg', await quarters(3000, 2000).toFormat(format, options).toBuffer());
		t.true(isAbout(await assertPicture(t, await render('a.jpg', 256), 256, 171), red));
		t.true(isAbout(await assertPicture(t, await render('a.jpg', 2048), 2048, 1365), red));
	});
}

test('a small image is not enlarged', async (t) => {
	const { render, write } = await rendering(t);
	await write('a.png', await quarters(40, 20).png().toBuffer());
	await assertPicture(t, await render('a.png', 2048), 40, 20);
});

test('a photo is rotated by its EXIF orientation', async (t) => {
	const { render, write } = await rendering(t);
	// Rotated clockwise by 90 degrees: the lower left quarter becomes the upper left one.
	await write('a.jpg', await quarters(400, 200).jpeg().withMetadata({ orientation: 6 }).toBuffer());
	t.true(isAbout(await assertPicture(t, await render('a.jpg'), 128, 256), blue));
});

test('a rendered photo contains no EXIF data', async (t) => {
	const { render, write } = await rendering(t);
	const exif = { IFD0: { Artist: 'Somebody', Copyright: 'somewhere' } };
	await write('a.jpg', await quarters(400, 200).jpeg().withExif(exif).toBuffer());
	const picture = await render('a.jpg', 2048);
	t.false(picture.includes('EXIF'));
	t.false(picture.includes('Somebody'));
});

test('the first frame of an animation is rendered', async (t) => {
	const { render, ffmpeg } = await rendering(t);
	const frames = [
		'-f',
		'lavfi',
		'-i',
		'color=red:s=300x200:d=0.2:r=10',
		'-f',
		'lavfi',
		'-i',
		'color=blue:s=300x200:d=1:r=10',
	];
	await ffmpeg(...frames, '-filter_complex', '[0][1]concat', 'a.gif');
	t.true(isAbout(await assertPicture(t, await render('a.gif'), 256, 171), [255, 0, 0]));
});

test('a HEIC photo is rendered in both sizes', async (t) => {
	const { folder, render, write } = await rendering(t);
	await write('a.png', await quarters(1200, 800).png().toBuffer());
	await run('heif-enc', ['-q', '80', path.join(folder, 'a.png'), '-o', path.join(folder, 'a.heic')]);
	t.true(isAbout(await assertPicture(t, await render('a.heic', 256), 256, 171), red));
	t.true(isAbout(await assertPicture(t, await render('a.heic', 2048), 1200, 800), red));
});

test('a HEIC photo is rendered beside a picture in its file that can not be read, of which the library prints a message', async (t) => {
	const { folder, render, write } = await rendering(t);
	await write('a.png', await quarters(300, 200).removeAlpha().png().toBuffer());
	const input = path.join(folder, 'a.png');
	const file = path.join(folder, 'a.heic');
	await run('heif-enc', ['-q', '80', input, input, '-o', file]);
	const bytes = await readFile(file);
	// The second one is a grid of other pictures, of which nothing is said.
	const second = bytes.indexOf('hvc1', bytes.indexOf('hvc1', bytes.indexOf('infe')) + 4);
	t.is(bytes.toString('latin1', second - 12, second - 8), 'infe');
	bytes.write('grid', second, 'latin1');
	await write('a.heic', bytes);
	t.true(isAbout(await assertPicture(t, await render('a.heic'), 256, 171), red));
});

for (const [name, ...codec] of [
	['a.mp4', '-c:v', 'libx264', '-pix_fmt', 'yuv420p'],
	['a.mkv', '-c:v', 'libx264'],
	['a.webm', '-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8'],
	['a.avi', '-c:v', 'mpeg4'],
	['a.mpg', '-c:v', 'mpeg1video'],
	['a.mts', '-c:v', 'mpeg2video', '-f', 'mpegts'],
	['a.m2ts', '-c:v', 'mpeg2video', '-f', 'mpegts'],
] as const) {
	test(`a frame from the second second of a film such as ${name} is rendered`, async (t) => {
		const { render, ffmpeg } = await rendering(t);
		const parts = [
			'-f',
			'lavfi',
			'-i',
			'color=black:s=640x480:d=1:r=25',
			'-f',
			'lavfi',
			'-i',
			'color=red:s=640x480:d=2:r=25',
		];
		await ffmpeg(...parts, '-filter_complex', '[0][1]concat', ...codec, name);
		t.true(isAbout(await assertPicture(t, await render(name, 256), 256, 192), [255, 0, 0]));
		await assertPicture(t, await render(name, 2048), 640, 480);
	});
}

test('the first frame of a clip of less than a second is rendered', async (t) => {
	const { render, ffmpeg } = await rendering(t);
	await ffmpeg('-f', 'lavfi', '-i', 'color=red:s=320x240:d=0.2:r=10', '-pix_fmt', 'yuv420p', 'a.mp4');
	t.true(isAbout(await assertPicture(t, await render('a.mp4'), 256, 192), [255, 0, 0]));
});

test('the first page of a PDF is rendered in both sizes', async (t) => {
	const { render, write } = await rendering(t);
	await write('a.pdf', pdf(400, 200, '1 0 0 rg 0 100 200 100 re f'));
	t.true(isAbout(await assertPicture(t, await render('a.pdf', 256), 256, 128), [255, 0, 0]));
	t.true(isAbout(await assertPicture(t, await render('a.pdf', 2048), 2048, 1024), [255, 0, 0]));
});
