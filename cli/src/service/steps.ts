import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdir, open, readdir, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '@stowage/rules';
import { assertLinksOfRoot } from '../privileges/ownerOf.js';

/** Root changes what it has opened, over no link, and never what a name leads to a moment later. */
const { O_CREAT, O_DIRECTORY, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** A step of an installation. `says` is its text in a dry run. */
export interface Step {
	description: string;
	run(): Promise<void>;
}

/** The owner of created files; resolved when it is needed, since an earlier step creates the user. */
export type OwnerOf = () => Promise<{ uid: number; gid: number }>;

/** Writes a file of root's that the owner's group, if there is one, may read. */
export function writeStep(file: string, text: string, mode: number, ownerOf?: OwnerOf): Step {
	return {
		description: `write ${file}`,
		async run() {
			await mkdir(path.dirname(file), { recursive: true });
			const handle = await open(file, O_WRONLY | O_CREAT | O_NOFOLLOW, mode & 0o600).catch((cause) => {
				if (cause.code !== 'ELOOP') throw cause;
				throw new Failure('conflict', `${file} is a link: remove it and install again.`, { cause });
			});
			try {
				await handle.truncate();
				await handle.writeFile(text);
				if (ownerOf !== undefined) await handle.chown(0, (await ownerOf()).gid);
				await handle.chmod(mode);
			} finally {
				await handle.close();
			}
		},
	};
}

export function removeStep(file: string): Step {
	return { description: `remove ${file}`, run: () => rm(file, { force: true }) };
}

/**
 * Creates a folder for its owner. An existing one must be the owner's, or empty and root's: only an administrator changes its contents.
 */
export function folderStep(folder: string, ownerOf: OwnerOf): Step {
	return {
		description: `make ${folder} for the service's user`,
		async run() {
			// Links of root are followed, and those of anybody else refused.
			await assertLinksOfRoot(folder);
			await mkdir(folder, { recursive: true, mode: 0o750 });
			const handle = await open(await realpath(folder), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
			try {
				const [owner, present] = [await ownerOf(), await handle.stat()];
				if (present.uid === owner.uid) return;
				if (present.uid !== 0 || (await readdir(folder)).length > 0) {
					throw new Failure(
						'conflict',
						`${folder} does not belong to the service's user: give it to the user by 'chown -R ${owner.uid}:${owner.gid} ${folder}' and install again.`,
					);
				}
				await handle.chown(owner.uid, owner.gid);
			} finally {
				await handle.close();
			}
		},
	};
}

export function commandStep(command: string, ...args: string[]): Step {
	return { description: [command, ...args].join(' '), run: () => runCommand(command, args) };
}

async function runCommand(command: string, args: readonly string[]): Promise<void> {
	try {
		await promisify(execFile)(command, args);
	} catch (cause) {
		const { stderr = '', code } = cause as { stderr?: string; code?: string | number };
		const reason = code === 'ENOENT' ? 'it is not installed' : stderr.trim() || `exit code ${code}`;
		throw new Failure('unavailable', `${[command, ...args].join(' ')} failed: ${reason}`, { cause });
	}
}
