import type { Log } from '../log.js';

/**
 * Waits until a change of a link is written. One that can't be written now, as on a full disk, is logged and does not fail the request.
 */
export async function recordIfPossible(log: Log, write: Promise<unknown>): Promise<void> {
	try {
		await write;
	} catch (error) {
		log.warn({ err: error }, 'a change of a link could not be saved');
	}
}
