import { setTimeout as wait } from 'node:timers/promises';

const tickMs = 10;
let passed = 0;
setInterval(() => {
	passed += tickMs;
}, tickMs).unref();

/**
 * Milliseconds for which this process was scheduled: the count stands still while the machine is busy with others, so
 * that a limit by it measures this process alone.
 */
export function scheduledTime(): number {
	return passed;
}

/** Waits for this many milliseconds of `scheduledTime`. */
export async function waitScheduled(ms: number): Promise<void> {
	for (const end = passed + ms; passed < end; ) await wait(tickMs);
}
