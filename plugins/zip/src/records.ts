import type { ArchiveEntry } from '@stowage/plugin-api';
import { dosTime, unixSeconds } from './times.js';

// The byte format of PKWARE's APPNOTE 6.3.10. Contents are stored as they are, their CRC follows them, and a record is as large for any CRC, so that the
// place of every byte is known before the first content is read.

const max16 = 0xffff;
const max32 = 0xffffffff;

/** Bytes before a local header and its content can lie beyond what 32 bits hold. */
const isLarge = (value: number) => value >= max32;

const utf8Names = 0x0800;
const crcFollows = 0x0008;
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

/** Longest name that a record can hold, the slash of a folder included. */
export const maxArchiveNameBytes = max16;

function nameOf({ name, type }: ArchiveEntry): string {
	return type === 'directory' ? `${name}/` : name;
}

function nameBytes({ name, type }: ArchiveEntry): number {
	return Buffer.byteLength(name) + (type === 'directory' ? 1 : 0);
}

const timeBytes = (entry: ArchiveEntry) => (unixSeconds(entry.mtime) === undefined ? 0 : timeFieldBytes);

/** An empty content has a CRC that is known, and needs none after it. */
const hasDescriptor = (entry: ArchiveEntry) => entry.size > 0;

export function localHeaderSize(entry: ArchiveEntry): number {
	return localHeaderBytes + nameBytes(entry) + timeBytes(entry) + (isLarge(entry.size) ? 20 : 0);
}

export function descriptorSize(entry: ArchiveEntry): number {
	if (!hasDescriptor(entry)) return 0;
	return isLarge(entry.size) ? 24 : 16;
}

export function centralRecordSize(entry: ArchiveEntry, offset: number): number {
	return centralHeaderBytes + nameBytes(entry) + timeBytes(entry) + zip64FieldSize(entry, offset);
}

/** The field that holds what is too large for the record itself. */
function zip64FieldSize({ size }: ArchiveEntry, offset: number): number {
	const values = (isLarge(size) ? 16 : 0) + (isLarge(offset) ? 8 : 0);
	return values === 0 ? 0 : 4 + values;
}

const needsZip64End = (count: number, centralStart: number, centralSize: number) =>
	count >= max16 || isLarge(centralStart) || isLarge(centralSize);

export function endSize(count: number, centralStart: number, centralSize: number): number {
	return endBytes + (needsZip64End(count, centralStart, centralSize) ? zip64EndBytes : 0);
}

export function localHeader(entry: ArchiveEntry): Buffer {
	const record = Buffer.allocUnsafe(localHeaderSize(entry));
	let at = record.writeUInt32LE(0x04034b50, 0);
	at = writeCommon(record, at, entry, 0, isLarge(entry.size) ? max32 : 0);
	at = record.writeUInt16LE(timeBytes(entry) + (isLarge(entry.size) ? 20 : 0), at);
	at = writeName(record, at, entry);
	at = writeTime(record, at, entry);
	if (isLarge(entry.size)) {
		at = record.writeUInt16LE(0x0001, at);
		at = record.writeUInt16LE(16, at);
		at = writeUInt64(record, at, entry.size);
		writeUInt64(record, at, entry.size);
	}
	return record;
}

export function descriptor(entry: ArchiveEntry, crc: number): Buffer {
	const record = Buffer.allocUnsafe(descriptorSize(entry));
	if (record.length === 0) return record;
	let at = record.writeUInt32LE(0x08074b50, 0);
	at = record.writeUInt32LE(crc, at);
	if (isLarge(entry.size)) {
		at = writeUInt64(record, at, entry.size);
		writeUInt64(record, at, entry.size);
	} else {
		at = record.writeUInt32LE(entry.size, at);
		record.writeUInt32LE(entry.size, at);
	}
	return record;
}

export function centralRecord(entry: ArchiveEntry, offset: number, crc: number): Buffer {
	const record = Buffer.allocUnsafe(centralRecordSize(entry, offset));
	const zip64Bytes = zip64FieldSize(entry, offset);
	let at = record.writeUInt32LE(0x02014b50, 0);
	at = record.writeUInt16LE(unix | (zip64Bytes > 0 ? zip64Version : plainVersion), at);
	at = writeCommon(record, at, entry, crc, Math.min(entry.size, max32));
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
		if (isLarge(entry.size)) {
			at = writeUInt64(record, at, entry.size);
			at = writeUInt64(record, at, entry.size);
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

/** What a local header and its central record have in common, up to the length of the name. */
function writeCommon(record: Buffer, start: number, entry: ArchiveEntry, crc: number, size: number): number {
	let at = record.writeUInt16LE(isLarge(entry.size) ? zip64Version : plainVersion, start);
	at = record.writeUInt16LE(utf8Names | (hasDescriptor(entry) ? crcFollows : 0), at);
	// Stored.
	at = record.writeUInt16LE(0, at);
	at = record.writeUInt32LE(dosTime(entry.mtime), at);
	at = record.writeUInt32LE(crc, at);
	at = record.writeUInt32LE(size, at);
	at = record.writeUInt32LE(size, at);
	return record.writeUInt16LE(nameBytes(entry), at);
}

function writeName(record: Buffer, at: number, entry: ArchiveEntry): number {
	return at + record.write(nameOf(entry), at);
}

/** The 'extended timestamp': seconds in UTC, where the record's own time is a local one of nobody knows which place. */
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
