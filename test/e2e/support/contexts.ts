import type { ExecutionContext } from 'ava';
import type { BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { launchBrowser, preparePage } from './browser.js';
import { forgetNotices } from './notices.js';
import { timeoutMs } from './timeouts.js';

/** A context with a page of its own, by which what is stored is cleared. */
interface Kept {
	context: BrowserContext;
	own: Page;
	storage: CDPSession;
	isChanged: boolean;
	/** The first page that a test opens which keeps it. */
	page?: KeptPage | undefined;
	/** The test that uses the context has opened that page. */
	isOpened: boolean;
	keepsPage: boolean;
}

interface KeptPage {
	page: Page;
	history: CDPSession;
	isChanged: boolean;
	/** Takes off the listeners of a test. */
	forget(): void;
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

/** Calls after which a page is as it was made once it has left its document, with `leave`. */
const harmlessInPage = new Set([
	...['goto', 'reload', 'goBack', 'goForward', 'evaluate', 'evaluateHandle', 'close', 'isClosed', 'bringToFront'],
	...['waitForEvent', 'waitForFunction', 'waitForLoadState', 'waitForRequest', 'waitForResponse', 'waitForURL'],
	...['locator', 'getByAltText', 'getByLabel', 'getByPlaceholder', 'getByRole', 'getByText', 'getByTitle'],
	...['frame', 'frameLocator', 'frames', 'mainFrame', 'workers', 'context', 'title', 'url', 'viewportSize', 'content'],
	...['setDefaultTimeout', 'setDefaultNavigationTimeout', 'screenshot', 'route', 'unroute', 'unrouteAll'],
	...['on', 'once', 'off', 'addListener', 'removeListener', 'constructor', 'emit', 'listenerCount', 'listeners'],
]);

/**
 * A context with nothing stored, for pages of one origin. It is used again by later tests, unless a test failed or
 * changed more of it than its pages: a page in a new one would read and compile all its files again, which takes as
 * long as a short test. So is the first page of tests with `keepsPage`, whose process has them in memory: a page that is
 * opened costs twice as much as one that goes on from another document of its origin.
 */
export async function keptContext(
	t: ExecutionContext,
	origin: string,
	options: BrowserContextOptions,
	keepsPage: boolean,
): Promise<BrowserContext> {
	const key = JSON.stringify([origin, options]);
	const kept = unused.get(key)?.pop() ?? (await makeContext(options));
	const { context, own, storage } = kept;
	context.setDefaultTimeout(timeoutMs);
	kept.keepsPage = keepsPage;
	t.teardown(async () => {
		if (kept.isChanged || !t.passed) return context.close();
		await leave(kept, origin);
		for (const page of context.pages()) if (page !== own && page !== kept.page?.page) await page.close();
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
	const own = await context.newPage();
	const kept: Kept = {
		context,
		own,
		storage: await context.newCDPSession(own),
		isChanged: false,
		isOpened: false,
		keepsPage: false,
	};
	const { newPage, newCDPSession } = context;
	context.newPage = async () => {
		if (kept.isOpened || !kept.keepsPage) return newPage.call(context);
		kept.isOpened = true;
		kept.page ??= await keepPage(await newPage.call(context));
		return kept.page.page;
	};
	context.newCDPSession = async (page) => {
		if (kept.page?.page === page) kept.page.isChanged = true;
		return newCDPSession.call(context, page);
	};
	for (const target of [context, context.clock]) {
		watchCalls(target, harmless, () => {
			kept.isChanged = true;
		});
	}
	return kept;
}

async function keepPage(page: Page): Promise<KeptPage> {
	await preparePage(page);
	const added: [event: 'close', listener: () => void][] = [];
	const kept: KeptPage = {
		page,
		history: await page.context().newCDPSession(page),
		isChanged: false,
		forget() {
			for (const [event, listener] of added.splice(0)) page.off(event, listener);
		},
	};
	for (const name of ['on', 'addListener'] as const) {
		const add = page[name].bind(page);
		// One of its many events, which differ in their types only.
		const record = (event: 'close', listener: () => void) => {
			added.push([event, listener]);
			return add(event, listener);
		};
		Object.assign(page, { [name]: record });
	}
	for (const target of [page, page.clock]) {
		watchCalls(target, harmlessInPage, () => {
			kept.isChanged = true;
		});
	}
	return kept;
}

/** Leads the page of a test to where it is as it was made, or gives it up. */
async function leave(kept: Kept, origin: string): Promise<void> {
	if (!kept.isOpened) return;
	kept.isOpened = false;
	if (kept.page === undefined) return;
	const { page, history, isChanged, forget } = kept.page;
	if (isChanged || page.isClosed() || isTrustworthy(origin)) {
		kept.page = undefined;
		return;
	}
	forget();
	await page.unrouteAll({ behavior: 'ignoreErrors' });
	// A document of the same origin, or the next page would get another process.
	await page.goto(`${origin}/api/health`);
	await page.evaluate(() => {
		sessionStorage.clear();
		window.name = '';
	});
	forgetNotices(page);
	await history.send('Page.resetNavigationHistory');
	await page.mouse.move(-1, -1);
}

/** Its pages are alone in their processes. The server's other answers are not, and cannot be between them. */
function isTrustworthy(origin: string): boolean {
	return /^https:|\/\/(localhost|127\.)/.test(origin);
}

/** Calls `onChange` before each call of a method that is not harmless. */
function watchCalls(target: object, harmless: ReadonlySet<string>, onChange: () => void): void {
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
