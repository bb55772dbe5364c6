import { isFailure } from '@stowage/rules';

/** Whether the database is away or full: for now nobody can write there, neither a run nor who would take its job. */
export function isForNow(error: unknown): boolean {
	return isFailure(error, 'unavailable') || isFailure(error, 'storageFull');
}

/** Attempts a write until the database can take it. Throws its error once `giveUp` has fired. */
export async function retryForNow(
	attempt: () => Promise<void>,
	giveUp: AbortSignal,
	rest: () => Promise<void>,
): Promise<void> {
	for (;;) {
		try {
			return await attempt();
		} catch (error) {
			if (!isForNow(error) || giveUp.aborted) throw error;
			await rest();
		}
	}
}
