import { avifFrames } from './avif.js';
import { gifFrames } from './gif.js';
import { describeImage, isIcon } from './imageFormat.js';
import { wholeJpeg } from './jpeg.js';
import { readPngBeginning } from './png.js';

/**
 * The most frames of an animation: for each of them a browser goes through all before it in the thread of the page. For 40,000, which
 * 2 MB of a WebP have, that takes 18 s, for 100,000 that 7 kB of an AVIF announce minutes, for 50,000 in 1 MB of a GIF that restore what
 * was before them 6 s.
 */
const maxFrames = 2000;

/**
 * The most pixels of an animation: a browser goes over all of them for each frame, also where that changes one of them, and draws nothing
 * meanwhile. Of 59 megapixels it keeps 0.9 GB and draws nothing for 4 to 12 s, again and again. A recording of a screen of 5K has 15.
 */
const maxAnimatedPixels = 16_000_000;

/**
 * The most pixels that a JPEG's scans go over together: each scan, which may have 30 bytes, goes over all of them. For
 * 100 megapixels that takes 18 ms, in which the page draws nothing.
 */
const maxScannedPixels = 2_000_000_000;

/**
 * The most chunks of a WebP. Whenever more of it has arrived, a browser goes through all chunks again in the thread of the page: for
 * 600,000 that are empty, in 5 MB, that takes 2 s, for 2,500,000 in 20 MB far more than 20. A frame has three at most, anything else a
 * handful.
 */
const maxWebpChunks = 10_000;

/**
 * Whether these are the first bytes of an animation (WebP, GIF or PNG) that may have many or large frames, or of another WebP that may
 * have many chunks, or of a JPEG, which may have many scans or segments, also behind its first scan, or of icons, whose profiles may be
 * anywhere. Only the whole file says how many there are.
 */
export function mayTakeLong(head: Uint8Array): boolean {
	const { type } = describeImage(head);
	if (type === 'image/png') return readPngBeginning(head).isAnimated;
	return isExtendedWebp(head) || type === 'image/gif' || type === 'image/jpeg' || isIcon(head);
}

/** Whether a WebP may have more than one picture: of any other one a browser reads nothing behind that. */
function isExtendedWebp(head: Uint8Array): boolean {
	return String.fromCharCode(...head.subarray(8, 16)) === 'WEBPVP8X';
}

const isAnimatedWebp = (head: Uint8Array) => isExtendedWebp(head) && ((head[20] ?? 0) & 2) !== 0;

/**
 * Whether a WebP has more chunks than `maxWebpChunks`, with those in its frames: behind the picture of a frame a browser goes on within
 * it, however long it says it is.
 */
function hasManyChunks(bytes: Uint8Array): boolean {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const end = Math.min(bytes.length, 8 + view.getUint32(4, true));
	let count = 0;
	for (let at = 12; at + 8 <= end && count <= maxWebpChunks; count++) {
		const length = view.getUint32(at + 4, true);
		const isFrame = String.fromCharCode(...bytes.subarray(at, at + 4)) === 'ANMF';
		at += 8 + (isFrame ? Math.min(length, frameHeaderBytes) : length + (length % 2));
	}
	return count > maxWebpChunks;
}

/** Where a frame of a WebP lies and how long it is seen; its chunks follow. */
const frameHeaderBytes = 16;

/**
 * Whether a whole picture has so many frames, scans or other parts, or frames so large, that a browser would draw nothing for long while
 * it decodes them.
 */
export function takesLong(bytes: Uint8Array): boolean {
	const { type, width, height } = describeImage(bytes);
	if (type === 'image/jpeg') return countNames(wholeJpeg(bytes), '\xFF\xDA') * width * height > maxScannedPixels;
	if (isExtendedWebp(bytes) && hasManyChunks(bytes)) return true;
	const { all, dear } = countFrames(bytes, type);
	if (all === Number.POSITIVE_INFINITY) return true;
	return dear > maxFrames || (all > 1 && width * height > maxAnimatedPixels);
}

/**
 * The frames of an animation, endless for one with more parts than any program writes, and those of them for which a browser may go
 * through all before them.
 */
function countFrames(bytes: Uint8Array, type: string | undefined): { all: number; dear: number } {
	const same = (count: number) => ({ all: count, dear: count });
	if (isAnimatedWebp(bytes)) return same(countNames(bytes, 'ANMF'));
	if (type === 'image/png') return pngFrames(bytes);
	// The beginning of what is said of a frame, with its length.
	if (type === 'image/gif') return { all: gifFrames(bytes, 2), dear: countNames(bytes, '!\xF9\x04', isRestored) };
	if (type !== 'image/avif') return same(0);
	return same(avifFrames(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
}

function pngFrames(bytes: Uint8Array): { all: number; dear: number } {
	const { isAnimated, isEndless } = readPngBeginning(bytes);
	if (isEndless) return { all: Number.POSITIVE_INFINITY, dear: 0 };
	if (!isAnimated) return { all: 0, dear: 0 };
	return { all: countNames(bytes, 'fcTL'), dear: countNames(bytes, 'fcTL', isTakenBack) };
}

/** Whether a frame of a PNG, or one of a GIF, gives way to what was there before it. All others depend on few before them. */
const isTakenBack = (bytes: Uint8Array, at: number) => bytes[at + 28] === 2;
const isRestored = (bytes: Uint8Array, at: number) => (((bytes[at + 3] ?? 0) >> 2) & 7) >= 3;

/** How often a name is in these bytes, wherever it may be: they are hardly there by chance. */
export function countNames(bytes: Uint8Array, name: string, isMeant = (_: Uint8Array, __: number) => true): number {
	const codes = Array.from(name, (character) => character.charCodeAt(0));
	let count = 0;
	// Without a call for each byte: of 50 MB, all may be the first one of a name.
	for (let at = 0; at < bytes.length; at++) {
		let same = 0;
		while (same < codes.length && bytes[at + same] === codes[same]) same++;
		if (same === codes.length && isMeant(bytes, at)) count++;
	}
	return count;
}
