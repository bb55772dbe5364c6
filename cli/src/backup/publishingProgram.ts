import { rm } from 'node:fs/promises';
import { publishFile } from './publishFile.js';
import { removeOldest } from './rotation.js';

/**
 * A process that root's command leaves behind when it gives up its rights: it names the file that the command has written, or removes it
 * when the command has ended.
 */
const [, , temporary = '', file = ''] = process.argv;

/** What the command asks for. */
export type Order = 'publish' | { keep: number };

/** The code of the system's error, or the names of removed backups. */
export type Answer = { code: string } | { removed: string[] };

// Of a terminal they reach the command too, and its end is what counts.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('message', (order: Order) => {
	perform(order).then(
		(removed) => answer({ removed }),
		({ code = 'unknown' }: NodeJS.ErrnoException) => answer({ code }),
	);
});
process.once('disconnect', removeUnpublished);
// The command may have ended while this module was loaded.
if (!process.connected) removeUnpublished();

function removeUnpublished(): void {
	void rm(temporary, { force: true });
}

async function perform(order: Order): Promise<string[]> {
	if (order !== 'publish') return removeOldest(file, order.keep);
	await publishFile(temporary, file);
	return [];
}

function answer(answered: Answer): void {
	process.send?.(answered);
}
