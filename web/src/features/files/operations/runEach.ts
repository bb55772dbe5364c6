import { isFailure } from '@stowage/rules';

export interface Outcome<T> {
	done: T[];
	failed: T[];
	/** Why the first one failed. */
	reason: unknown;
	/** Whether it was aborted before the last. */
	isCancelled: boolean;
}

export interface RunEachOptions {
	signal: AbortSignal;
	/** How many have ended, successfully or not. */
	onProgress: (ended: number) => void;
}

/** Calls `work` for one item after another. A failed one does not stop the others, a lost session does. */
export async function runEach<T>(
	items: readonly T[],
	work: (item: T, signal: AbortSignal) => Promise<unknown>,
	{ signal, onProgress }: RunEachOptions,
): Promise<Outcome<T>> {
	const outcome: Outcome<T> = { done: [], failed: [], reason: undefined, isCancelled: false };
	for (const [index, item] of items.entries()) {
		if (signal.aborted) break;
		try {
			await work(item, signal);
			outcome.done.push(item);
		} catch (error) {
			if (signal.aborted) break;
			outcome.reason ??= error;
			if (isFailure(error, 'notSignedIn')) {
				outcome.failed.push(...items.slice(index));
				break;
			}
			outcome.failed.push(item);
		}
		onProgress(index + 1);
	}
	return { ...outcome, isCancelled: signal.aborted };
}

/** Reasons that a notice has room for. */
const maxReasons = 3;

/** The first of the reasons, a line for each, and how many more there are. */
export function reasonLines(reasons: readonly string[]): string {
	const more = reasons.length - maxReasons;
	return [...reasons.slice(0, maxReasons), ...(more > 0 ? [`…and ${more} more`] : [])].join('\n');
}

/** The second line of a notice: the server's sentence. */
export function reasonOf(error: unknown): string | undefined {
	return error instanceof Error ? error.message : undefined;
}
