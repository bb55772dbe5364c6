import { withoutDatabaseUrls } from '@stowage/core';

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
