import type { SystemCalls } from '../src/system/systemCalls.js';

/** The same calls as with a cold cache of the kernel, so that all of them run asynchronously. */
export function coldCalls(calls: SystemCalls): SystemCalls {
	return {
		...calls,
		openCached: () => undefined,
		openRootCached: () => undefined,
		readCached: () => 0,
		statCached: () => undefined,
		statSync: undefined,
		mayReadSync: undefined,
		entrySync: undefined,
	};
}
