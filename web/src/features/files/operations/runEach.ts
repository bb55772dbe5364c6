import { isFailure } from '@stowage/rules';

export interface Outcome<T> {
	done: T[];
	failed: T[];
	/** Those that were not begun, since the work was cancelled. */
	left: T[];
	/** Why the first one failed. */
	reason: unknown;
}

export interface RunEachOptions {
	/** Aborted when no further item is to be begun. */
	signal: AbortSignal;
	/** How many have ended, successfully or not. */
	onProgress: (ended: number) => void;
}

/**
 * Calls `work` for one item after another. A failed one does not stop the others, a lost session does. Once the signal is aborted no
 * further one is begun; the one under way is waited for, since the server may complete it.
 */
export async function runEach<T>(
	items: readonly T[],
	work: (item: T) => Promise<unknown>,
	{ signal, onProgress }: RunEachOptions,
): Promise<Outcome<T>> {
	const outcome: Outcome<T> = { done: [], failed: [], left: [], reason: undefined };
	for (const [index, item] of items.entries()) {
		if (signal.aborted) return { ...outcome, left: items.slice(index) };
		try {
			await work(item);
			outcome.done.push(item);
		} catch (error) {
			outcome.reason ??= error;
			if (isFailure(error, 'notSignedIn')) {
				return { ...outcome, failed: [...outcome.failed, ...items.slice(index)] };
			}
			outcome.failed.push(item);
		}
		onProgress(index + 1);
	}
	return outcome;
}

/** The second line of a notice: the server's sentence. */
export function reasonOf(error: unknown): string | undefined {
	return error instanceof Error ? error.message : undefined;
}
