import { rm } from 'node:fs/promises';
import { publishFile } from './publishFile.js';

/** A process that root's command leaves behind when it gives up its rights: it names the file that the command has written, or removes it when the command has ended. */
const [, , temporary = '', file = ''] = process.argv;

// Of a terminal they reach the command too, and its end is what counts.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('message', () => {
	publishFile(temporary, file).then(
		() => process.send?.(null),
		({ code = 'unknown' }: NodeJS.ErrnoException) => process.send?.(code),
	);
});
process.once('disconnect', () => void rm(temporary, { force: true }));
