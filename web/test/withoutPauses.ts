import { mock } from 'node:test';

/** Does what waits between its attempts without waiting. Other tests of the process must not run meanwhile. */
export async function withoutPauses<T>(work: () => Promise<T>): Promise<T> {
	mock.timers.enable({ apis: ['setTimeout'] });
	try {
		let hasEnded = false;
		const result = work().finally(() => {
			hasEnded = true;
		});
		while (!hasEnded) {
			await new Promise((resolve) => setImmediate(resolve));
			mock.timers.runAll();
		}
		return await result;
	} finally {
		mock.timers.reset();
	}
}
