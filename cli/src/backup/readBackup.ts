import { createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { FileHash, Row } from '@stowage/core';
import { Failure, isFailure, parsePath } from '@stowage/rules';
import { type Entry, fromFd, type ZipFile } from 'yauzl';
import type { Progress } from '../terminal/Progress.js';
import { entryNames, isRecord, type Manifest, parseManifest } from './format.js';
import { explained } from './writeDurably.js';

/** An open backup; reading fails for entries that don't match the manifest. */
export interface Backup {
	manifest: Manifest;
	/** The SHA-256 of its manifest, which no other backup has. */
	id: string;
	has(name: string): boolean;
	content(name: string): Promise<Buffer>;
	/** The rows of the tables, in the order in which they were written. */
	rows(): AsyncIterable<{ table: string; row: Row }>;
	hashes(): AsyncIterable<FileHash>;
	/** Reads all of it once. Throws for damage. */
	verify(progress: Progress): Promise<void>;
	close(): void;
}

/** The most bytes of an entry that is read as a whole, such as keys and settings, and of the line of a row. */
const maxContent = 16 * 1024 * 1024;

/** Reads the manifest of an open file, which is closed with the backup. `file` names it in errors. */
export async function openBackup(descriptor: number, file: string): Promise<Backup> {
	const zip = await openZip(descriptor, file);
	const entries = new Map<string, Entry>();
	try {
		await new Promise<void>((resolve, reject) => {
			zip.on('entry', (entry: Entry) => {
				entries.set(entry.fileName, entry);
				zip.readEntry();
			});
			zip.once('end', resolve).once('error', reject);
			zip.readEntry();
		});
		const streamOf = async (name: string): Promise<Readable> => {
			const entry = entries.get(name);
			if (entry === undefined) throw new Failure('invalid', `The backup is damaged: ${name} is missing.`);
			return promisify(zip.openReadStream.bind(zip) as (entry: Entry, done: Done<Readable>) => void)(entry);
		};
		// Reading the entry fails if it has more bytes than it states.
		if ((entries.get(entryNames.manifest)?.uncompressedSize ?? 0) > maxContent)
			throw new Failure('invalid', 'The manifest of the backup is too large.');
		const manifestBytes = await buffer(await streamOf(entryNames.manifest));
		const manifest = parseManifest(manifestBytes.toString());
		const records = async function* (name: string): AsyncGenerator<Record<string, unknown>> {
			for await (const line of linesOf(await streamOf(name), name)) yield recordOf(line, name);
		};
		const verify = async (name: string, progress: Progress) => {
			const { size, sha256 } = manifest.entries[name] ?? {};
			const hash = createHash('sha256');
			let read = 0;
			for await (const chunk of await streamOf(name)) {
				hash.update(chunk);
				const { length } = chunk as Buffer;
				read += length;
				progress.advance({ bytes: length });
			}
			if (read !== size || hash.digest('hex') !== sha256)
				throw new Failure('invalid', `The backup is damaged: ${name} is not what was written.`);
		};
		return {
			manifest,
			id: createHash('sha256').update(manifestBytes).digest('hex'),
			has: (name) => manifest.entries[name] !== undefined,
			async content(name) {
				if ((manifest.entries[name]?.size ?? 0) > maxContent)
					throw new Failure('invalid', `The backup is damaged: ${name} is too large.`);
				return buffer(await streamOf(name));
			},
			async *rows() {
				for await (const { table, row } of records(entryNames.database)) {
					if (typeof table !== 'string' || !isRecord(row)) throw invalidEntry(entryNames.database);
					yield { table, row: row as Row };
				}
			},
			async *hashes() {
				for await (const { path: at, size, sha256 } of records(entryNames.hashes)) {
					if (typeof at !== 'string' || typeof size !== 'number' || typeof sha256 !== 'string')
						throw invalidEntry(entryNames.hashes);
					yield { path: parsePath(at), size, sha256 };
				}
			},
			async verify(progress) {
				try {
					const bytes = Object.values(manifest.entries).reduce((sum, { size }) => sum + size, 0);
					progress.begin({ what: 'Checking the backup', total: { bytes } });
					for (const name of Object.keys(manifest.entries)) await verify(name, progress);
				} catch (error) {
					throw isFailure(error) ? error : damaged(file, error);
				}
			},
			close: () => zip.close(),
		};
	} catch (error) {
		zip.close();
		throw isFailure(error) ? error : damaged(file, error);
	}
}

/** The lines of an entry. Throws for one longer than any row: a kilobyte of a ZIP may be a megabyte of text. */
async function* linesOf(stream: Readable, name: string): AsyncGenerator<string> {
	let parts: Buffer[] = [];
	let length = 0;
	for await (const chunk of stream as AsyncIterable<Buffer>) {
		let start = 0;
		for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
			yield Buffer.concat([...parts, chunk.subarray(start, end)]).toString();
			parts = [];
			length = 0;
			start = end + 1;
		}
		parts.push(chunk.subarray(start));
		length += chunk.length - start;
		if (length > maxContent) throw invalidEntry(name);
	}
	if (length > 0) yield Buffer.concat(parts).toString();
}

