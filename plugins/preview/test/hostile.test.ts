import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { crc32, deflateSync } from 'node:zlib';
import { type Failure, isFailure } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { assertPicture, pdf, type Rendering, rendering, sharp } from './rendering.js';

const megabyte = 1024 * 1024;

// One after another, since each test measures all children of this process.

/**
 * The processes below this one and below those, and the most memory in bytes that each has ever had. In a sandbox of
 * bubblewrap the child is a grandchild.
 */
async function children(): Promise<Map<number, number>> {
	const all = new Map<number, { parent: number; bytes: number }>();
	for (const name of await readdir('/proc')) {
		if (!/^\d+$/.test(name)) continue;
		const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
		const value = (key: string) => Number(new RegExp(`^${key}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
		all.set(Number(name), { parent: value('PPid'), bytes: value('VmHWM') * 1024 });
	}
	const isBelow = (pid: number): boolean => {
		const parent = all.get(pid)?.parent ?? 0;
		return parent === process.pid || (parent > 1 && isBelow(parent));
	};
	return new Map([...all].filter(([pid]) => isBelow(pid)).map(([pid, { bytes }]) => [pid, bytes]));
}

/** Asserts that no picture is rendered, and that no child takes more memory than this. */
async function assertRefused(t: ExecutionContext, { render }: Rendering, name: string, maxBytes = 400 * megabyte) {
	let most = 0;
	let isOver = false;
	const watching = (async () => {
		while (!isOver) {
			for (const bytes of (await children()).values()) most = Math.max(most, bytes);
			await wait(10);
		}
	})();
	for (const size of [256, 2048] as const) {
		const error = await t.throwsAsync(render(name, size));
		t.true(isFailure(error, 'unsupportedMediaType'), String(error));
	}
	for (const bytes of (await children()).values()) most = Math.max(most, bytes);
	isOver = true;
	await watching;
	t.true(most < maxBytes, `${Math.round(most / megabyte)} MB`);
	t.log(`${Math.round(most / megabyte)} MB`);
}

/** A black PNG with this size in its header, and this number of rows. */
function png(width: number, height: number, { bits = 1, interlaced = false, rows = height } = {}): Buffer {
	const chunk = (type: string, content: Buffer) => {
		const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
		const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
		length.writeUInt32BE(content.length);
		checksum.writeUInt32BE(crc32(body));
		return Buffer.concat([length, body, checksum]);
	};
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	header[8] = bits;
	header[12] = interlaced ? 1 : 0;
	const content = Buffer.alloc(Math.ceil((width * bits) / 8 + 1.5) * rows);
	return Buffer.concat([
		Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
		chunk('IHDR', header),
		chunk('IDAT', deflateSync(content, { level: 9 })),
		chunk('IEND', Buffer.alloc(0)),
	]);
}

test.serial('a small file of 256 million pixels is refused before it is decoded', async (t) => {
	const made = await rendering(t);
	const bomb = png(16_000, 16_000, { interlaced: true });
	t.true(bomb.length < 100_000);
	await made.write('a.png', bomb);
	await assertRefused(t, made, 'a.png', 200 * megabyte);
});

test.serial('an image with 3,600 million pixels in its header is refused', async (t) => {
	const made = await rendering(t);
	await made.write('a.png', png(60_000, 60_000, { rows: 10 }));
	await assertRefused(t, made, 'a.png', 200 * megabyte);
});

test.serial(
	'an image within the limit of pixels is refused if it needs more memory than a child may have',
	async (t) => {
		const made = await rendering(t, { memoryBytes: 300 * megabyte });
		// Interlaced it can't be decoded row by row.
		const image = sharp({ create: { width: 9900, height: 9900, channels: 4, background: '#f008' } });
		await made.write('a.png', await image.png({ progressive: true, compressionLevel: 1 }).toBuffer());
		await assertRefused(t, made, 'a.png', 330 * megabyte);
		// It is refused by that limit only.
		const roomy = await rendering(t, { memoryBytes: 1024 * megabyte });
		await roomy.write('a.png', await readFile(path.join(made.folder, 'a.png')));
		await assertPicture(t, await roomy.render('a.png'), 256, 256);
	},
);

test.serial('files that are truncated or not of the type of their name are refused and not logged', async (t) => {
	const made = await rendering(t);
	const photo = await sharp({
		create: {
			width: 800,
			height: 600,
			channels: 3,
			background: 'red',
			noise: { type: 'gaussian', mean: 128, sigma: 30 },
		},
	})
		.jpeg()
		.toBuffer();
	await made.ffmpeg('-f', 'lavfi', '-i', 'testsrc=s=320x240:d=2', '-pix_fmt', 'yuv420p', 'whole.mp4');
	const film = await readFile(path.join(made.folder, 'whole.mp4'));
	const files: Record<string, Buffer | string> = {
		'cut.jpg': photo.subarray(0, photo.length / 2),
		'head.jpg': photo.subarray(0, 20),
		'cut.mp4': film.subarray(0, 1000),
		'text.jpg': 'This is no photo.',
		'empty.jpg': '',
		'drawing.png':
			'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/passwd"/></svg>',
		'drawing.jpg': `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`,
		'raw.tiff': 'P6 9 9 255 ',
		'heic.heic': Buffer.concat([Buffer.from('\0\0\0\x18ftypheic\0\0\0\0heicmif1', 'latin1'), Buffer.alloc(5000, 7)]),
		'film.jpg': Buffer.concat([Buffer.from('\xFF\xD8\xFF', 'latin1'), film]),
		'cut.pdf': pdf(100, 100, '').slice(0, 60),
	};
	for (const [name, content] of Object.entries(files)) {
		await made.write(name, content);
		for (const size of [256, 2048] as const) {
			const error = await t.throwsAsync(made.render(name, size), undefined, name);
			const isRefused = isFailure(error, 'unsupportedMediaType') || error?.message === 'No renderer accepts it.';
			t.true(isRefused, `${name}: ${error}`);
		}
	}
	t.deepEqual(made.lines, [], 'a refused upload needs no log line');
});

test.serial('a playlist that names another file is refused, whatever its name and first bytes', async (t) => {
	const made = await rendering(t);
	await made.ffmpeg('-f', 'lavfi', '-i', 'color=red:s=320x240:d=3', '-c:v', 'mpeg2video', '-f', 'mpegts', 'secret.ts');
	const secret = path.join(made.folder, 'secret.ts');
	const playlists = {
		'hls.mp4': `#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\n${secret}\n#EXT-X-ENDLIST\n`,
		'concat.mkv': `ffconcat version 1.0\nfile '${secret}'\n`,
		'dash.webm': `<?xml version="1.0"?><MPD><Period><BaseURL>${secret}</BaseURL></Period></MPD>`,
		// Its first bytes do not show the playlist, but its container is not in the list.
		'hidden.mp4': `${' '.repeat(5000)}#EXTM3U\n#EXTINF:3,\n${secret}\n`,
		'sdp.mp4': `v=0\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n`,
	};
	for (const [name, content] of Object.entries(playlists)) {
		await made.write(name, content);
		const error = await t.throwsAsync(made.render(name), undefined, name);
		t.true(
			isFailure(error, 'unsupportedMediaType') || error?.message === 'No renderer accepts it.',
			`${name}: ${error}`,
		);
	}
});

test.serial('aborting the rendering of an endless PDF ends all processes that it started', async (t) => {
	const made = await rendering(t);
	// Each form draws the next one ten times: ten to the ninth fillings of the page.
	const levels = 9;
	const forms = Array.from({ length: levels }, (_, level) => {
		const drawing = level === levels - 1 ? '0 0 5000 5000 re f' : `${`/F${level + 1} Do `.repeat(10)}`;
		const resources = level === levels - 1 ? '' : `/Resources<</XObject<</F${level + 1} ${level + 6} 0 R>>>>`;
		return `<</Type/XObject/Subtype/Form/BBox[0 0 5000 5000]${resources}/Length ${drawing.length}>>stream\n${drawing}\nendstream`;
	});
	const objects = [
		'<</Type/Catalog/Pages 2 0 R>>',
		'<</Type/Pages/Kids[3 0 R]/Count 1>>',
		'<</Type/Page/Parent 2 0 R/MediaBox[0 0 5000 5000]/Contents 4 0 R/Resources<</XObject<</F0 5 0 R>>>>>>',
		'<</Length 6>>stream\n/F0 Do\nendstream',
		...forms,
	];
	await made.write(
		'a.pdf',
		`%PDF-1.4\n${objects.map((object, index) => `${index + 1} 0 obj${object}endobj\n`).join('')}trailer<</Root 1 0 R>>`,
	);
	const stop = new AbortController();
	const rendered = made.render('a.pdf', 2048, stop.signal);
	const isDrawing = async () => {
		for (const pid of (await children()).keys())
			if ((await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')) === 'pdftoppm\n') return true;
		return false;
	};
	while (!(await isDrawing())) await wait(10);
	await wait(300);
	t.true(await isDrawing(), 'it does not end by itself');
	stop.abort(new Error('It took too long.'));
	await t.throwsAsync(rendered, { message: 'It took too long.' });
	while ((await children()).size > 0) await wait(10);
});

test.serial('a PDF with a page of two billion points uses no more memory than others', async (t) => {
	const made = await rendering(t);
	await made.write('a.pdf', pdf(2_000_000_000, 1_000_000_000, '1 0 0 rg 0 0 9 9 re f'));
	const picture = await made.render('a.pdf').catch((error: unknown) => error);
	t.true(Buffer.isBuffer(picture) || isFailure(picture, 'unsupportedMediaType'), String(picture));
	for (const bytes of (await children()).values()) t.true(bytes < 400 * megabyte);
});

test.serial('a killed child is replaced, also while it renders an image', async (t) => {
	const made = await rendering(t);
	const image = { create: { width: 4000, height: 4000, channels: 3, background: 'red' } };
	await made.write('a.png', await sharp(image).png().toBuffer());
	await assertPicture(t, await made.render('a.png'), 256, 256);
	const [first = 0] = [...(await children()).keys()];
	process.kill(first, 'SIGKILL');
	while ((await children()).has(first)) await wait(5);
	await assertPicture(t, await made.render('a.png'), 256, 256);
	const rendered = made.render('a.png', 2048);
	const [second] = [...(await children()).keys()];
	t.not(second, first);
	process.kill(second ?? 0, 'SIGKILL');
	await assertPicture(t, await rendered, 2048, 2048);
	t.deepEqual(made.lines, []);
});

test.serial('a child is reused, replaced after a number of images, and ended when it is idle', async (t) => {
	const made = await rendering(t, { maxUses: 2 });
	await made.write('a.png', png(100, 100));
	await made.render('a.png');
	const [child = 0] = [...(await children()).keys()];
	t.true(child > 0);
	await made.render('a.png');
	while ((await children()).size > 0) await wait(5);
	await made.render('a.png');
	const [next = 0] = [...(await children()).keys()];
	t.true(next > 0);
	t.not(next, child);
	made.workers.close();
	const brief = await rendering(t, { idleMs: 20 });
	await brief.write('a.png', png(100, 100));
	await brief.render('a.png');
	while ((await children()).size > 0) await wait(5);
});

/** A small photo in the format of mobile phones, in the folder. */
async function heic({ folder, write }: Rendering): Promise<Buffer> {
	await write(
		'a.png',
		await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
			.png()
			.toBuffer(),
	);
	const file = path.join(folder, 'a.heic');
	await promisify(execFile)('heif-enc', [path.join(folder, 'a.png'), '-o', file]);
	return readFile(file);
}

test.serial('one child renders HEIC photos of more bytes than it may have memory, one after another', async (t) => {
	const made = await rendering(t, { memoryBytes: 400 * megabyte });
	// Longer than photos of 48 megapixels are.
	const free = Buffer.alloc(40 * megabyte);
	free.writeUInt32BE(free.length);
	free.write('free', 4, 'latin1');
	await made.write('a.heic', Buffer.concat([await heic(made), free]));
	const seen = new Set<number>();
	for (let n = 0; n < 6; n++) {
		await assertPicture(t, await made.render('a.heic'), 64, 64);
		for (const child of (await children()).keys()) seen.add(child);
	}
	t.is(seen.size, (await children()).size, 'none was replaced');
});

test.serial('a child that had no memory left for an image ends', async (t) => {
	const made = await rendering(t, { memoryBytes: 300 * megabyte, idleMs: 600_000, findSandbox: async () => undefined });
	const bytes = await heic(made);
	await made.write('good.heic', bytes);
	// 96 megapixels, it says.
	const at = bytes.indexOf('ispe') + 8;
	bytes.writeUInt32BE(9800, at);
	bytes.writeUInt32BE(9800, at + 4);
	await made.write('a.heic', bytes);
	await assertRefused(t, made, 'a.heic');
	const had = await children();
	await assertPicture(t, await made.render('good.heic'), 64, 64);
	while ((await children()).size > 1) await wait(5);
	for (const child of (await children()).keys()) t.false(had.has(child), 'another one renders the next image');
});

test.serial('that there is no picture of an image is believed a child only that has had no other before', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-children-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const program = path.join(folder, 'program.mjs');
	// Its first image has a picture, unless it is of one byte, and all later ones have none.
	await writeFile(
		program,
		`const answer = (...bytes) => process.stdout.write(Buffer.from(bytes));
		answer(0, 0, 0, 0, 0);
		let isFirst = true;
		let received = Buffer.alloc(0);
		process.stdin.on('data', (chunk) => {
			received = Buffer.concat([received, chunk]);
			const length = received.length < 8 ? 0 : received.readUInt32LE(4);
			if (length === 0 || received.length < 8 + length) return;
			received = Buffer.alloc(0);
			if (isFirst && length > 1) answer(1, 1, 0, 0, 0, 80);
			else answer(2, 0, 0, 0, 0);
			isFirst = false;
		});`,
	);
	const made = await rendering(t, { program, findSandbox: async () => undefined });
	await made.write('good.png', 'good');
	await made.write('bad.png', 'b');
	for (let n = 0; n < 3; n++) t.is(String(await made.render('good.png')), 'P');
	t.true(isFailure(await t.throwsAsync(made.render('bad.png')), 'unsupportedMediaType'));
	t.is(String(await made.render('good.png')), 'P');
	t.is((await children()).size, 1, 'the others have ended');
});

test.serial('a child that cannot be started is logged once, and for a while no picture is tried', async (t) => {
	const broken = path.join(await mkdtemp(path.join(os.tmpdir(), 'stowage-broken-')), 'program.mjs');
	t.teardown(() => rm(path.dirname(broken), { recursive: true, force: true }));
	await writeFile(broken, 'throw new Error("There is no build of the library for this machine.");');
	const starved = path.join(path.dirname(broken), 'starved.mjs');
	await writeFile(starved, `console.error('libvips.so: Cannot allocate memory'); process.exit(1);`);
	for (const options of [
		{ program: broken },
		{ program: '/nonexistent/program.js', upgradeMs: 0 },
		{ program: starved, upgradeMs: 0 },
	]) {
		const made = await rendering(t, options);
		await made.write('a.png', png(100, 100));
		await made.write('a.pdf', pdf(100, 100, '0 0 10 10 re f'));
		for (const name of ['a.png', 'a.png', 'a.pdf']) {
			const error = await t.throwsAsync(made.render(name));
			t.true(isFailure(error, 'unavailable'), String(error));
			const seconds = (error as Failure).retryAfter ?? 0;
			t.true(seconds > 50 && seconds <= 60, `${seconds}`);
		}
		t.deepEqual(made.lines, ['the image decoder could not be loaded: images have no previews']);
		t.is((await children()).size, 0);
	}
});

test.serial('during an upgrade, or without memory to begin, an image has no picture for a moment only', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-upgrade-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const program = path.join(folder, 'program.mjs');
	const made = await rendering(t, { program, findSandbox: async () => undefined });
	await made.write('a.png', png(100, 100));
	const noMemory =
		'node: error while loading shared libraries: libvips.so: failed to map segment: Cannot allocate memory';
	for (const text of [
		undefined,
		`import './missing.js';`,
		`console.error(${JSON.stringify(noMemory)}); process.exit(1);`,
	]) {
		if (text !== undefined) await writeFile(program, text);
		t.true(isFailure(await t.throwsAsync(made.render('a.png')), 'unavailable'), text);
	}
	await writeFile(
		program,
		`process.stdout.write(Buffer.from([0, 0, 0, 0, 0]));
		process.stdin.once('data', () => process.stdout.write(Buffer.from([1, 1, 0, 0, 0, 80])));`,
	);
	t.is(String(await made.render('a.png')), 'P', 'the next one is made at once');
	t.deepEqual(made.lines, []);
});

test.serial('a child has no secrets of the server and a lower priority', async (t) => {
	process.env.STOWAGE_SESSION_KEY = 'a secret of the server';
	t.teardown(() => void delete process.env.STOWAGE_SESSION_KEY);
	const made = await rendering(t);
	await made.write('a.png', png(100, 100));
	await made.render('a.png');
	const child = [...(await children()).keys()].at(-1);
	t.false((await readFile(`/proc/${child}/environ`, 'utf8')).includes('secret'));
	const numbers = (await readFile(`/proc/${child}/stat`, 'latin1')).replace(/^.*\) /, '').split(' ');
	t.is(Number(numbers[16]), Math.min(19, os.getPriority() + 10));
});
