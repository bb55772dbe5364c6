import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { shellCommand, shellWord, withoutDatabaseUrls } from '@stowage/core';
import { hasDroppedRoot } from '../privileges/becomeOwner.js';

export interface Finding {
	state: 'ok' | 'warn' | 'error';
	/** The subject of the check. */
	what: string;
	message: string;
	/** How to correct it. */
	remedy?: string;
}

export const ok = (what: string, message: string): Finding => ({ state: 'ok', what, message });
export const warn = (what: string, message: string, remedy: string): Finding => ({
	state: 'warn',
	what,
	message,
	remedy,
});
export const fault = (what: string, message: string, remedy: string): Finding => ({
	state: 'error',
	what,
	message,
	remedy,
});

/** What an error says to the administrator, all of it on one line: of a program that failed the reason is on the last one. */
export function reasonOf(error: unknown): string {
	const message = error instanceof Error ? error.message : String(error);
	const lines = withoutDatabaseUrls(message).split('\n');
	return lines
		.map((line) => line.trim())
		.filter((line) => line !== '')
		.join(' ');
}

/** The command that changes the mode of these places. */
export function chmodCommand(mode: string, ...places: string[]): string {
	return asDataOwner(['chmod', mode, ...places.map((place) => shellWord(place))].join(' '));
}

/**
 * The command as it is given where this was root's. Root gives it as the owner of the data folder, who may have a link there, or on the
 * way, to a file of root's.
 */
export function asDataOwner(command: string): string {
	return hasDroppedRoot() ? asThisUser(command) : command;
}

/**
 * The command as root gives it in the name of this user. Where there is no sudo, as in a container, or this user is a number without a
 * name, whom sudo refuses, it is the program that every Linux but the smallest has.
 */
export function asThisUser(command: string): string {
	const uid = String(process.geteuid?.());
	if (process.platform !== 'linux' || (isNamed() && isInstalled('sudo')))
		return shellCommand`sudo -u ${`#${uid}`} ` + command;
	const groups = process.getgroups?.().join(',') ?? '';
	const withGroups = groups === '' ? '--clear-groups' : shellCommand`--groups=${groups}`;
	return `${shellCommand`setpriv --reuid=${uid} --regid=${String(process.getegid?.())}`} ${withGroups} ${command}`;
}

/** Whether the user of this process has a name. */
function isNamed(): boolean {
	try {
		os.userInfo();
		return true;
	} catch {
		return false;
	}
}

const isInstalled = (program: string): boolean =>
	(process.env.PATH ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, program)));
