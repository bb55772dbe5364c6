import type { Entry } from '@stowage/rules';
import { downloadMessages as messages } from './messages.js';

export type Chosen = readonly Pick<Entry, 'type' | 'size'>[];

/** A selection with a folder is downloaded as a ZIP. */
export function mustBeZip(entries: Chosen): boolean {
	return entries.some(({ type }) => type === 'directory');
}

/** Whether a ZIP is offered. */
export function mayBeZip(entries: Chosen): boolean {
	return entries.length > 1 || mustBeZip(entries);
}

/** The question before a download. */
export function downloadQuestion(entries: Chosen): string {
	if (entries.length > 1) return messages.filesQuestion(entries.length);
	return mustBeZip(entries) ? messages.folderQuestion : messages.fileQuestion;
}

/** The total size of the files; undefined if there is a folder, whose size is unknown. */
export function knownSize(entries: Chosen): number | undefined {
	return mustBeZip(entries) ? undefined : entries.reduce((sum, { size }) => sum + size, 0);
}
