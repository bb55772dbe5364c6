import type { Log } from '../log.js';

/** Waits until something is written down of a link. What can't be written right now, as on a full disk, is warned of and keeps nobody from the answer. */
export async function recordIfPossible(log: Log, write: Promise<unknown>): Promise<void> {
	try {
		await write;
	} catch (error) {
		log.warn({ err: error }, 'a change of a link could not be saved');
	}
}
