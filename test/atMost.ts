import test from 'ava';

/**
 * Lets so many tests of this process run at once. Those of many files that share it would otherwise all begin together, and each
 * would have little of the processor.
 */
export function atMost(count: number): void {
	let running = 0;
	const waiting: (() => void)[] = [];
	test.beforeEach(async () => {
		if (running < count) running++;
		else await new Promise<void>((resolve) => waiting.push(resolve));
	});
	test.afterEach.always(() => {
		const next = waiting.shift();
		// Whoever waited takes the place as it is.
		if (next === undefined) running--;
		else next();
	});
}
