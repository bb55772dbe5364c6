import { withoutDatabaseUrls } from '@stowage/core';
import { hasDroppedRoot } from '../privileges/becomeOwner.js';
import { shellWord } from '../terminal/shellWord.js';

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

/**
 * The command that changes the mode of these places. Root gives it as the owner of the data folder, who may have a link
 * there, to a file of root's: `chmod` follows it.
 */
export function chmodCommand(mode: string, ...places: string[]): string {
	const command = `chmod ${mode} ${places.map(shellWord).join(' ')}`;
	return hasDroppedRoot() ? `sudo -u '#${process.geteuid?.()}' ${command}` : command;
}
