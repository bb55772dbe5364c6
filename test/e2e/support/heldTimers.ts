import type { BrowserContext, Page } from 'playwright-core';

/**
 * Holds the timers of exactly this duration on a context's pages until `releaseTimers`, so that temporary messages
 * stay until a test has checked them.
 */
export async function holdTimers(context: BrowserContext, milliseconds: number): Promise<void> {
	await context.addInitScript((held) => {
		const { setTimeout: start, clearTimeout: stop } = window;
		const timers = new Map<number, () => void>();
		let last = 0;
		Object.assign(window, {
			heldTimers: timers,
			setTimeout(action: (...given: unknown[]) => void, after?: number, ...given: unknown[]) {
				if (after !== held) return start(action, after, ...given);
				timers.set(--last, () => action(...given));
				return last;
			},
			clearTimeout(timer?: number) {
				if (timer === undefined || !timers.delete(timer)) stop(timer);
			},
		});
	}, milliseconds);
}

/** Waits for a held timer of a page and fires all that are held. */
export async function releaseTimers(page: Page): Promise<void> {
	await page.waitForFunction(() => {
		const { heldTimers } = window as unknown as { heldTimers: Map<number, () => void> };
		const due = [...heldTimers];
		for (const [timer, run] of due) {
			heldTimers.delete(timer);
			run();
		}
		return due.length > 0;
	});
}

/** Waits until none of a page's timers is held. */
export async function noHeldTimers(page: Page): Promise<void> {
	await page.waitForFunction(
		() => (window as unknown as { heldTimers: Map<number, () => void> }).heldTimers.size === 0,
	);
}
