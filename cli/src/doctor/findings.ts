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

/** The part of an error that is for the administrator. */
export function reasonOf(error: unknown): string {
	return withoutDatabaseUrls(error instanceof Error ? error.message : String(error));
}
