import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

export const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Bytes on the heap and in buffers that something refers to. Those of the process as a whole depend on when the
 * collector runs and on what the allocator gives back: on a busy machine they say little about the server.
 */
export function keptBytes(): number {
	collectGarbage();
	const { heapUsed, external } = process.memoryUsage();
	return heapUsed + external;
}

/** How many bytes more were kept at most while `work` was under way. */
export async function mostKept(work: () => Promise<unknown>): Promise<number> {
	const before = keptBytes();
	let most = 0;
	const sample = () => {
		most = Math.max(most, keptBytes() - before);
	};
	const timer = setInterval(sample, 100);
	try {
		await work();
		sample();
	} finally {
		clearInterval(timer);
	}
	return most;
}
