import type { ArchiveEntry } from '@stowage/plugin-api';
import { deflatedSize } from './storedBlocks.js';

// The byte format of PKWARE's APPNOTE 6.3.10, so that a program which reads from a pipe can follow. Small contents are stored as they are
// and read before their local header is written, which has their CRC. Large ones are deflated in stored blocks: these mark their end, so
// that the CRC may follow them. A record is as large for any CRC, so that the offset of every byte is known before the first content is
// read.

const max16 = 0xffff;
const max32 = 0xffffffff;

const isLarge = (value: number) => value >= max32;

const utf8Names = 0x0800;
const sumsFollow = 0x0008;
const stored = 0;
const deflated = 8;
const unix = 3 << 8;
const plainVersion = 20;
const zip64Version = 45;
const fileAttributes = 0o100644 * 0x10000;
const folderAttributes = 0o040755 * 0x10000 + 0x10;

const localHeaderBytes = 30;
const centralHeaderBytes = 46;
const timeFieldBytes = 9;
const endBytes = 22;
const zip64EndBytes = 56 + 20;

/** Longest name of a record, the slash of a folder included. */
export const maxArchiveNameBytes = max16;

function nameOf({ name, type }: ArchiveEntry): string {
	return type === 'directory' ? `${name}/` : name;
}

function nameBytes({ name, type }: ArchiveEntry): number {
	return Buffer.byteLength(name) + (type === 'directory' ? 1 : 0);
}

/** Contents up to this size are read completely before the first byte of their entry is written. */
export const smallBytes = 64 * 1024;

const isDeflated = ({ size }: ArchiveEntry) => size > smallBytes;

/** The size of a content in the archive. */
export const packedSize = (entry: ArchiveEntry) => (isDeflated(entry) ? deflatedSize(entry.size) : entry.size);

/** Deflated contents are never smaller than the original. */
const isZip64 = (entry: ArchiveEntry) => isLarge(packedSize(entry));

const timeBytes = (entry: ArchiveEntry) => (unixSeconds(entry.mtime) === undefined ? 0 : timeFieldBytes);

export function localHeaderSize(entry: ArchiveEntry): number {
	return localHeaderBytes + nameBytes(entry) + timeBytes(entry) + (isZip64(entry) ? 20 : 0);
}

export function descriptorSize(entry: ArchiveEntry): number {
	if (!isDeflated(entry)) return 0;
	return isZip64(entry) ? 24 : 16;
}

export function centralRecordSize(entry: ArchiveEntry, offset: number): number {
	return centralHeaderBytes + nameBytes(entry) + timeBytes(entry) + zip64FieldSize(entry, offset);
}

/** The field for values that are too large for the record itself. */
function zip64FieldSize(entry: ArchiveEntry, offset: number): number {
	const values = (isZip64(entry) ? 16 : 0) + (isLarge(offset) ? 8 : 0);
	return values === 0 ? 0 : 4 + values;
}

const needsZip64End = (count: number, centralStart: number, centralSize: number) =>
	count >= max16 || isLarge(centralStart) || isLarge(centralSize);

export function endSize(count: number, centralStart: number, centralSize: number): number {
	return endBytes + (needsZip64End(count, centralStart, centralSize) ? zip64EndBytes : 0);
}

/** The CRC of a large content follows it and is left out here. */
export function localHeader(entry: ArchiveEntry, crc: number): Buffer {
	const record = Buffer.allocUnsafe(localHeaderSize(entry));
	const isLargest = isZip64(entry);
	let at = record.writeUInt32LE(0x04034b50, 0);
	at = writeCommon(record, at, entry, isDeflated(entry) ? unknown(entry) : known(entry, crc));
	at = record.writeUInt16LE(timeBytes(entry) + (isLargest ? 20 : 0), at);
	at = writeName(record, at, entry);
	at = writeTime(record, at, entry);
	if (isLargest) {
		at = record.writeUInt16LE(0x0001, at);
		at = record.writeUInt16LE(16, at);
		at = writeUInt64(record, at, entry.size);
		writeUInt64(record, at, packedSize(entry));
	}
	return record;
}

/** The data descriptor after a large content. */
export function descriptor(entry: ArchiveEntry, crc: number): Buffer {
	const record = Buffer.allocUnsafe(descriptorSize(entry));
	let at = record.writeUInt32LE(0x08074b50, 0);
	at = record.writeUInt32LE(crc, at);
	if (isZip64(entry)) {
		at = writeUInt64(record, at, packedSize(entry));
		writeUInt64(record, at, entry.size);
	} else {
		at = record.writeUInt32LE(packedSize(entry), at);
		record.writeUInt32LE(entry.size, at);
	}
	return record;
}

export function centralRecord(entry: ArchiveEntry, offset: number, crc: number): Buffer {
	const record = Buffer.allocUnsafe(centralRecordSize(entry, offset));
	const zip64Bytes = zip64FieldSize(entry, offset);
	let at = record.writeUInt32LE(0x02014b50, 0);
	at = record.writeUInt16LE(unix | (zip64Bytes > 0 ? zip64Version : plainVersion), at);
	at = writeCommon(record, at, entry, known(entry, crc));
	at = record.writeUInt16LE(timeBytes(entry) + zip64Bytes, at);
	// No comment, the first disk, no internal attributes.
	at = record.writeUIntLE(0, at, 6);
	at = record.writeUInt32LE(entry.type === 'file' ? fileAttributes : folderAttributes, at);
	at = record.writeUInt32LE(Math.min(offset, max32), at);
	at = writeName(record, at, entry);
	at = writeTime(record, at, entry);
	if (zip64Bytes > 0) {
		at = record.writeUInt16LE(0x0001, at);
		at = record.writeUInt16LE(zip64Bytes - 4, at);
		if (isZip64(entry)) {
			at = writeUInt64(record, at, entry.size);
			at = writeUInt64(record, at, packedSize(entry));
		}
		if (isLarge(offset)) writeUInt64(record, at, offset);
	}
	return record;
}

