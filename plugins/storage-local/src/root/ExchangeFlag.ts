import * as fs from 'node:fs';
import { closeSync, open, unlink } from '../system/descriptors.js';
import { deviceOf, type Folder } from '../system/openFolder.js';
import type { SystemCalls } from '../system/systemCalls.js';
import { isSystemError } from '../system/systemErrors.js';
import { randomName, replacingPrefix } from './privateFolder.js';

/** The errors of a file system or kernel that can't exchange names. */
const unsupportedCodes = ['ENOSYS', 'EINVAL', 'EOPNOTSUPP', 'EPERM'];

/**
 * Determines whether files can be replaced: their file system must exchange names, and have locks, which distinguish work in progress
 * from the remains of a crash. It is tested with two files of our own.
 */
export class ExchangeFlag {
	#found: boolean | undefined;

	/** `scratch` opens a folder that is not listed. */
	constructor(
		readonly calls: SystemCalls,
		readonly scratch: () => Folder | Promise<Folder>,
	) {}

	/** Whether a file in this folder can be replaced by one of the scratch folder. */
	async isSupportedAt(folder: Folder): Promise<boolean> {
		using scratch = await this.scratch();
		if (deviceOf(this.calls, scratch) !== deviceOf(this.calls, folder)) return false;
		this.#found ??= await canExchange(this.calls, scratch);
		return this.#found;
	}

	/** Forgets the results: another disk may be mounted now. */
	forget(): void {
		this.#found = undefined;
	}
}

async function canExchange({ exchange, tryLock }: SystemCalls, folder: Folder): Promise<boolean> {
	if (exchange === undefined || tryLock === undefined) return false;
	const names = [replacingPrefix + randomName(), replacingPrefix + randomName()] as const;
	const opened = await Promise.all(names.map((name) => makeScratch(folder, name)));
	try {
		if (!opened.every((fd) => tryLock(fd) === true)) return false;
		await exchange(folder, names[0], folder, names[1]);
		return true;
	} catch (error) {
		if (!isSystemError(error, ...unsupportedCodes)) throw error;
		return false;
	} finally {
		// The rest is swept once it is old.
		for (const name of names) await unlink(folder.at(name)).catch(() => {});
		for (const fd of opened) closeSync(fd);
	}
}

function makeScratch(folder: Folder, name: string): Promise<number> {
	const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
	return open(folder.at(name), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
}
