import { inflatedLength } from '../bytes/inflatedLength.js';
import { countNames } from './decodingCost.js';
import { jpegSegments, wholeJpeg } from './jpeg.js';
import { readPngBeginning } from './png.js';

/**
 * The pixels that a byte of a colour profile counts for. A browser unpacks and reads a profile in the thread of the page, several
 * times for a picture: 24 MB of curves, which 26 kB of a PNG have, take a second of it, 400 pictures with 1 MB each more than ten.
 * Those of printers and cameras have some megabytes at most.
 */
const pixelsPerByte = 5;

/** What each profile of icons counts for at least, which have one for each picture. */
const leastIconBytes = 1000;

/**
 * The most packed bytes of a profile. They are read bit by bit, whatever they become: 7 MB of empty blocks, or 37 MB of letters with long
 * codes, take a second. Those of printers have 2 MB.
 */
const maxPackedBytes = 4_000_000;

/** The results for bytes that are asked about again and again. */
const known = new WeakMap<Uint8Array, number>();

/** How many pixels take as long to decode as what a browser reads beside a picture, such as its colour profile. Counts up to `most`. */
export function pixelsOfMetadata(bytes: Uint8Array, type: string, most: number): number {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const mostBytes = Math.ceil(most / pixelsPerByte);
	if (type === 'image/png') {
		const count = known.get(bytes) ?? ofPng(bytes, mostBytes);
		known.set(bytes, count);
		return pixelsPerByte * count;
	}
	if (type === 'image/webp') return pixelsPerByte * ofWebp(view, bytes);
	return type === 'image/jpeg' ? pixelsPerByte * ofJpeg(view) + keptSegments(bytes) ** 2 : 0;
}

/**
 * The bytes of the profile before the pixels; browsers read none behind them. Counts up to `most`. Several profiles,
 * which no format allows, are not unpacked, and count as too many.
 */
function ofPng(bytes: Uint8Array, most: number): number {
	const [first, second] = readPngBeginning(bytes).profiles;
	if (second) return most + 1;
	return first ? ofProfile(bytes.subarray(first.start, first.end), most) : 0;
}

/**
 * How many pixels take as long as the colour profiles of an icon file, whose pictures may be PNGs: all in the file
 * together, wherever they are. Each profile counts for its packed bytes at least, since the same ones may belong to
 * several.
 */
export function pixelsOfIconMetadata(bytes: Uint8Array, most: number): number {
	const count = known.get(bytes) ?? ofIcons(bytes, Math.ceil(most / pixelsPerByte));
	known.set(bytes, count);
	return pixelsPerByte * count;
}

function ofIcons(bytes: Uint8Array, most: number): number {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	let count = 0;
	for (let at = 4; at + 4 <= bytes.length && count <= most; at++) {
		// Without a call for any of them, since a file may have nothing but beginnings of this name.
		if (bytes[at] !== 0x69 || bytes[at + 1] !== 0x43 || bytes[at + 2] !== 0x43 || bytes[at + 3] !== 0x50) continue;
		const content = bytes.subarray(at + 4, at + 4 + view.getUint32(at - 4));
		count += Math.max(leastIconBytes, content.length);
		if (count <= most) count += Math.max(0, ofProfile(content, most) - Math.max(leastIconBytes, content.length));
	}
	return count;
}

/**
 * What the content of a chunk with a profile becomes: behind its name, the number of the only way of packing, and the header of zlib,
 * whose faults a browser may overlook. Of more than `maxPackedBytes` too much.
 */
function ofProfile(content: Uint8Array, most: number): number {
	if (content.length > maxPackedBytes) return most + 1;
	return Math.max(1, inflatedLength(content.subarray(content.indexOf(0) + 4), most));
}

/** The bytes of the profile, which comes first; the bytes of the whole file if it may lie anywhere in it. */
function ofWebp(view: DataView, bytes: Uint8Array): number {
	const hasProfile = nameAt(bytes, 12) === 'VP8X' && ((bytes[20] ?? 0) & 0x20) !== 0;
	if (!hasProfile || bytes.length < 38) return 0;
	return nameAt(bytes, 30) === 'ICCP' ? view.getUint32(34, true) : view.getUint32(4, true);
}

/** The bytes of profiles in the segments before the first scan. */
function ofJpeg(view: DataView): number {
	let count = 0;
	for (const { marker, at } of jpegSegments(view)) if (marker === 0xe2) count += view.getUint16(at + 2);
	return count;
}

/**
 * What a browser keeps of a JPEG beside the picture. It goes through all that it has kept to keep one more, in the thread of the page:
 * 60,000, which take 1 MB, need 10 s of it, wherever they are. Cameras write some hundreds at most.
 */
function keptSegments(bytes: Uint8Array): number {
	const whole = wholeJpeg(bytes);
	return countNames(whole, '\xFF\xE1') + countNames(whole, '\xFF\xE2');
}

const nameAt = (bytes: Uint8Array, at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
