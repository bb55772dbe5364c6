import * as fs from 'node:fs';
import { promisify } from 'node:util';

/**
 * node:fs by plain descriptors. Its own promises come with a FileHandle each, which costs more than the calls we make on it and
 * can't be shared with the operating system's calls.
 */
export const access = promisify(fs.access);
export const open = promisify(fs.open);
export const close = promisify(fs.close);
export const fsync = promisify(fs.fsync);
export const fdatasync = promisify(fs.fdatasync);
export const ftruncate = promisify(fs.ftruncate);
export const fchmod = promisify(fs.fchmod);
export const fchown = promisify(fs.fchown);
export const lstat = promisify(fs.lstat);
export const mkdir = promisify(fs.mkdir);
export const rename = promisify(fs.rename);
export const link = promisify(fs.link);
export const unlink = promisify(fs.unlink);
export const rmdir = promisify(fs.rmdir);
export const readdir = promisify(fs.readdir);
export const readlink = promisify(fs.readlink);
export const realpath = promisify(fs.realpath.native);
export const copyFile = promisify(fs.copyFile);
export const statfs = promisify(fs.statfs);
export const { closeSync, fstatSync } = fs;

export const fstat = (fd: number): Promise<fs.BigIntStats> =>
	new Promise((resolve, reject) => {
		fs.fstat(fd, { bigint: true }, (error, stats) => (error ? reject(error) : resolve(stats)));
	});

const setTimes = promisify(fs.futimes);

/**
 * Sets the modified time, in seconds since the epoch. As text, since Node takes a negative number, a time before 1970, for the present.
 */
export const setModified = (fd: number, seconds: number): Promise<void> =>
	setTimes(fd, Date.now() / 1000, String(seconds));

const setLinkTimes = promisify(fs.lutimes);

/** Sets the time of an item by its path, whose last name may be a link and is not followed. */
export const setModifiedAt = (path: string | Buffer, seconds: number): Promise<void> =>
	setLinkTimes(path, Date.now() / 1000, String(seconds));

/** Reads until `buffer` is full or the file ends; resolves to the bytes read. */
export async function readFully(fd: number, buffer: Uint8Array, position: number): Promise<number> {
	let filled = 0;
	while (filled < buffer.length) {
		const bytes = await readOnce(fd, buffer, filled, position + filled);
		if (bytes === 0) break;
		filled += bytes;
	}
	return filled;
}

function readOnce(fd: number, buffer: Uint8Array, offset: number, position: number): Promise<number> {
	return new Promise((resolve, reject) => {
		fs.read(fd, buffer, offset, buffer.length - offset, position, (error, bytes) =>
			error ? reject(error) : resolve(bytes),
		);
	});
}

/** Fills the buffers one after another from `position` of the file on, or until it ends; resolves to the bytes read. */
export async function readvFully(fd: number, buffers: readonly Uint8Array[], position: number): Promise<number> {
	let rest = buffers;
	let filled = 0;
	while (rest.length > 0) {
		const bytes = await readvOnce(fd, rest, position + filled);
		if (bytes === 0) break;
		filled += bytes;
		rest = dropBytes(rest, bytes);
	}
	return filled;
}

function readvOnce(fd: number, buffers: readonly Uint8Array[], position: number): Promise<number> {
	return new Promise((resolve, reject) => {
		fs.readv(fd, buffers, position, (error, bytes) => (error ? reject(error) : resolve(bytes)));
	});
}

/** Writes all of the chunks one after another from `position` on. */
export async function writeFully(fd: number, chunks: readonly Uint8Array[], position: number): Promise<void> {
	let rest = chunks;
	let at = position;
	while (rest.length > 0) {
		const bytes = await writeOnce(fd, rest, at);
		at += bytes;
		rest = dropBytes(rest, bytes);
	}
}

function writeOnce(fd: number, chunks: readonly Uint8Array[], position: number): Promise<number> {
	return new Promise((resolve, reject) => {
		fs.writev(fd, chunks, position, (error, bytes) => (error ? reject(error) : resolve(bytes)));
	});
}

function dropBytes(chunks: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
	let left = bytes;
	let first = 0;
	for (let chunk = chunks[first]; chunk !== undefined && chunk.length <= left; chunk = chunks[first]) {
		left -= chunk.length;
		first++;
	}
	const rest = chunks.slice(first);
	if (left > 0 && rest[0] !== undefined) rest[0] = rest[0].subarray(left);
	return rest;
}
