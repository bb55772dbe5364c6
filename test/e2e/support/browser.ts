import test from 'ava';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { isLong } from '../../long.js';
import { chromiumFlags } from './devtools.js';
import { recordNotices } from './notices.js';
import { timeoutMs } from './timeouts.js';

type Teardown = { teardown(end: () => Promise<void>): void };

export const flags = [
	...chromiumFlags,
	// The headless shell alone would give the viewers' frame no process of its own.
	'--site-per-process',
	// Keys and wheels scroll at once, as with reduced motion. An animation would still run when a test measures, and a
	// click on its element would end it half-way.
	'--disable-smooth-scrolling',
	// Letters are rendered as on a screen; the headless shell has another default.
	'--font-render-hinting=none',
	// A server at home often has a host name and no https. Such a page has no secure context, no clipboard API and no crypto.subtle.
	'--host-resolver-rules=MAP nas 127.0.0.1',
	// A page of a test lives for seconds: compiling it for speed costs more than it saves, but for what counts for long,
	// such as the checksums of a large upload. The long tests measure it.
	...(isLong ? [] : ['--js-flags=--no-maglev --interrupt-budget=10000000']),
];

/** The base path of the page on its server: the setting `basePath`, which a variable sets for a whole run. */
export const basePath = process.env.STOWAGE_BASE_PATH ?? '';

export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

/** The URL of a local server with a host name for which, unlike localhost, plain http is not a secure context. */
export function plainName(url: string): string {
	return url.replace('127.0.0.1', 'nas');
}

/** The same address by which other programs than the browser reach the server. */
export function numericName(url: string): string {
	return url.replace('//nas', '//127.0.0.1');
}

let launched: Promise<Browser> | undefined;

/** A real Chromium without windows, which would take half of the time; one for all tests of a process; it closes after the last. */
export function launchBrowser(): Promise<Browser> {
	launched ??= chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: flags, timeout: timeoutMs });
	return launched;
}

test.after.always(async () => (await launched)?.close());

/** A window with nothing stored; it closes with the test. */
export async function openBrowser(t: Teardown, viewport = desktop): Promise<BrowserContext> {
	const browser = await launchBrowser();
	const context = await browser.newContext({ viewport, acceptDownloads: true, reducedMotion: 'reduce' });
	context.setDefaultTimeout(timeoutMs);
	t.teardown(() => context.close());
	return context;
}

/** Opens a page and collects its errors in `faults`, which a test expects to be empty. */
export async function openPage(
	context: BrowserContext,
	url: string,
	faults: string[] = [],
): Promise<{ page: Page; faults: string[] }> {
	const page = await context.newPage();
	await preparePage(page);
	page.on('pageerror', (error) => faults.push(error.message));
	page.on('console', (message) => {
		// The page shows a refused call; the browser's own line about it is no fault.
		if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
		faults.push(message.text());
	});
	await page.goto(url);
	return { page, faults };
}

const prepared = new WeakSet<Page>();

/** Once for a page, which may be that of one test after another. */
export async function preparePage(page: Page): Promise<void> {
	if (prepared.has(page)) return;
	prepared.add(page);
	page.setDefaultTimeout(timeoutMs);
	awaitRoutes(page);
	await recordNotices(page);
}

/**
 * `page.route` then resolves when the page's requests are routed. Chromium confirms the first route of a page before a
 * busy renderer has applied it: the request of a key that is pressed at once would reach the server.
 */
function awaitRoutes(page: Page): void {
	const route = page.route.bind(page);
	page.route = async (url, handler, options) => {
		const registered = await route(url, handler, options);
		if (page.url() === 'about:blank') return registered;
		const probe = `${basePath}/routed`;
		await route(`**${probe}`, (request) => request.fulfill({ status: 204 }), { times: 1 });
		await page.evaluate(async (address) => {
			while ((await fetch(address)).status !== 204);
		}, probe);
		return registered;
	};
}
