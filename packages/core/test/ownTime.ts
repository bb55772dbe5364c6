import { setTimeout as wait } from 'node:timers/promises';

const tickMs = 10;
let passed = 0;
setInterval(() => {
	passed += tickMs;
}, tickMs).unref();

/** Milliseconds that this process really had. While the machine has no time for it they stand still, so that a limit says something about us alone. */
export function ownTime(): number {
	return passed;
}

/** Waits for so many of them. */
export async function ownWait(ms: number): Promise<void> {
	for (const end = passed + ms; passed < end; ) await wait(tickMs);
}
