import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { Failure } from '@stowage/rules';
import type { LocalFile, OpenFile } from '../storage/storage.js';

/** Bytes that stay free on the disk of temporary files. */
const reserve = 256 * 1024 * 1024;

export interface LocalFileOptions {
	/** The folder of temporary copies. */
	folder: string;
	signal: AbortSignal;
	/** Its purpose, for error messages: `preview`. */
	purpose: string;
	/** A larger file is not copied. */
	maxCopyBytes: number;
}

/**
 * Lends a file as the storage has it, else as a copy without a name, of which nothing is left afterwards, not even by a kill. Throws
 * `unsupportedMediaType` for one that is too large to be copied.
 */
export async function withLocalFile<T>(
	file: OpenFile,
	{ folder, signal, purpose, maxCopyBytes }: LocalFileOptions,
	use: (file: LocalFile) => Promise<T>,
): Promise<T> {
	if (file.withLocalFile !== undefined) return file.withLocalFile(use);
	if (file.item.size > maxCopyBytes) {
		throw new Failure('unsupportedMediaType', `The file is too large for a ${purpose}.`);
	}
	if ((await temporarySpace(folder)) < file.item.size) throw noSpace(purpose);
	return withTemporaryFile(folder, async (copy) => {
		try {
			let at = 0;
			for await (const chunk of file.read()) {
				signal.throwIfAborted();
				await copy.writev([chunk], at);
				at += chunk.length;
			}
		} catch (error) {
			throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? noSpace(purpose, error) : error;
		}
		return use({ descriptor: copy.fd });
	});
}

/** Lends a new file without a name, open for reading and writing. */
export async function withTemporaryFile<T>(folder: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
	const name = path.join(folder, `${randomUUID()}.tmp`);
	const file = await open(name, 'wx+', 0o600);
	try {
		await rm(name);
		return await use(file);
	} finally {
		await file.close();
	}
}

/** Bytes that temporary files may still take; negative where the reserve itself is short. */
export async function temporarySpace(folder: string): Promise<number> {
	const { bavail, bsize } = await statfs(folder);
	return bavail * bsize - reserve;
}

function noSpace(purpose: string, cause?: unknown): Failure {
	return new Failure('unavailable', `There is no space for a ${purpose} right now.`, { retryAfter: 60, cause });
}
