import { crc32 } from 'node:zlib';
import type { ImageFormat } from './imageFormat.js';

/**
 * Leaves nothing of an image's EXIF data but the orientation, in place: the library that reads them takes the square of
 * the number of entries (9 s for 60 kB of them). Texts of a PNG are hidden, which the library would decompress to any
 * length. Linear in the length of the image; nothing else of it is changed.
 */
export function minimizeMetadata(bytes: Buffer, format: ImageFormat): void {
	if (format === 'jpeg') minimizeJpeg(bytes);
	if (format === 'png') minimizePng(bytes);
	if (format === 'webp') minimizeWebp(bytes);
	if (format === 'avif') hideItems(bytes);
}

/** The markers before the first scan, which are found as libjpeg finds them: it skips bytes between segments, and fill bytes. */
function minimizeJpeg(bytes: Buffer): void {
	const [startOfScan, endOfImage, app1] = [0xda, 0xd9, 0xe1];
	let at = 2;
	for (;;) {
		while (at < bytes.length && bytes[at] !== 0xff) at++;
		while (at < bytes.length && bytes[at] === 0xff) at++;
		const marker = bytes[at];
		if (marker === undefined || marker === startOfScan || marker === endOfImage) return;
		at++;
		// A stuffed byte, or a marker without a segment.
		if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8)) continue;
		if (at + 2 > bytes.length) return;
		const end = at + bytes.readUInt16BE(at);
		if (marker === app1) minimizeBlock(bytes.subarray(at + 2, end));
		at = Math.max(at + 2, end);
	}
}

const textChunks = new Set(['tEXt', 'zTXt', 'iTXt']);

function minimizePng(bytes: Buffer): void {
	for (let at = 8; at + 12 <= bytes.length; ) {
		const end = at + 8 + bytes.readUInt32BE(at);
		if (end + 4 > bytes.length) return;
		const type = bytes.toString('latin1', at + 4, at + 8);
		if (type === 'eXIf') minimizeBlock(bytes.subarray(at + 8, end));
		// A lower case letter in the second place is that of a private chunk, which readers that don't know it skip.
		else if (textChunks.has(type)) bytes.write(type.charAt(1).toLowerCase(), at + 5, 'latin1');
		if (type === 'eXIf' || textChunks.has(type)) bytes.writeUInt32BE(crc32(bytes.subarray(at + 4, end)), end);
		at = end + 4;
	}
}

function minimizeWebp(bytes: Buffer): void {
	for (let at = 12; at + 8 <= bytes.length; ) {
		const length = bytes.readUInt32LE(at + 4);
		if (bytes.toString('latin1', at, at + 4) === 'EXIF') minimizeBlock(bytes.subarray(at + 8, at + 8 + length));
		at += 8 + length + (length % 2);
	}
}

/**
 * Items of EXIF data get another type. An AVIF image is turned by properties of its own, whatever these say. The entries of items are
 * searched wherever they may be, since eight bytes are there by no chance. A minimized image (`mini`) has no entries, and is hidden: as
 * one of AVIF's brands it is none that any encoder writes.
 */
function hideItems(bytes: Buffer): void {
	// In upper and lower case.
	const [entry, exif, caseBits] = [Buffer.from('infe').readUInt32BE(), Buffer.from('exif').readUInt32BE(), 0x20202020];
	for (let at = 0; at + 18 <= bytes.length; at++) {
		if (bytes[at] !== entry >>> 24 || bytes.readUInt32BE(at) !== entry) continue;
		const isLong = (bytes[at + 4] ?? 0) >= 3;
		const type = at + (isLong ? 14 : 12);
		if ((bytes.readUInt32BE(type) | caseBits) === exif) bytes.write('free', type, 'latin1');
	}
	for (let at = 0; at + 16 <= bytes.length; ) {
		const length = bytes.readUInt32BE(at);
		if (bytes.toString('latin1', at + 4, at + 8) === 'mini') bytes.write('free', at + 4, 'latin1');
		at += Math.max(8, length === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : length || bytes.length);
	}
}

const exifPrefix = 'Exif\0\0';

/** A directory at 8 with one entry, the orientation, and none after it. */
const smallest = Buffer.from('4d4d002a00000008000101120003000000010001000000000000', 'hex');
const orientationAt = 18;

/** EXIF data, which JPEG files have behind a prefix; other segments with its marker are left alone. */
function minimizeBlock(block: Buffer): void {
	const isPrefixed = block.toString('latin1', 0, 4) === exifPrefix.slice(0, 4);
	const tiff = block.subarray(isPrefixed ? exifPrefix.length : 0);
	const order = tiff.toString('latin1', 0, 2);
	if (order !== 'II' && order !== 'MM') return;
	const orientation = readOrientation(tiff, order === 'II');
	tiff.set(smallest.subarray(0, tiff.length));
	if (tiff.length >= orientationAt + 2) tiff.writeUInt16BE(orientation, orientationAt);
}

/** The bytes of the types of integers that are taken for an orientation. */
const widths: Record<number, number> = { 1: 1, 3: 2, 4: 4, 8: 2, 9: 4 };

/** The orientation of the main image; 1, as it is, without one. */
function readOrientation(tiff: Buffer, isLittle: boolean): number {
	const integer = (at: number, width: number) => (isLittle ? tiff.readUIntLE(at, width) : tiff.readUIntBE(at, width));
	if (tiff.length < 10 || integer(2, 2) !== 42) return 1;
	const directory = integer(4, 4);
	if (directory + 2 > tiff.length) return 1;
	const end = Math.min(directory + 2 + 12 * integer(directory, 2), tiff.length);
	for (let at = directory + 2; at + 12 <= end; at += 12) {
		const [tag, type, count] = [integer(at, 2), integer(at + 2, 2), integer(at + 4, 4)];
		const width = widths[type];
		if (tag !== 0x0112 || width === undefined || count === 0 || count * width > 4) continue;
		const value = integer(at + 8, width);
		return value >= 1 && value <= 8 ? value : 1;
	}
	return 1;
}
