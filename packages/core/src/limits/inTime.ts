import type { Failure } from '@stowage/rules';

/** Resolves as the work does. Throws `late` where it takes longer: the work goes on then, and nobody waits for it. */
export async function inTime<T>(work: Promise<T>, ms: number, late: Failure): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const isLate = new Promise<never>((_resolve, reject) => {
		timer = setTimeout(() => reject(late), ms);
	});
	try {
		return await Promise.race([work, isLate]);
	} finally {
		clearTimeout(timer);
		// It may fail after its time, when nobody waits any more.
		work.catch(() => undefined);
	}
}
