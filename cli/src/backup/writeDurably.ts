import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, link, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Failure } from '@stowage/rules';

/**
 * Writes a new file completely or not at all: under a temporary name beside it, synced, then renamed, for its owner only. Throws `alreadyExists` for an existing file,
 * and `storageFull` on a full disk; then nothing is left.
 */
export async function writeDurably(file: string, content: NodeJS.ReadableStream): Promise<void> {
	const temporary = `${file}.${randomBytes(6).toString('hex')}.partial`;
	try {
		await assertFree(file);
		await pipeline(content, createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true }));
		// A hard link, since a rename would replace a file that was created meanwhile.
		await link(temporary, file);
		await sync(path.dirname(file));
	} catch (cause) {
		throw explained(cause, file);
	} finally {
		await rm(temporary, { force: true });
	}
}

export async function assertFree(file: string): Promise<void> {
	const isThere = await access(file).then(
		() => true,
		() => false,
	);
	if (isThere) throw new Failure('alreadyExists', `There is a file of this name already: ${file}`);
}

async function sync(folder: string): Promise<void> {
	const handle = await open(folder, 'r');
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

function explained(cause: unknown, file: string): unknown {
	const { code } = cause as NodeJS.ErrnoException;
	if (code === 'EEXIST')
		return new Failure('alreadyExists', `There is a file of this name already: ${file}`, { cause });
	if (code === 'ENOSPC' || code === 'EDQUOT')
		return new Failure('storageFull', `The disk is full. Nothing was written: ${file}`, { cause });
	if (code === 'ENOENT') return new Failure('notFound', `There is no such folder: ${path.dirname(file)}`, { cause });
	if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
		return new Failure('forbidden', `The file can't be written (${code}): ${file}`, { cause });
	return cause;
}
