import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import { access, type FileHandle, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { Failure } from '@stowage/rules';
import { type FolderOfNew, holdFolderOfNew } from '../privileges/heldFolder.js';
import { publishFile } from './publishFile.js';
import type { Answer, Order } from './publishingProgram.js';
import { removeOldest } from './rotation.js';

/** A file that has no name yet. */
export interface NewFile {
	/** Writes all of it, syncs it and gives it its name. Throws `alreadyExists` for an existing file, and `storageFull` on a full disk. */
	write(content: NodeJS.ReadableStream): Promise<void>;
	/** Removes what has not got its name. */
	close(): Promise<void>;
}

/** One of the files of a folder of backups. */
export interface NewBackup extends NewFile {
	/**
	 * Removes the oldest backups of the folder, so that so many are left with this one. It is called after `write`. Resolves to their
	 * names.
	 */
	removeOldest(keep: number): Promise<string[]>;
}

/** Writes a new file completely or not at all, for its owner only. Throws as `NewFile.write` does; then nothing is left. */
export async function writeDurably(file: string, content: NodeJS.ReadableStream): Promise<void> {
	const created = await createFile(file, false);
	try {
		await created.write(content);
	} finally {
		await created.close();
	}
}

/**
 * Creates a file under a temporary name beside its own. The folder is held: whoever exchanges it, or what lies on the way to it, leads
 * nobody elsewhere. Root follows links of its own only. With `byRoot` this process may give up the rights of root before it writes: a
 * process that keeps them, and does nothing else, names or removes the file. It ends with this one, however that ends. Throws ConfigError
 * for a link that root does not follow.
 */
export async function createFile(file: string, byRoot: boolean): Promise<NewBackup> {
	const folder = await holdFolderOfNew(file).catch((cause) => {
		throw explained(cause, file);
	});
	const published = folder.at(path.basename(file));
	const temporary = `${published}.${randomBytes(6).toString('hex')}.partial`;
	const keepOnSignals = removeOnSignals(temporary);
	let handle: FileHandle;
	try {
		await assertFree(published, file);
		handle = await open(temporary, 'wx', 0o600);
	} catch (cause) {
		keepOnSignals();
		await folder.handle?.close();
		throw explained(cause, file);
	}
	const helper = byRoot ? startHelper(folder, path.basename(temporary), path.basename(file)) : undefined;
	if (helper !== undefined) {
		// The user whom this process becomes must not have the folder by it, which may lie where only root can go.
		keepOnSignals();
		await folder.handle?.close();
	}
	return {
		async write(content) {
			try {
				await pipeline(content, createWriteStream('', { fd: handle, flush: true }));
				await (helper === undefined ? publishFile(temporary, published) : askHelper(helper, 'publish'));
			} catch (cause) {
				throw explained(cause, file);
			}
		},
		async removeOldest(keep) {
			try {
				return await (helper === undefined ? removeOldest(published, keep) : askHelper(helper, { keep }));
			} catch (cause) {
				const { code = 'unknown' } = cause as NodeJS.ErrnoException;
				const folder = path.dirname(file);
				throw new Failure('forbidden', `The backup is written, but older ones can't be removed (${code}): ${folder}`, {
					cause,
				});
			}
		},
		async close() {
			await handle.close().catch(() => {
				// The stream has closed it.
			});
			if (helper === undefined) {
				await rm(temporary, { force: true });
				keepOnSignals();
				await folder.handle?.close();
			}
			// It may have been killed.
			if (!helper?.connected) return;
			const ended = once(helper, 'exit');
			helper.disconnect();
			await ended;
		},
	};
}

/** Passes the folder on as an open descriptor, by which that process names the files. */
function startHelper({ handle, at }: FolderOfNew, temporary: string, name: string): ChildProcess {
	const program = fileURLToPath(new URL('./publishingProgram.js', import.meta.url));
	const standard = ['inherit', 'inherit', 'inherit', 'ipc'] as const;
	if (handle === undefined) return fork(program, [at(temporary), at(name)], { execArgv: [] });
	const theirs = `/proc/self/fd/${standard.length}`;
	return fork(program, [path.join(theirs, temporary), path.join(theirs, name)], {
		execArgv: [],
		stdio: [...standard, handle.fd],
	});
}

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Removes the file when a signal ends this process, which then ends by that signal as shells expect. Returns what stops this. */
function removeOnSignals(temporary: string): () => void {
	const stop = () => {
		for (const each of endings) process.off(each, end);
	};
	const end = (signal: NodeJS.Signals) => {
		try {
			rmSync(temporary, { force: true });
		} catch {
			// Its folder, or the disk, is away.
		}
		stop();
		process.kill(process.pid, signal);
	};
	for (const each of endings) process.on(each, end);
	return stop;
}

/** Resolves to the names of removed backups. Throws with the code of the system's error. */
async function askHelper(helper: ChildProcess, order: Order): Promise<string[]> {
	if (!helper.connected) throw new Error('The process that names the file has ended.');
	helper.send(order);
	const ended = once(helper, 'exit').then((): [Answer] => [{ code: 'unknown' }]);
	const [answer] = (await Promise.race([once(helper, 'message'), ended])) as [Answer];
	if ('removed' in answer) return answer.removed;
	throw Object.assign(new Error(`The file can't be given its name (${answer.code}).`), { code: answer.code });
}

async function assertFree(at: string, file: string): Promise<void> {
	const isThere = await access(at).then(
		() => true,
		() => false,
	);
	if (isThere) throw new Failure('alreadyExists', `There is a file of this name already: ${file}`);
}

/** The refusal for an error of the system that an administrator can understand; any other error as it is. */
export function explained(cause: unknown, file: string): unknown {
	const { code } = cause as NodeJS.ErrnoException;
	if (code === 'EEXIST')
		return new Failure('alreadyExists', `There is a file of this name already: ${file}`, { cause });
	// Reading has no path in its error.
	if (code === 'EISDIR') return new Failure('invalid', `This is a folder: ${file}`, { cause });
	if (code === 'ENOSPC' || code === 'EDQUOT')
		return new Failure('storageFull', `The disk is full. Nothing was written: ${file}`, { cause });
	if (code === 'ENOENT') return new Failure('notFound', `There is no such folder: ${path.dirname(file)}`, { cause });
	if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
		return new Failure('forbidden', `The file can't be written (${code}): ${file}`, { cause });
	return cause;
}
