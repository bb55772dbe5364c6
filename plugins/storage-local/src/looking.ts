import { atOnce } from './atOnce.js';
import type { LookPace } from './LookPace.js';

/** Milliseconds after which a look at one entry has waited for a disk. */
const slowLookMs = 1;

/** Looks under way at once where each may have to wait. */
const looksAtOnce = 16;

/** Two ways to look at an entry. */
export interface Looks {
	/** On this thread; left out where that can't be done without waiting. */
	now: ((name: string) => void) | undefined;
	inBackground(name: string): Promise<void>;
}

/**
 * What the kernel has in memory is told in a microsecond or two, a tenth of what it takes to ask from another thread; so
 * entries are looked at right here, until one had to wait for the disk. A number of those behind it are then asked for in the
 * background, several at once, so that no request waits behind a slow disk.
 */
export async function lookAtAll(names: readonly string[], looks: Looks, pace: LookPace): Promise<void> {
	for (let next = 0; next < names.length; ) {
		let inBackground = names.length;
		if (looks.now !== undefined) {
			const first = next;
			for (let last = performance.now(); next < names.length; ) {
				looks.now(names[next++] as string);
				const now = performance.now();
				if (now - last > slowLookMs) break;
				last = now;
			}
			if (next === names.length) break;
			inBackground = pace.afterSlowLook(next - first);
		}
		const behind = names.slice(next, next + inBackground);
		await atOnce(looksAtOnce, behind, looks.inBackground);
		next += behind.length;
	}
}
