import type { Entry } from '@stowage/rules';
import { downloadMessages as messages } from './messages.js';

export type Chosen = readonly Pick<Entry, 'type' | 'size'>[];

/** Folders come as a ZIP or not at all, and with them what was chosen beside them. */
export function mustBeZip(entries: Chosen): boolean {
	return entries.some(({ type }) => type === 'directory');
}

/** Whether a ZIP is offered. */
export function mayBeZip(entries: Chosen): boolean {
	return entries.length > 1 || mustBeZip(entries);
}

/** What is asked before a download. */
export function downloadQuestion(entries: Chosen): string {
	if (entries.length > 1) return messages.filesQuestion(entries.length);
	return mustBeZip(entries) ? messages.folderQuestion : messages.fileQuestion;
}

/** Bytes of all files; undefined where a folder is among them, since nobody has looked into it yet. */
export function knownSize(entries: Chosen): number | undefined {
	return mustBeZip(entries) ? undefined : entries.reduce((sum, { size }) => sum + size, 0);
}
