import type { SystemCalls } from '../src/systemCalls.js';

/** The same calls where the kernel has nothing in memory, so that all is asked for in the background. */
export function coldCalls(calls: SystemCalls): SystemCalls {
	return {
		...calls,
		openCached: () => undefined,
		openRootCached: () => undefined,
		readCached: () => 0,
		factsCached: () => undefined,
		factsNow: undefined,
		mayReadNow: undefined,
		entryNow: undefined,
	};
}