function recordOf(line: string, name: string): Record<string, unknown> {
	let value: unknown;
	try {
		value = JSON.parse(line);
	} catch (cause) {
		throw invalidEntry(name, cause);
	}
	if (!isRecord(value)) throw invalidEntry(name);
	return value;
}

function invalidEntry(name: string, cause?: unknown): Failure {
	return new Failure('invalid', `The backup is damaged: ${name} has a line that is none of a backup.`, { cause });
}

type Done<T> = (error: Error | null, value: T) => void;

async function openZip(descriptor: number, file: string): Promise<ZipFile> {
	try {
		return await promisify(fromFd as (descriptor: number, options: object, done: Done<ZipFile>) => void)(descriptor, {
			lazyEntries: true,
			autoClose: false,
		});
	} catch (error) {
		closeSync(descriptor);
		throw damaged(file, error);
	}
}

/** Copies standard input to a file without a name, for `openBackup`: a ZIP is read from its end. Throws `storageFull`. */
export async function openBackupInput(input: Readable = process.stdin): Promise<number> {
	const file = path.join(os.tmpdir(), `stowage-${randomBytes(12).toString('hex')}.zip`);
	const handle = await open(file, 'wx+', 0o600);
	try {
		await rm(file);
		for await (const chunk of input) await handle.writeFile(chunk as Buffer);
		// A descriptor of its own, since the handle closes its one.
		return openSync(`/proc/self/fd/${handle.fd}`, constants.O_RDONLY);
	} catch (cause) {
		throw explained(cause, os.tmpdir());
	} finally {
		await handle.close();
	}
}

/** Opens a file for `openBackup`, or a copy of a database. Throws for what is no file, such as a device without an end. */
export function openBackupFile(file: string): number {
	try {
		const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
		try {
			assertFile(fstatSync(descriptor), file);
		} catch (error) {
			closeSync(descriptor);
			throw error;
		}
		return descriptor;
	} catch (error) {
		if (isFailure(error)) throw error;
		const { code } = error as NodeJS.ErrnoException;
		if (code === 'ENOENT') throw new Failure('notFound', `There is no such file: ${file}`, { cause: error });
		if (code === 'EACCES' || code === 'EPERM')
			throw new Failure('forbidden', `The file can't be read (${code}): ${file}`, { cause: error });
		throw damaged(file, error);
	}
}

function assertFile(found: Stats, file: string): void {
	if (found.isDirectory()) throw new Failure('invalid', `This is a folder: name one of the backups in it: ${file}`);
	if (!found.isFile()) throw new Failure('invalid', `This is no file: ${file}`);
}

function damaged(file: string, cause: unknown): Failure {
	const reason = cause instanceof Error ? cause.message : String(cause);
	return new Failure('invalid', `This is no backup of Stowage, or it is damaged: ${file} (${reason})`, { cause });
}
