// The program of the child process that decodes images. It reads requests from its standard input, one after another, and ends with it.
import type { Readable } from 'node:stream';
import sharp, { type Sharp } from 'sharp';
import { answerHeader, lackingCode, parseRequestHeader, requestHeaderBytes } from '../messages.js';
import { decodeHeic } from './decodeHeic.js';
import { exceedsItsPixels } from './exceedsItsPixels.js';
import { imageFormat, maxPixels } from './imageFormat.js';
import { keepFirstFrame } from './keepFirstFrame.js';
import { mayApplyProfile } from './mayApplyProfile.js';
import { minimizeMetadata } from './minimizeMetadata.js';
import { readsTwice } from './readsTwice.js';

// Decoders by allow-list: libvips has many more, also such as read other files or fetch addresses.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
	operation: [
		'VipsForeignLoadJpeg',
		'VipsForeignLoadPng',
		'VipsForeignLoadNsgif',
		'VipsForeignLoadWebp',
		'VipsForeignLoadTiff',
		'VipsForeignLoadHeif',
	],
});
sharp.cache(false);
sharp.concurrency(1);

async function render(bytes: Buffer, size: number): Promise<Buffer> {
	const format = imageFormat(bytes);
	if (format === undefined) throw new Error('The image has an unknown format.');
	if (readsTwice(bytes, format) || exceedsItsPixels(bytes, format))
		throw new Error('It would take too long to decode.');
	minimizeMetadata(bytes, format);
	keepFirstFrame(bytes, format);
	const image = format === 'heic' ? await decodeHeic(bytes) : await open(bytes);
	return image
		.resize({ width: size, height: size, fit: 'inside', withoutEnlargement: true })
		.webp({ quality: size > 256 ? 82 : 75, effort: 2 })
		.toBuffer();
}

/** The first frame of an animation, and the readable part of a damaged photo, but not of a truncated one. */
async function open(bytes: Buffer): Promise<Sharp> {
	const options = { limitInputPixels: maxPixels, failOn: 'truncated' } as const;
	const { icc } = await sharp(bytes, options).metadata();
	return sharp(bytes, { ...options, ignoreIcc: icc !== undefined && !mayApplyProfile(icc) }).autoOrient();
}

/** Reads exactly this many bytes; undefined if the input ends before. */
function createReader(input: Readable): (length: number) => Promise<Buffer | undefined> {
	const chunks = input[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
	let rest: Buffer = Buffer.alloc(0);
	return async (length) => {
		const bytes = Buffer.allocUnsafe(length);
		let at = 0;
		while (at < length) {
			if (rest.length === 0) {
				const { done, value } = await chunks.next();
				if (done) return undefined;
				rest = value;
			}
			const taken = rest.copy(bytes, at, 0, length - at);
			rest = rest.subarray(taken);
			at += taken;
		}
		return bytes;
	};
}

function send(header: Buffer, content: Buffer): Promise<void> {
	process.stdout.write(header);
	return new Promise((resolve) => {
		process.stdout.write(content, () => resolve());
	});
}

// Standard output is for answers: a library's messages of what it can't read in a file would be taken for one.
console.log = () => {};

/** What libraries say where there are no threads or descriptors for the moment, which is no fault of the image. */
const lackError =
	/Error creating thread|Resource temporarily unavailable|Too many open files|\bE(?:AGAIN|MFILE|NFILE)\b/;

/** Ends the process for an error that says nothing of an image. */
function endIfLacking(error: unknown): void {
	if (lackError.test(String(error))) process.exit(lackingCode);
}

// Its threads begin with the first picture: without some it may be ended by a signal, which is then before it has seen an image.
try {
	await sharp(new Uint8Array(3), { raw: { width: 1, height: 1, channels: 3 } })
		.webp({ quality: 75, effort: 0 })
		.toBuffer();
} catch (error) {
	endIfLacking(error);
	throw error;
}
const read = createReader(process.stdin);
await send(answerHeader('ready', 0), Buffer.alloc(0));
for (;;) {
	const header = await read(requestHeaderBytes);
	if (header === undefined) break;
	const { size, length } = parseRequestHeader(header);
	const bytes = await read(length);
	if (bytes === undefined) break;
	try {
		const picture = await render(bytes, size);
		await send(answerHeader('picture', picture.length), picture);
	} catch (error) {
		endIfLacking(error);
		// No memory, or a decoder in WebAssembly that was broken off in the midst of its work: it may fail at every later image, too.
		if (error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError')) process.exit(1);
		// An untrusted file may make a decoder fail in any way: there is no picture of it.
		await send(answerHeader('none', 0), Buffer.alloc(0));
	}
}
// The libraries may have threads of their own that still run.
process.exit(0);
