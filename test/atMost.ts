import test from 'ava';

/**
 * Bounds the number of tests of this process that run at once. Those of many files that share it would otherwise all begin
 * together, and each would get little processor time.
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
		// The slot is passed on to the next test.
		if (next === undefined) running--;
		else next();
	});
}
