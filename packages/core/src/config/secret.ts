import { createHmac, randomBytes } from 'node:crypto';
import * as files from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readRegularFile, type Stores, syncFolder, writeSynced } from '@stowage/plugin-api';
import type { Log } from '../log.js';
import { ConfigError } from './load.js';

/** The calls of the system in which file systems differ. */
type Calls = Pick<typeof files, 'link' | 'stat'>;

const shortest = 32;

/** What the system says of a link to no file: there is none, a loop of links, or a name that no file can have. */
const leadsNowhere = ['ENOENT', 'ELOOP', 'ENAMETOOLONG'] as const;

/** Far more than anybody writes by hand. */
const maxKeyBytes = 64 * 1024;

/**
 * The key that seals cookies, at least 32 characters. Made at the first start and kept in the data folder for its owner alone; two
 * servers that start at once end with the same one.
 */
export async function readOrMakeSecret(dataDir: string, log: Log, calls: Calls = files): Promise<string> {
	const file = path.join(dataDir, 'session.key');
	// Nothing is written where there is one, so a disk that is full or read-only is no reason to fail here.
	if (!(await isPrivate(file, calls))) await make(file, log, calls);
	return read(file);
}

/**
 * Throws ConfigError where another process over this database server has another key: each would take the sessions,
 * shares and events of the other for forged. A file is used by processes with one data folder, and so with one key.
 */
export async function assertSameSecret({ processes }: Pick<Stores, 'processes'>, secret: string): Promise<void> {
	if (processes === undefined) return;
	const own = fingerprintOf(secret);
	if ((await processes.agree(agreement, own)) === own) return;
	throw new ConfigError(
		'The setting sessionKey is another one than that of the servers that have used this database before: give all nodes the same key (sessionKey, or the file session.key of the data folder). To change it for all of them, stop them and run: stowage migrate --new-session-key',
	);
}

/** Makes this key the one of all servers over the database. */
export async function agreeOnSecret({ processes }: Pick<Stores, 'processes'>, secret: string): Promise<void> {
	await processes?.replaceAgreed(agreement, fingerprintOf(secret));
}

const agreement = 'sessionKey';

/** Says nothing about the key, which has too many values to be tried. */
function fingerprintOf(secret: string): string {
	return createHmac('sha256', secret).update('stowage session key').digest('base64url');
}

/** Whether there is a key that its owner alone may read. */
async function isPrivate(file: string, { stat }: Calls): Promise<boolean> {
	try {
		return ((await stat(file)).mode & 0o077) === 0;
	} catch (error) {
		// All such links are refused as one that leads nowhere.
		if (isSystemError(error, ...leadsNowhere)) return false;
		throw error;
	}
}

/** Makes the key where it is missing, and checks the one that is there otherwise. */
async function make(file: string, log: Log, calls: Calls): Promise<void> {
	const temporary = `${file}.${randomBytes(6).toString('hex')}`;
	try {
		await writeSynced(temporary, newKey(), 'wx');
		await publish(temporary, file, calls);
		await syncFolder(path.dirname(file));
		await assertPrivate(file, temporary, log, calls);
	} catch (cause) {
		if (!isSystemError(cause, 'ENOENT')) throw cause;
		throw new ConfigError(
			`No key could be made at ${file}: another program has taken away the folder, or what was written in it, meanwhile. Run this again.`,
			{ cause },
		);
	} finally {
		await files.rm(temporary, { force: true });
	}
}

const newKey = () => `${randomBytes(48).toString('base64url')}\n`;

/** Publishes the new key, unless there is a key already. */
async function publish(temporary: string, file: string, { link }: Calls): Promise<void> {
	try {
		// A link, since a rename would replace the key that another server has just begun to use.
		await link(temporary, file);
	} catch (error) {
		if (isSystemError(error, 'EEXIST')) return;
		if (!isSystemError(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL')) throw error;
		// A file system without hard links: the process that creates the file writes it, the others wait for it.
		await writeSynced(file, newKey(), 'wx').catch((cause: unknown) => {
			if (!isSystemError(cause, 'EEXIST')) throw cause;
		});
	}
}

/**
 * Throws ConfigError if the key is a link that leads to no file, and if others may read it, unless the file system
 * shows every file so, also one that was made for its owner alone.
 */
async function assertPrivate(file: string, probe: string, log: Log, { stat }: Calls): Promise<void> {
	const found = await stat(file).catch((cause: unknown) => {
		if (!isSystemError(cause, ...leadsNowhere)) throw cause;
		throw new ConfigError(
			`The key ${file} can't be used: it is a link that leads to no file. Bring that file back, or remove the link to have a new key made (everybody signs in again).`,
			{ cause },
		);
	});
	const { mode } = found;
	if ((mode & 0o077) === 0) return;
	const shown = (mode & 0o777).toString(8);
	if (((await stat(probe)).mode & 0o077) === 0) {
		// `chmod` would follow it, to a file that may be root's.
		if ((await files.lstat(file)).isSymbolicLink())
			throw new ConfigError(
				`The key ${file} is a link, and others can read what it leads to (mode ${shown}): see where it leads, and close that file if it is the key's, or remove the link.`,
			);
		throw new ConfigError(`The key ${file} can be read by others (mode ${shown}): set it to 600.`);
	}
	log.warn(
		{ file, mode: shown },
		'the file system of the key keeps no modes: make sure that nobody else can read the folder',
	);
}

/** The key as it lies in the file. Throws NoRegularFileError for what is none. */
export function readKey(file: string): Promise<Buffer> {
	// The administrator may keep it elsewhere.
	return readRegularFile(file, { maxBytes: maxKeyBytes, followsLink: true });
}

async function read(file: string): Promise<string> {
	let secret = '';
	// Without links another server may be writing it right now.
	for (let tries = 0; tries < 10; tries++) {
		secret = (await readKey(file).catch(refuse)).toString().trim();
		if (secret.length >= shortest) return secret;
		await wait(100);
	}
	throw new ConfigError(`The key ${file} is too short: remove it to have a new one made (everybody signs in again).`);

	function refuse(cause: unknown): never {
		if (!isSystemError(cause, 'EACCES', 'EPERM')) throw cause;
		const uid = process.geteuid?.() ?? 'unknown';
		throw new ConfigError(
			`The key ${file} can't be read by user ${uid}, as which this runs: run it as the owner of the key, or give the key to this one (chown -h).`,
			{ cause },
		);
	}
}

function isSystemError(error: unknown, ...codes: string[]): boolean {
	return codes.includes((error as NodeJS.ErrnoException).code ?? '');
}
