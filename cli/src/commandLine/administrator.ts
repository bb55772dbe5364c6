import { readFileSync } from 'node:fs';
import os from 'node:os';
import type { Administrator } from '@stowage/core';

/** The user id at the start of the process: later root's commands may become the owner of the data folder. */
const uid = process.getuid?.();
const ownName = nameOfThisUser();

/** Where the system says who has signed in, and what users are called. */
const systemFiles = { loginUid: '/proc/self/loginuid', users: '/etc/passwd' };

/**
 * Who runs this command, for the audit log: who has signed in to the machine, whatever sudo has made of them since, and the number of the
 * user that the command was started as.
 */
export function administrator(
	env: Readonly<Record<string, string | undefined>> = process.env,
	files = systemFiles,
): Administrator {
	const systemUser = loginName(files) ?? (env.SUDO_USER || ownName);
	return { systemUser, ...(uid === undefined ? {} : { uid }) };
}

/** The kernel keeps the number from the sign-in on; there is none in a container and for what the system starts. */
function loginName({ loginUid, users }: typeof systemFiles): string | undefined {
	const id = readIfAny(loginUid)?.trim();
	if (id === undefined || !/^\d{1,9}$/.test(id)) return undefined;
	const line = readIfAny(users)
		?.split('\n')
		.find((each) => each.split(':')[2] === id);
	return line?.split(':')[0] || id;
}

function readIfAny(file: string): string | undefined {
	try {
		return readFileSync(file, 'utf8');
	} catch {
		// Another system, or no such right: the next source is asked.
		return undefined;
	}
}

function nameOfThisUser(): string {
	try {
		return os.userInfo().username;
	} catch {
		// In a container the number may have no name.
		return String(uid ?? 'unknown');
	}
}
