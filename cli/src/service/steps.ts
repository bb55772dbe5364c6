import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '@stowage/rules';

/** A step of an installation. `says` is its text in a dry run. */
export interface Step {
	says: string;
	run(): Promise<void>;
}

/** The owner of created files; resolved when it is needed, since an earlier step creates the user. */
export type OwnerOf = () => Promise<{ uid: number; gid: number }>;

/** Writes a file of root's that the owner's group, if there is one, may read. */
export function writeStep(file: string, text: string, mode: number, ownerOf?: OwnerOf): Step {
	return {
		says: `write ${file}`,
		async run() {
			await mkdir(path.dirname(file), { recursive: true });
			await writeFile(file, text, { mode: mode & 0o600 });
			if (ownerOf !== undefined) await chown(file, 0, (await ownerOf()).gid);
			await chmod(file, mode);
		},
	};
}

export function removeStep(file: string): Step {
	return { says: `remove ${file}`, run: () => rm(file, { force: true }) };
}

/** Creates a folder for its owner. An existing one must be the owner's, or empty and root's: only an administrator changes its contents. */
export function folderStep(folder: string, ownerOf: OwnerOf): Step {
	return {
		says: `make ${folder} for the service's user`,
		async run() {
			await mkdir(folder, { recursive: true, mode: 0o750 });
			const [owner, present] = [await ownerOf(), await stat(folder)];
			if (present.uid === owner.uid) return;
			if (present.uid !== 0 || (await readdir(folder)).length > 0) {
				throw new Failure(
					'conflict',
					`${folder} does not belong to the service's user: give it to the user by 'chown -R ${owner.uid}:${owner.gid} ${folder}' and install again.`,
				);
			}
			await chown(folder, owner.uid, owner.gid);
		},
	};
}

export function commandStep(command: string, ...args: string[]): Step {
	return { says: [command, ...args].join(' '), run: () => runCommand(command, args) };
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
