import { loadSystemCalls } from '../src/system/loadSystemCalls.js';
import type { SystemCalls } from '../src/system/systemCalls.js';

/** The best calls of this machine, but the process is killed when the second batch of a large folder is read. */
export async function killingCalls(): Promise<SystemCalls> {
	const calls = await loadSystemCalls();
	return {
		...calls,
		async *readNames(folder) {
			let batches = 0;
			for await (const batch of calls.readNames(folder)) {
				if (++batches === 2) process.kill(process.pid, 'SIGKILL');
				yield batch;
			}
		},
	};
}
