import { setTimeout as wait } from 'node:timers/promises';
import { Failure, isFailure } from '@stowage/rules';
import type { Roots } from './Roots.js';

/** Milliseconds within which every process must have read a changed list of roots. */
const readWithinMs = 30_000;

/** How often it is looked whether they have. */
const readersMs = 200;

/**
 * Resolves when each process that serves has read the list of roots as it is. Where one has not within 30 s, the change
 * is undone; throws `unavailable` with the names of those.
 */
export async function waitForReaders(roots: Roots, undo: () => Promise<void>): Promise<void> {
	try {
		await waitUntilRead(roots);
	} catch (error) {
		const { message } = error as Error;
		try {
			await undo();
			await roots.reload();
		} catch (second) {
			throw new Failure('unavailable', `${message} It could not be undone: ${(second as Error).message}`, {
				cause: error,
			});
		}
		if (!isFailure(error)) throw error;
		throw new Failure(error.kind, `${message} Nothing was changed.`, { cause: error });
	}
}

async function waitUntilRead(roots: Roots): Promise<void> {
	const until = performance.now() + readWithinMs;
	for (let late = await roots.lateReaders(); late.length > 0; late = await roots.lateReaders()) {
		if (performance.now() >= until)
			throw new Failure(
				'unavailable',
				`${late.join(', ')} did not take note of the change within ${Math.round(readWithinMs / 1000)} s.`,
			);
		await wait(readersMs);
	}
}
