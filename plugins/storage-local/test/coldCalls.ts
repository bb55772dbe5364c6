import type { SystemCalls } from '../src/system/systemCalls.js';

/** The same calls where the kernel has nothing in memory, so that all is asked for in the background. */
export function coldCalls(calls: SystemCalls): SystemCalls {
	return {
		...calls,
		openCached: () => undefined,
		openRootCached: () => undefined,
		readCached: () => 0,
		statCached: () => undefined,
		statNow: undefined,
		mayReadNow: undefined,
		entryNow: undefined,
	};
}
