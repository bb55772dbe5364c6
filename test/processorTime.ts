/** The processor time that this process takes for some work, in milliseconds; with what else it does meanwhile, where it is asynchronous. */
export async function processorMs(work: () => unknown): Promise<number> {
	const before = process.cpuUsage();
	const result = work();
	// Only where there is something to wait for: the other tests of a file would go on here.
	if (result instanceof Promise) await result;
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}

/**
 * The processor time that this process takes for some work, in milliseconds of a machine of usual speed: what is bounded is the work, and
 * not the machine that does it.
 */
export async function usualMs(work: () => unknown): Promise<number> {
	const ms = await processorMs(work);
	return ms / (await slowness());
}

/** How much slower this machine is now than one on which five million steps take 27 ms of the processor's time; 1 where it is faster. */
export async function slowness(): Promise<number> {
	let sum = 0;
	const ms = await processorMs(() => {
		for (let step = 0; step < 5e6; step++) sum = (sum * 31 + step) % 1_000_003;
	});
	return Math.max(1, ms / 27 + sum * 0);
}
