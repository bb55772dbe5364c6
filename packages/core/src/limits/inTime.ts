import type { Failure } from '@stowage/rules';

/** The longest of the slices that the time is made up of, each with a timer of its own, and how many there are at least. */
const sliceMs = 50;
const minSlices = 10;

/**
 * Resolves as the work does. Throws `late` where it takes longer: the work goes on then, and nobody waits for it. Time during which this
 * process does not run, or is busy, counts as `sliceMs` at most, however often: what has been answered meanwhile is not late, nor is
 * work in many steps, each of which has to wait until this process looks for its answer.
 */
export async function inTime<T>(work: Promise<T>, ms: number, late: Failure): Promise<T> {
	const slices = Math.max(minSlices, Math.ceil(ms / sliceMs));
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
