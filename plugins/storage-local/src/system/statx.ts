import type { StorageEntry } from '@stowage/plugin-api';
import { type FileStat, typeOfMode } from './fileStat.js';

// Offsets of `struct statx`, which is the same on every processor.
const offset = {
	mode: 28,
	inode: 32,
	size: 40,
	birth: 80,
	change: 96,
	modify: 112,
	deviceMajor: 136,
	deviceMinor: 140,
};

/** The row of a listing; undefined for anything but a file or folder. */
export function readEntry(fields: DataView, name: string): StorageEntry | undefined {
	const type = typeOfMode(fields.getUint16(offset.mode, true));
	if (type === 'other') return undefined;
	const seconds = fields.getInt32(offset.modify + 4, true) * 2 ** 32 + fields.getUint32(offset.modify, true);
	const mtime = Math.round(seconds * 1000 + fields.getUint32(offset.modify + 8, true) / 1e6);
	return { name, type, size: type === 'file' ? readSize(fields) : 0, mtime };
}

export function readFileStat(fields: DataView): FileStat {
	return {
		type: typeOfMode(fields.getUint16(offset.mode, true)),
		device: deviceNumber(fields.getUint32(offset.deviceMajor, true), fields.getUint32(offset.deviceMinor, true)),
		inode: fields.getBigUint64(offset.inode, true),
		size: readSize(fields),
		mtimeNs: readTime(fields, offset.modify),
		ctimeNs: readTime(fields, offset.change),
		birthtimeNs: readTime(fields, offset.birth),
	};
}

/** Packed as by `makedev`, so that an object has the same number from each call. In halves, since the stat of many files pays for it. */
function deviceNumber(major: number, minor: number): bigint {
	const low = ((minor & 0xff) | ((major & 0xfff) << 8) | ((minor & 0xfff00) << 12)) >>> 0;
	const high = ((major & 0xfffff000) | (minor >>> 20)) >>> 0;
	return (BigInt(high) << 32n) | BigInt(low);
}

function readSize(fields: DataView): number {
	return fields.getUint32(offset.size + 4, true) * 2 ** 32 + fields.getUint32(offset.size, true);
}

function readTime(fields: DataView, at: number): bigint {
	return fields.getBigInt64(at, true) * 1_000_000_000n + BigInt(fields.getUint32(at + 8, true));
}
