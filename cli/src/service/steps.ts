import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open, readdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { shellCommand } from '@stowage/core';
import { Failure, undefinedIf } from '@stowage/rules';
import { holdFolder } from '../privileges/heldFolder.js';

/** Root changes what it has opened, over no link, and never what a name leads to a moment later. */
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/** What lies in the place of a file, by the code of the system. It waits for nobody at a pipe. */
const inTheWay: ReadonlyMap<string, string> = new Map([
	['EEXIST', 'is there by now'],
	['ELOOP', 'is a link'],
	['EISDIR', 'is a folder'],
	['ENXIO', 'is no file'],
]);

/** A step of an installation. `says` is its text in a dry run. */
export interface Step {
	description: string;
	run(): Promise<void>;
}

/** The owner of created files; resolved when it is needed, since an earlier step creates the user. */
export type OwnerOf = () => Promise<{ uid: number; gid: number }>;

/** Writes a file of root's. With an owner it must be new, and the owner's group may read it. */
export function writeStep(file: string, text: string, mode: number, ownerOf?: OwnerOf): Step {
	return {
		description: `write ${file}`,
		async run() {
			const folder = await holdFolder(path.dirname(file), { mode: 0o755, remedy: 'name the file itself' });
			try {
				const denial = (what: string, cause?: unknown) =>
					new Failure('conflict', `${file} ${what}: remove it and install again.`, { cause });
				const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | (ownerOf === undefined ? 0 : O_EXCL);
				const handle = await open(folder.at(path.basename(file)), flags, mode & 0o600).catch((cause) => {
					const what = inTheWay.get(cause.code);
					throw what === undefined ? cause : denial(what, cause);
				});
				try {
					if (!(await handle.stat()).isFile()) throw denial('is no file');
					await handle.truncate();
					await handle.writeFile(text);
					if (ownerOf !== undefined) await handle.chown(0, (await ownerOf()).gid);
					await handle.chmod(mode);
				} finally {
					await handle.close();
				}
			} finally {
				await folder.handle.close();
			}
		},
	};
}

/** Removes a file, if it is there, over no link but root's. */
export function removeStep(file: string): Step {
	return {
		description: `remove ${file}`,
		async run() {
			const holding = holdFolder(path.dirname(file), { remedy: 'remove the file itself' });
			const folder = await undefinedIf(holding, 'notFound');
			if (folder === undefined) return;
			try {
				await unlink(folder.at(path.basename(file)));
			} catch (error) {
				if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
			} finally {
				await folder.handle.close();
			}
		},
	};
}

/**
 * Creates a folder for its owner. An existing one must be the owner's, or empty and root's: only an administrator changes its contents.
 */
export function folderStep(folder: string, ownerOf: OwnerOf): Step {
	return {
		description: `make ${folder} for the service's user`,
		async run() {
			const held = await holdFolder(folder, { mode: 0o750 });
			try {
				const [owner, present] = [await ownerOf(), await held.handle.stat()];
				if (present.uid === owner.uid) return;
				if (present.uid !== 0 || (await readdir(held.at('.'))).length > 0) {
					throw new Failure(
						'conflict',
						`${folder} does not belong to the service's user: install again once you have given it to that user: ${shellCommand`chown -R ${`${owner.uid}:${owner.gid}`} ${folder}`}`,
					);
				}
				await held.handle.chown(owner.uid, owner.gid);
			} finally {
				await held.handle.close();
			}
		},
	};
}

export function commandStep(command: string, ...args: string[]): Step {
	return { description: [command, ...args].join(' '), run: () => runCommand(command, args) };
}

interface TimeLimit {
	ms: number;
	/** What the message says of a command that has not ended by then. */
	isLate: string;
}

/** A command for whose end is not waited longer. */
export function limitedStep(limit: TimeLimit, command: string, ...args: string[]): Step {
	return { description: [command, ...args].join(' '), run: () => runCommand(command, args, limit) };
}

async function runCommand(command: string, args: readonly string[], limit?: TimeLimit): Promise<void> {
	try {
		await promisify(execFile)(command, args, { timeout: limit?.ms ?? 0 });
	} catch (cause) {
		if (limit !== undefined && (cause as { killed?: boolean }).killed === true)
			throw new Failure('unavailable', limit.isLate, { cause });
		const { stderr = '', code } = cause as { stderr?: string; code?: string | number };
		const reason = code === 'ENOENT' ? 'it is not installed' : stderr.trim() || `exit code ${code}`;
		throw new Failure('unavailable', `${[command, ...args].join(' ')} failed: ${reason}`, { cause });
	}
}
