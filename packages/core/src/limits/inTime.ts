import type { Failure } from '@stowage/rules';

/** Of which the time is made up, each with a timer of its own. */
const slices = 10;

/**
 * Resolves as the work does. Throws `late` where it takes longer: the work goes on then, and nobody waits for it. Time during which this
 * process does not run, or is busy, counts as a tenth of `ms` at most: what has been answered meanwhile is not late.
 */
export async function inTime<T>(work: Promise<T>, ms: number, late: Failure): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const isLate = new Promise<never>((_resolve, reject) => {
		const wait = (left: number) => {
			timer = setTimeout(() => (left > 1 ? wait(left - 1) : reject(late)), ms / slices);
		};
		wait(slices);
	});
	try {
		return await Promise.race([work, isLate]);
	} finally {
		clearTimeout(timer);
		// It may fail after its time, when nobody waits any more.
		work.catch(() => undefined);
	}
}
