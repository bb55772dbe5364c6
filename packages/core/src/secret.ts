import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from './config/load.js';

/**
 * The key that seals cookies, at least 32 characters. Made at the first start and kept in the data folder for its owner alone; two servers that start at
 * once end with the same one.
 */
export async function readOrMakeSecret(dataDir: string): Promise<string> {
	const file = path.join(dataDir, 'session.key');
	await mkdir(dataDir, { recursive: true, mode: 0o750 });
	try {
		await makeSecret(file);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
	}
	const { mode } = await stat(file);
	if ((mode & 0o077) !== 0)
		throw new ConfigError(`The key ${file} can be read by others (mode ${(mode & 0o777).toString(8)}): set it to 600.`);
	const secret = (await readFile(file, 'utf8')).trim();
	if (secret.length < 32)
		throw new ConfigError(`The key ${file} is too short: remove it to have a new one made (everybody signs in again).`);
	return secret;
}

async function makeSecret(file: string): Promise<void> {
	if (await exists(file)) return;
	const temporary = `${file}.${randomBytes(6).toString('hex')}`;
	const handle = await open(temporary, 'wx', 0o600);
	try {
		await handle.writeFile(`${randomBytes(48).toString('base64url')}\n`);
		await handle.sync();
	} finally {
		await handle.close();
	}
	try {
		// A link, since a rename would replace the key that another server has just begun to use.
		await link(temporary, file);
	} finally {
		await unlink(temporary);
	}
}

async function exists(file: string): Promise<boolean> {
	try {
		await stat(file);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
		throw error;
	}
}
