import { accessSync, constants } from 'node:fs';
import os from 'node:os';
import { ConfigError } from '@stowage/core';
import { ownProgram } from '../ownProgram.js';
import type { AccountIds } from './accounts.js';

const startedAsRoot = process.geteuid?.() === 0;

/** Gives up the rights of root for good, with its home folder. Throws ConfigError where the owner could not run the program. */
export function becomeOwner(owner: AccountIds): void {
	const { uid } = owner;
	becomeUser(owner, `The data folder is of user ${uid}, whom root becomes to work on it`);
	leaveEnvironmentOfRoot();
	try {
		accessSync(ownProgram, constants.R_OK);
	} catch (cause) {
		const message = `The data folder is of user ${uid}, whom root becomes to work on it, and who can't read the program ${ownProgram}.`;
		throw new ConfigError(`${message} Install it where all users can read it, such as below /opt.`, { cause });
	}
}

/** Gives up the rights of root for good. Throws ConfigError, which begins with `reason`, where the system refuses that. */
export function becomeUser({ uid, gid, groups }: AccountIds, reason: string): void {
	closeDebugger();
	try {
		// In this order: without root's rights neither groups nor group can be changed.
		process.setgroups?.(groups);
		process.setgid?.(gid);
		process.setuid?.(uid);
	} catch (cause) {
		// Without these rights it is EPERM; where a container has no such user or group, EINVAL.
		const { code } = cause as NodeJS.ErrnoException;
		const message = `${reason}, and this process can't become that user (${code}): run it as user ${uid}`;
		throw new ConfigError(`${message}, or with the capabilities CAP_SETUID and CAP_SETGID.`, { cause });
	}
}

/**
 * Keeps Node from opening a debugger at SIGUSR1. Called before the rights of root are given up: the new user may send
 * signals to this process, and by the debugger would have the terminal, the environment and the open files of root.
 */
export function closeDebugger(): void {
	process.on('SIGUSR1', () => undefined);
}

/** Whether this process has begun as root, and is another user by now. */
export function hasDroppedRoot(): boolean {
	return startedAsRoot && process.geteuid?.() !== 0;
}

/** Programs that are started would read the settings of root, and can't write there. */
function leaveEnvironmentOfRoot(): void {
	for (const name of Object.keys(process.env)) if (name.startsWith('XDG_')) delete process.env[name];
	for (const name of ['USER', 'LOGNAME', 'HOME']) delete process.env[name];
	try {
		const { username, homedir } = os.userInfo();
		Object.assign(process.env, { USER: username, LOGNAME: username, HOME: homedir });
	} catch {
		// A number without a name has no home.
		process.env.HOME = '/';
	}
	try {
		accessSync(os.tmpdir(), constants.W_OK | constants.X_OK);
	} catch {
		for (const name of ['TMPDIR', 'TMP', 'TEMP']) delete process.env[name];
	}
}
