import * as fs from 'node:fs';
import { close, open, unlink } from '../system/descriptors.js';
import { deviceOf, type Folder } from '../system/openFolder.js';
import type { SystemCalls } from '../system/systemCalls.js';
import { ignoreMissing, isSystemError } from '../system/systemErrors.js';
import { randomName, scratchPrefix } from './privateFolder.js';

/** The errors of a file system or kernel that can't rename without replacing. */
const unsupportedCodes = ['ENOSYS', 'EINVAL', 'EOPNOTSUPP', 'EPERM'];

/** How often our own file may be swept before it was renamed. */
const maxTries = 10;

/**
 * Determines for each file system whether it can rename without replacing. It is tested with a file of our own: EINVAL is also the error
 * for a folder that shall go into itself, and EPERM for an immutable object.
 */
export class RenameFlag {
	readonly #found = new Map<bigint, boolean>();

	/** `scratch` opens a folder that is not listed. */
	constructor(
		readonly calls: SystemCalls,
		readonly scratch: () => Folder | Promise<Folder>,
	) {}

	/** Whether a rename into this folder was refused because the call is not supported there. */
	async isUnsupportedAt(folder: Folder, error: unknown): Promise<boolean> {
		if (!isSystemError(error, ...unsupportedCodes)) return false;
		const device = deviceOf(this.calls, folder);
		const known = this.#found.get(device) ?? (await this.#find(device, folder));
		this.#found.set(device, known);
		return !known;
	}

	/** Whether the file system of the root can. */
	async isSupported(): Promise<boolean> {
		using scratch = await this.scratch();
		const device = deviceOf(this.calls, scratch);
		const known = this.#found.get(device) ?? (await canRename(this.calls, scratch));
		this.#found.set(device, known);
		return known;
	}

	/** Forgets the results: another disk may be mounted now. */
	forget(): void {
		this.#found.clear();
	}

	async #find(device: bigint, folder: Folder): Promise<boolean> {
		using scratch = await this.scratch();
		// File systems mounted below the root can only be tested in their own folders.
		return await canRename(this.calls, deviceOf(this.calls, scratch) === device ? scratch : folder);
	}
}

async function canRename(calls: SystemCalls, folder: Folder): Promise<boolean> {
	const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
	for (let left = maxTries; ; left--) {
		const name = scratchPrefix + randomName();
		const newName = scratchPrefix + randomName();
		await close(await open(folder.at(name), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600));
		try {
			await calls.renameNoReplace(folder, name, folder, newName);
		} catch (error) {
			// It may have been renamed before the error. The rest is swept at the next start, as every scratch file.
			await unlink(folder.at(name)).catch(() => {});
			// A sweep of leftovers that runs meanwhile may have removed it.
			if (isSystemError(error, 'ENOENT') && left > 1) continue;
			if (!isSystemError(error, ...unsupportedCodes)) throw error;
			return false;
		}
		await unlink(folder.at(newName)).catch(ignoreMissing);
		return true;
	}
}
