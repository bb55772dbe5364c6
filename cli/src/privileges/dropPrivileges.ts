import { ConfigError } from '@stowage/core';
import { becomeUser } from './becomeOwner.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Becomes the user of a container's `PUID` and `PGID`, with `UMASK`, before anything is opened: files of root could not be read later.
 * Throws ConfigError for an invalid id, and if this process can't become that user.
 */
export function dropPrivileges({ PUID, PGID, UMASK }: Environment): void {
	if (UMASK !== undefined && UMASK !== '') {
		if (!/^0?[0-7]{3}$/.test(UMASK))
			throw new ConfigError(`UMASK must be three octal digits such as 027, not ${UMASK}.`);
		process.umask(Number.parseInt(UMASK, 8));
	}
	const uid = idOf('PUID', PUID);
	const gid = idOf('PGID', PGID) ?? uid;
	if (uid === undefined) {
		if (gid !== undefined) throw new ConfigError('PGID needs PUID beside it.');
		return;
	}
	if (process.setuid === undefined || process.geteuid?.() === uid) return;
	if (process.geteuid?.() !== 0)
		throw new ConfigError(
			`Only root can become the user of PUID (${uid}): start the container as root, or without PUID.`,
		);
	const ids = { uid, gid: gid as number, groups: [gid as number] };
	becomeUser(ids, `PUID is ${uid}`);
}

function idOf(name: string, text: string | undefined): number | undefined {
	if (text === undefined || text === '') return undefined;
	if (!/^[1-9]\d{0,8}$/.test(text))
		throw new ConfigError(`${name} must be the number of a user or group and not 0, not ${text}.`);
	return Number(text);
}
