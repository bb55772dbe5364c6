import { withoutDatabaseUrls } from '@stowage/core';

export interface Finding {
	state: 'ok' | 'warn' | 'error';
	/** The subject of the check. */
	what: string;
	says: string;
	/** How to correct it. */
	mend?: string;
}

export const ok = (what: string, says: string): Finding => ({ state: 'ok', what, says });
export const warn = (what: string, says: string, mend: string): Finding => ({ state: 'warn', what, says, mend });
export const fault = (what: string, says: string, mend: string): Finding => ({ state: 'error', what, says, mend });

/** What an error says to the administrator, all of it on one line: of a program that failed the reason is on the last one. */
export function reasonOf(error: unknown): string {
	const message = error instanceof Error ? error.message : String(error);
	const lines = withoutDatabaseUrls(message).split('\n');
	return lines
		.map((line) => line.trim())
		.filter((line) => line !== '')
		.join(' ');
}