export function endRecords(count: number, centralStart: number, centralSize: number): Buffer {
	const record = Buffer.alloc(endSize(count, centralStart, centralSize));
	let at = 0;
	if (needsZip64End(count, centralStart, centralSize)) {
		at = record.writeUInt32LE(0x06064b50, at);
		at = writeUInt64(record, at, 56 - 12);
		at = record.writeUInt16LE(unix | zip64Version, at);
		at = record.writeUInt16LE(zip64Version, at);
		at += 8;
		at = writeUInt64(record, at, count);
		at = writeUInt64(record, at, count);
		at = writeUInt64(record, at, centralSize);
		at = writeUInt64(record, at, centralStart);
		at = record.writeUInt32LE(0x07064b50, at);
		at += 4;
		at = writeUInt64(record, at, centralStart + centralSize);
		at = record.writeUInt32LE(1, at);
	}
	at = record.writeUInt32LE(0x06054b50, at);
	at += 4;
	at = record.writeUInt16LE(Math.min(count, max16), at);
	at = record.writeUInt16LE(Math.min(count, max16), at);
	at = record.writeUInt32LE(Math.min(centralSize, max32), at);
	record.writeUInt32LE(Math.min(centralStart, max32), at);
	return record;
}

/** The three fields that a local header can leave to the descriptor. */
interface Sums {
	crc: number;
	packedSize: number;
	size: number;
}

/** Limited to 32 bits. */
function known(entry: ArchiveEntry, crc: number): Sums {
	if (isZip64(entry)) return { crc, packedSize: max32, size: max32 };
	return { crc, packedSize: packedSize(entry), size: entry.size };
}

function unknown(entry: ArchiveEntry): Sums {
	const size = isZip64(entry) ? max32 : 0;
	return { crc: 0, packedSize: size, size };
}

/** The fields that a local header and its central record have in common, up to the length of the name. */
function writeCommon(record: Buffer, start: number, entry: ArchiveEntry, sums: Sums): number {
	let at = record.writeUInt16LE(isZip64(entry) ? zip64Version : plainVersion, start);
	at = record.writeUInt16LE(utf8Names | (isDeflated(entry) ? sumsFollow : 0), at);
	at = record.writeUInt16LE(isDeflated(entry) ? deflated : stored, at);
	at = record.writeUInt32LE(dosTime(entry.mtime), at);
	at = record.writeUInt32LE(sums.crc, at);
	at = record.writeUInt32LE(sums.packedSize, at);
	at = record.writeUInt32LE(sums.size, at);
	return record.writeUInt16LE(nameBytes(entry), at);
}

function writeName(record: Buffer, at: number, entry: ArchiveEntry): number {
	return at + record.write(nameOf(entry), at);
}

/** The 'extended timestamp': seconds in UTC, while the record's own time is local to an unknown time zone. */
function writeTime(record: Buffer, start: number, entry: ArchiveEntry): number {
	const seconds = unixSeconds(entry.mtime);
	if (seconds === undefined) return start;
	let at = record.writeUInt16LE(0x5455, start);
	at = record.writeUInt16LE(5, at);
	at = record.writeUInt8(1, at);
	return record.writeInt32LE(seconds, at);
}

function writeUInt64(record: Buffer, at: number, value: number): number {
	record.writeUInt32LE(value % 2 ** 32, at);
	return record.writeUInt32LE(Math.floor(value / 2 ** 32), at + 4);
}

const firstYear = 1980;
const lastYear = 2107;

/**
 * A ZIP's own form of time: with a resolution of two seconds, from 1980 to 2107, and without a time zone. It is in UTC here: the same
 * whatever time zone the server has.
 */
export function dosTime(mtime: number): number {
	const date = new Date(mtime);
	const year = date.getUTCFullYear();
	if (!(year >= firstYear)) return dos(firstYear, 1, 1, 0, 0, 0);
	if (year > lastYear) return dos(lastYear, 12, 31, 23, 59, 58);
	return dos(
		year,
		date.getUTCMonth() + 1,
		date.getUTCDate(),
		date.getUTCHours(),
		date.getUTCMinutes(),
		date.getUTCSeconds(),
	);
}

function dos(year: number, month: number, day: number, hours: number, minutes: number, seconds: number): number {
	const time = (hours << 11) | (minutes << 5) | (seconds >> 1);
	return ((((year - firstYear) << 9) | (month << 5) | day) * 0x10000 + time) >>> 0;
}

/** Whole seconds since the epoch in 32 bits; undefined for a time beyond. */
export function unixSeconds(mtime: number): number | undefined {
	const seconds = Math.floor(mtime / 1000);
	return seconds >= -(2 ** 31) && seconds < 2 ** 31 ? seconds : undefined;
}
