import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after this many milliseconds, or sooner if the signal fires. */
export async function waitOrAborted(ms: number, signal: AbortSignal): Promise<void> {
	try {
		await delay(ms, undefined, { signal });
	} catch (error) {
		if (!signal.aborted) throw error;
	}
}
