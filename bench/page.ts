import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumFlags, dropFromDisk, longestTask } from '../test/e2e/support/devtools.js';
import { emptyFiles } from './sources.js';
import type { Figure, Survey, Target } from './Workload.js';

const desktop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

/** A processor that is four times as slow, and what Chromium's developer tools call fast 3G: bytes a second, milliseconds. */
const phoneSlowdown = 4;
const fast3G = { offline: false, downloadThroughput: 180_000, uploadThroughput: 84_375, latency: 562.5 };

/** However slow the machine is. */
const patienceMs = 15 * 60_000;

/** What the page takes in Chromium. */
export const page: Survey = {
	name: 'page',
	async *figures(target) {
		const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: chromiumFlags });
		try {
			yield* landing(browser, target);
			yield* folder(browser, target, Math.round(10_000 * target.scale));
			yield* scrolling(browser, target, Math.round(100_000 * target.scale));
			yield* drop(browser, target, Math.round(10_000 * target.scale));
		} finally {
			await browser.close();
		}
	},
};

/** The landing page for somebody who was never here. */
async function* landing(browser: Browser, { url }: Target): AsyncGenerator<Figure> {
	const context = await browser.newContext({ viewport: phone });
	const page = await context.newPage();
	await slowDown(page);
	const sent = { script: 0, stylesheet: 0 };
	page.on('requestfinished', async (request) => {
		const type = request.resourceType();
		if (type !== 'script' && type !== 'stylesheet') return;
		const { responseBodySize } = await request.sizes();
		sent[type] += responseBodySize;
	});
	const begun = performance.now();
	await page.goto(url);
	await page.getByRole('button', { name: 'Choose Files' }).waitFor({ timeout: patienceMs });
	const shownMs = performance.now() - begun;
	await page.waitForLoadState('networkidle');
	yield { name: 'landing page, script as it is sent', value: sent.script / 1000, unit: 'kB', aim: 200 };
	yield { name: 'landing page, style as it is sent', value: sent.stylesheet / 1000, unit: 'kB', aim: 60 };
	yield { name: 'landing page, for the first time, on a slow phone', value: shownMs, unit: 'ms' };
	await context.close();
}

/** From the key that opens a folder until its first entries are on the screen. */
async function* folder(browser: Browser, target: Target, entries: number): AsyncGenerator<Figure> {
	const many = await fill(target, entries);
	const context = await signedIn(browser, target, phone);
	const page = await opened(context, `${target.url}/browser?type=private`);
	const times: number[] = [];
	for (let n = 0; n < 5; n++) {
		await slowDown(page);
		await page.getByRole('row', { name: /^many/ }).focus();
		// What is still to be done for the folder on screen is no part of it.
		await wait(1000);
		await page.evaluate(() => {
			const measured = window as unknown as { shown: Promise<number> };
			measured.shown = new Promise((resolve) => {
				let begun = 0;
				addEventListener('keydown', (event) => (begun = event.timeStamp), { capture: true, once: true });
				const observer = new MutationObserver(() => {
					if (document.querySelector('[role=grid]')?.textContent?.includes('IMG_000000') !== true) return;
					observer.disconnect();
					requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
				});
				observer.observe(document.body, { childList: true, subtree: true, characterData: true });
			});
		});
		await page.keyboard.press('Enter');
		times.push(await page.evaluate(() => (window as unknown as { shown: Promise<number> }).shown));
		await speedUp(page);
		await page.goBack();
		await page.getByRole('row', { name: /^many/ }).waitFor();
		// The next time it is fetched again.
		await page.reload();
		await page.getByRole('row', { name: /^many/ }).waitFor();
	}
	const median = times.toSorted((a, b) => a - b)[times.length >> 1] as number;
	yield {
		name: `first view of a folder of ${counted(entries)}, on a slow phone`,
		value: median,
		unit: 'ms',
		aim: 1000,
	};
	await context.close();
	await rm(many, { recursive: true });
}

async function* scrolling(browser: Browser, target: Target, entries: number): AsyncGenerator<Figure> {
	const many = await fill(target, entries);
	const context = await signedIn(browser, target, desktop);
	const page = await opened(context, `${target.url}/browser/many?type=private`);
	for (const view of ['List', 'Grid']) {
		await page.getByRole('group', { name: 'View' }).getByRole('button', { name: view }).click();
		await page.locator(`[role=grid][data-view=${view.toLowerCase()}][aria-busy=false]`).waitFor();
		const ms = await longestWhile(browser, page, () => page.evaluate(scrollThrough));
		const name = `scrolling ${counted(entries)} entries, ${view.toLowerCase()}: the longest task`;
		yield { name, value: ms, unit: 'ms', aim: 50 };
	}
	await context.close();
	await rm(many, { recursive: true });
}

