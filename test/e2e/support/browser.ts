import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { patience } from './limits.js';
import { hearNotices } from './notices.js';

type Teardown = { teardown(end: () => Promise<void>): void };

const flags = [
	'--headless',
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	// The usual server at home is called by a name, without https: such a page has no clipboard, no crypto.subtle and no secure context.
	'--host-resolver-rules=MAP nas 127.0.0.1',
];

export const desktop = { width: 1280, height: 800 };
export const phone = { width: 390, height: 844 };

/** The address of a local server under a name that browsers do not trust as they trust localhost. */
export function plainName(url: string): string {
	return url.replace('127.0.0.1', 'nas');
}

/** A real Chromium for many contexts; it closes with the test. */
export async function launchBrowser(t: Teardown): Promise<Browser> {
	const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags, timeout: patience });
	t.teardown(() => browser.close());
	return browser;
}

/** A real Chromium with an empty profile; it closes with the test. */
export async function openBrowser(t: Teardown, viewport = desktop): Promise<BrowserContext> {
	const profile = await mkdtemp(path.join(os.tmpdir(), 'stowage-chromium-'));
	const context = await chromium.launchPersistentContext(profile, {
		executablePath: '/usr/bin/chromium',
		args: flags,
		timeout: patience,
		viewport,
		acceptDownloads: true,
		reducedMotion: 'reduce',
	});
	context.setDefaultTimeout(patience);
	t.teardown(async () => {
		await context.close();
		// Its last process may still be writing.
		await rm(profile, { recursive: true, force: true, maxRetries: 10 });
	});
	return context;
}

/** A page that fails the test if anything in it goes wrong unnoticed. */
export async function openPage(
	context: BrowserContext,
	url: string,
	faults: string[] = [],
): Promise<{ page: Page; faults: string[] }> {
	const page = await context.newPage();
	page.setDefaultTimeout(patience);
	await hearNotices(page);
	page.on('pageerror', (error) => faults.push(error.message));
	page.on('console', (message) => {
		// A refused call is shown to the person; the browser's own line about it is not a fault.
		if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
			faults.push(message.text());
	});
	await page.goto(url);
	return { page, faults };
}
