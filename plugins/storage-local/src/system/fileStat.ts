import { createHash } from 'node:crypto';
import type { BigIntStats, Stats } from 'node:fs';
import type { StorageEntry, StorageItem } from '@stowage/plugin-api';

export type ObjectType = 'file' | 'directory' | 'other';

/** The stat of one object. */
export interface FileStat {
	type: ObjectType;
	/** The number of the device, as `stat` gives it. */
	device: bigint;
	inode: bigint;
	size: number;
	mtimeNs: bigint;
	ctimeNs: bigint;
	/** 0 if the file system stores none. */
	birthtimeNs: bigint;
	/** Distinguishes an object from the next one of its inode number, if it has no time of birth. */
	handle?: string;
}

/** Who may use an object: its mode with its type, its user and its group. */
export interface Ownership {
	mode: number;
	uid: number;
	gid: number;
}

const typeMask = 0o170000;

export function typeOfMode(mode: number): ObjectType {
	const bits = mode & typeMask;
	return bits === 0o100000 ? 'file' : bits === 0o040000 ? 'directory' : 'other';
}

export function toFileStat(stats: BigIntStats): FileStat {
	return {
		type: typeOfMode(Number(stats.mode)),
		device: stats.dev,
		inode: stats.ino,
		size: Number(stats.size),
		mtimeNs: stats.mtimeNs,
		ctimeNs: stats.ctimeNs,
		birthtimeNs: stats.birthtimeNs,
	};
}

/** The row of a listing; undefined for anything but a file or folder. */
export function toEntry(name: string, stats: Stats): StorageEntry | undefined {
	const type = typeOfMode(stats.mode);
	if (type === 'other') return undefined;
	return { name, type, size: type === 'file' ? stats.size : 0, mtime: Math.round(stats.mtimeMs) };
}

export function toItem(name: string, stat: FileStat & { type: 'file' | 'directory' }): StorageItem {
	const size = stat.type === 'file' ? stat.size : 0;
	const written = [stat.inode, BigInt(stat.size), stat.mtimeNs].map((part) => `${part.toString(36)}-`).join('');
	const item = {
		name,
		type: stat.type,
		size,
		mtime: toMs(stat.mtimeNs),
		id: objectId(stat),
		version: `${written}${stat.ctimeNs.toString(36)}`,
		...(stat.type === 'file' ? { contentVersion: written } : {}),
	};
	return stat.birthtimeNs === 0n && stat.handle === undefined ? { ...item, mayReuseId: true } : item;
}

/**
 * The inode number of a removed object may be reused; its time of birth is unique, and so is its handle, which contains the generation of
 * the number.
 */
export function objectId({ inode, birthtimeNs, handle }: FileStat): string {
	const life = handle === undefined ? birthtimeNs.toString(36) : createHash('sha256').update(handle).digest('hex');
	return `${inode.toString(36)}-${life}`;
}

/** Rounded: times are set through floating-point seconds, which may fall short of the whole millisecond by a hair. */
function toMs(ns: bigint): number {
	return Math.round(Number(ns / 1_000_000_000n) * 1000 + Number(ns % 1_000_000_000n) / 1e6);
}

// Offsets of `struct statx`, which is the same on every processor.
const offset = {
	user: 20,
	group: 24,
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

export function readOwnership(fields: DataView): Ownership {
	return {
		mode: fields.getUint16(offset.mode, true),
		uid: fields.getUint32(offset.user, true),
		gid: fields.getUint32(offset.group, true),
	};
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
