import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { isDiskFault } from '@stowage/database';
import { makeFolders } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { ConfigError } from './load.js';

/**
 * Makes the data folder where it is missing. Throws ConfigError where that can't be, or where nothing can be written, and `unavailable`
 * where its disk fails.
 */
export async function makeDataDir(dataDir: string): Promise<void> {
	try {
		await makeFolders(dataDir, 0o750);
		await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
	} catch (cause) {
		throw dataDirFault(dataDir, cause as NodeJS.ErrnoException);
	}
}

/** What is thrown for a data folder that can't be used, by the system's error. */
export function dataDirFault(dataDir: string, cause: NodeJS.ErrnoException): Failure | ConfigError {
	const { code = 'unknown' } = cause;
	if (isDiskFault(cause)) {
		const message = `The data folder ${dataDir} can't be used (${code}): its disk is away or damaged.`;
		return new Failure('unavailable', message, { cause });
	}
	const other = code === 'EACCES' || code === 'EPERM' ? 'run this as the user to whom it belongs, or ' : '';
	return new ConfigError(
		`The data folder ${dataDir} can't be used (${code}): ${other}set dataDir to a folder of this program.`,
		{ cause },
	);
}

/** The index of names, which is a cache. */
export function searchFolder(dataDir: string): string {
	return path.join(dataDir, 'search');
}

/** The cache of pictures of files. */
export function thumbnailFolder(dataDir: string): string {
	return path.join(dataDir, 'thumbnails');
}

/** A file for each server over an SQLite database, while it runs. */
export function processesFolder(dataDir: string): string {
	return path.join(dataDir, 'processes');
}

/** What the plugin that converts videos notes there. */
export function conversionsFolder(dataDir: string): string {
	return path.join(dataDir, 'conversions');
}

/** A file for each of several servers while uploads are under way there. */
export function diskUseFolder(dataDir: string): string {
	return path.join(dataDir, 'disk-use');
}
