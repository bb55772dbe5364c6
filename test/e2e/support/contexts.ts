import type { ExecutionContext } from 'ava';
import type { BrowserContext, BrowserContextOptions, CDPSession } from 'playwright-core';
import { launchBrowser } from './browser.js';
import { timeoutMs } from './timeouts.js';

/** A context with a page of its own, by which what is stored is cleared. */
interface Kept {
	context: BrowserContext;
	storage: CDPSession;
	isChanged: boolean;
}

/** Those that no test uses, by origin and options. */
const unused = new Map<string, Kept[]>();

/** Calls after which a context is still as it was made, but for its pages and what they store. */
const harmless = new Set([
	...['addCookies', 'clearCookies', 'cookies', 'newPage', 'pages', 'newCDPSession', 'browser', 'close', 'isClosed'],
	...['setDefaultTimeout', 'setDefaultNavigationTimeout', 'waitForEvent'],
	// Playwright's own, for each page.
	...['constructor', 'emit', 'listenerCount', 'listeners', 'off', 'removeListener', 'addListener'],
]);

/**
 * A context with nothing stored, for pages of one origin. It is used again by later tests, unless a test failed or
 * changed more of it than its pages: a page in a new one would read and compile all its files again, which takes as
 * long as a short test.
 */
export async function keptContext(
	t: ExecutionContext,
	origin: string,
	options: BrowserContextOptions,
): Promise<BrowserContext> {
	const key = JSON.stringify([origin, options]);
	const kept = unused.get(key)?.pop() ?? (await makeContext(options));
	const { context, storage } = kept;
	context.setDefaultTimeout(timeoutMs);
	const [own] = context.pages();
	t.teardown(async () => {
		if (kept.isChanged || !t.passed) return context.close();
		for (const page of context.pages()) if (page !== own) await page.close();
		await context.clearCookies();
		await storage.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
		unused.set(key, [...(unused.get(key) ?? []), kept]);
	});
	return context;
}

/** A context with nothing stored, which ends with the test. */
export async function newContext(t: ExecutionContext, options: BrowserContextOptions): Promise<BrowserContext> {
	const context = await (await launchBrowser()).newContext(options);
	context.setDefaultTimeout(timeoutMs);
	t.teardown(() => context.close());
	return context;
}

async function makeContext(options: BrowserContextOptions): Promise<Kept> {
	const context = await (await launchBrowser()).newContext(options);
	const storage = await context.newCDPSession(await context.newPage());
	const kept: Kept = { context, storage, isChanged: false };
	for (const target of [context, context.clock]) {
		watchCalls(target, () => {
			kept.isChanged = true;
		});
	}
	return kept;
}

/** Calls `onChange` before each call of a method that is not harmless. */
function watchCalls(target: object, onChange: () => void): void {
	for (let type = Object.getPrototypeOf(target); type !== Object.prototype; type = Object.getPrototypeOf(type)) {
		for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(type))) {
			if (typeof value !== 'function' || name.startsWith('_') || harmless.has(name) || Object.hasOwn(target, name))
				continue;
			Object.defineProperty(target, name, {
				value(...args: unknown[]) {
					onChange();
					return value.apply(target, args);
				},
			});
		}
	}
}
