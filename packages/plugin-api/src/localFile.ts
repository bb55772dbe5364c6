import { randomUUID } from 'node:crypto';
import { open, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { LocalFile, OpenFile } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';

/** A larger file is not copied from one place to another only for a picture of it. */
const mostCopied = 512 * 1024 * 1024;

/** Stays free on the disk that the copy lies on. */
const reserve = 256 * 1024 * 1024;

/** Lends the file as the storage has it, else as a copy without a name in `folder`, of which nothing is left afterwards, not even by a kill. */
export async function withLocalFile<T>(
	file: OpenFile,
	folder: string,
	signal: AbortSignal,
	use: (file: LocalFile) => Promise<T>,
): Promise<T> {
	if (file.withLocalFile !== undefined) return file.withLocalFile(use);
	if (file.item.size > mostCopied) throw new Failure('unsupportedMediaType', 'The file is too large for a preview.');
	const { bavail, bsize } = await statfs(folder);
	if (bavail * bsize < reserve + file.item.size) throw noSpace();
	const name = path.join(folder, `${randomUUID()}.tmp`);
	const copy = await open(name, 'wx+', 0o600);
	try {
		await rm(name);
		let at = 0;
		for await (const chunk of file.read()) {
			signal.throwIfAborted();
			await copy.writev([chunk], at);
			at += chunk.length;
		}
		return await use({ descriptor: copy.fd });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw noSpace(error);
		throw error;
	} finally {
		await copy.close();
	}
}

function noSpace(cause?: unknown): Failure {
	return new Failure('unavailable', 'There is no space for a preview right now.', { retryAfter: 60, cause });
}