/** A screenful in steps of a third for 300 frames, then through all of it in a hundred jumps. Runs in the page. */
async function scrollThrough(): Promise<void> {
	const scroller = [...document.querySelectorAll('[role=grid] > [role=rowgroup]')].at(-1) as HTMLElement;
	const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
	for (let n = 0; n < 300; n++) {
		scroller.scrollTop += scroller.clientHeight / 3;
		await frame();
	}
	for (let n = 0; n <= 100; n++) {
		scroller.scrollTop = ((scroller.scrollHeight - scroller.clientHeight) * n) / 100;
		await frame();
	}
}

/** Small files in one folder that is dropped onto the page. */
async function* drop(browser: Browser, target: Target, files: number): AsyncGenerator<Figure> {
	const source = path.join(target.folder, 'dropped');
	await mkdir(source);
	const content = Buffer.alloc(10_000, 'x');
	for (let n = 0; n < files; n++) await writeFile(path.join(source, `${n}.bin`), content);
	const uploaded = path.join(target.home, 'dropped');
	const context = await signedIn(browser, target, desktop);
	const page = await opened(context, `${target.url}/browser?type=private`);
	// A trace of some minutes would be too long, so other programs count here.
	await page.evaluate(() => {
		const held = window as unknown as { longest: number };
		held.longest = 0;
		new PerformanceObserver((tasks) => {
			for (const { duration } of tasks.getEntries()) held.longest = Math.max(held.longest, duration);
		}).observe({ type: 'longtask' });
	});
	let ms = 0;
	await dropFromDisk(page, { x: 600, y: 600 }, [source]);
	const begun = performance.now();
	await page.getByRole('button', { name: 'Upload All' }).click({ timeout: patienceMs });
	while (ms === 0) {
		await wait(500);
		const present = await readdir(uploaded).catch(() => []);
		if (present.length === files) ms = performance.now() - begun;
		if (performance.now() - begun > patienceMs) throw new Error('The dropped files did not arrive in time.');
	}
	const longest = await page.evaluate(() => (window as unknown as { longest: number }).longest);
	yield { name: `${counted(files)} dropped files of 10 kB, until all are stored`, value: ms / 1000, unit: 's' };
	yield { name: `${counted(files)} dropped files of 10 kB: the longest task`, value: longest, unit: 'ms', aim: 50 };
	await context.close();
	await Promise.all([source, uploaded].map((each) => rm(each, { recursive: true })));
}

/** Milliseconds of the processor's time of the longest task meanwhile: other programs of the machine don't count. */
async function longestWhile(browser: Browser, page: Page, work: () => Promise<void>): Promise<number> {
	await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
	await work();
	return longestTask(JSON.parse((await browser.stopTracing()).toString()));
}

async function signedIn(browser: Browser, { url, cookie }: Target, viewport: typeof desktop): Promise<BrowserContext> {
	// As through a proxy: for a browser on the same machine no list is compressed.
	const context = await browser.newContext({ viewport, extraHTTPHeaders: { 'x-forwarded-for': '192.0.2.1' } });
	const [name = '', ...value] = cookie.split('=');
	await context.addCookies([{ name, value: value.join('='), url }]);
	return context;
}

async function opened(context: BrowserContext, url: string): Promise<Page> {
	const page = await context.newPage();
	await page.goto(url);
	await page.locator('[role=grid][aria-busy=false]').waitFor({ timeout: patienceMs });
	return page;
}

async function slowDown(page: Page): Promise<void> {
	const session = await page.context().newCDPSession(page);
	await session.send('Network.enable');
	await session.send('Network.emulateNetworkConditions', fast3G);
	await session.send('Emulation.setCPUThrottlingRate', { rate: phoneSlowdown });
}

async function speedUp(page: Page): Promise<void> {
	const session = await page.context().newCDPSession(page);
	await session.send('Network.emulateNetworkConditions', {
		offline: false,
		downloadThroughput: -1,
		uploadThroughput: -1,
		latency: 0,
	});
	await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
}

/** A folder of so many empty files. */
async function fill({ home }: Target, entries: number): Promise<string> {
	const many = path.join(home, 'many');
	await mkdir(many);
	await emptyFiles(many, entries);
	return many;
}

const counted = (count: number) => count.toLocaleString('en-US');
