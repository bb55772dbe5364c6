import { Failure } from '@stowage/rules';

export interface SemaphoreLimits {
	/** How many may run at once. */
	running: number;
	/** The most calls that may wait. */
	waiting: number;
}

/** Admits work in the order of the calls. */
export interface Semaphore {
	/** Runs the work when a place is free and resolves to its result. Throws `unavailable` at once if too many wait already. */
	run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSemaphore(limits: SemaphoreLimits): Semaphore {
	const queue: (() => void)[] = [];
	let running = 0;

	async function enter(): Promise<void> {
		if (running < limits.running) {
			running++;
			return;
		}
		if (queue.length >= limits.waiting) {
			throw new Failure('unavailable', 'Too many people are signing in right now. Please try again in a moment.', {
				retryAfter: 2,
			});
		}
		// A finished call hands over its place, so `running` stays the same and no new call gets ahead.
		await new Promise<void>((resolve) => queue.push(resolve));
	}

	function leave(): void {
		const next = queue.shift();
		if (next === undefined) running--;
		else next();
	}

	return {
		async run(work) {
			await enter();
			try {
				return await work();
			} finally {
				leave();
			}
		},
	};
}
