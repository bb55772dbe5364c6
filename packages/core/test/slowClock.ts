import { setImmediate } from 'node:timers/promises';

/**
 * How many turns others get while `work` runs, as on a machine so slow that the time of a slice is over whenever the clock is read. It
 * changes the clock of the whole process, so such tests are serial.
 */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
	let turns = 0;
	let isDone = false;
	const others = (async () => {
		while (!isDone) {
			await setImmediate();
			turns++;
		}
	})();
	const now = performance.now.bind(performance);
	let clock = now();
	performance.now = () => {
		clock += 6;
		return clock;
	};
	try {
		await work();
	} finally {
		performance.now = now;
		isDone = true;
	}
	await others;
	return turns;
}
