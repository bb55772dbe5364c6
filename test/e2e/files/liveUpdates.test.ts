import { appendFile, mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { serveArgs, startServer } from '../../serverProcess.js';
import { basePath, openBrowser, openPage, plainName } from '../support/browser.js';
import { absent, eventually, gone } from '../support/expect.js';
import { setUpFixture, withKeptPages } from '../support/fileManager.js';
import { reservePort } from '../support/reservePort.js';
import { timeoutMs } from '../support/timeouts.js';

/** How soon a change on a local disk is on screen, and how soon a page gets a response, on an idle machine. */
const liveMs = 2000;
const answerMs = 100;
const probeMs = 50;

/** The minimum interval between change events. */
const spacingMs = 500;

/** The longest pause of a page between two fetches, after a long one. */
const restMs = 5000;

const fixture = withKeptPages(setUpFixture(test));

interface Scene {
	/** The host name with which the page is opened. */
	url: string;
	/** The URL at which the test calls the server. */
	serverUrl: string;
	home: string;
	context: BrowserContext;
	cookie: string;
}

async function scene(t: ExecutionContext): Promise<Scene> {
	const { url, home, context } = await fixture.enter(t);
	const [cookie] = await context.cookies();
	return { url, serverUrl: url.replace('nas', '127.0.0.1'), home, context, cookie: `${cookie?.name}=${cookie?.value}` };
}

const rowOf = (page: Page, name: string) =>
	page.getByRole('grid', { name: 'Files' }).getByRole('row', { name: new RegExp(`^${name}\\b`) });

/** Makes a change and waits until the page shows it. Fails after two seconds, not counting the delays of the machine itself. */
async function expectShown(
	t: ExecutionContext,
	page: Page,
	what: string,
	step: () => Promise<unknown>,
	isShown: () => Promise<unknown>,
) {
	const delays = measureDelays(page);
	const started = performance.now();
	const shown = isShown();
	await Promise.all([step(), shown]);
	const took = performance.now() - started;
	const lost = await delays();
	const measured = `${what}: ${took.toFixed(0)} ms, of which ${lost.toFixed(0)} ms lost`;
	t.log(measured);
	t.true(took - lost < liveMs, measured);
}

/** Waits until a page is idle, so that fetches after earlier changes are not measured. */
async function untilIdle(page: Page): Promise<void> {
	let last = performance.now();
	const pending = new Set<Request>();
	const isReading = (request: Request) => request.url().includes('/api/browse');
	const begin = (request: Request) => {
		if (isReading(request)) pending.add(request);
	};
	const end = (request: Request) => {
		if (!isReading(request)) return;
		pending.delete(request);
		last = performance.now();
	};
	page.on('request', begin).on('requestfinished', end).on('requestfailed', end);
	while (pending.size > 0 || performance.now() - last < restMs) await wait(50);
	page.off('request', begin).off('requestfinished', end).off('requestfailed', end);
}

/**
 * Sends requests from a page continuously; the returned function stops that and returns by how much the responses, and
 * this process, were late in all.
 */
function measureDelays(page: Page): () => Promise<number> {
	let lost = 0;
	let isOver = false;
	const probing = (async () => {
		let last = performance.now();
		do {
			await page.evaluate(async (base) => {
				await fetch(`${base}/api/health`);
				await new Promise(requestAnimationFrame);
			}, basePath);
			await wait(probeMs);
			const now = performance.now();
			lost += Math.max(0, now - last - answerMs - probeMs);
			last = now;
		} while (!isOver);
	})();
	return async () => {
		isOver = true;
		await probing;
		return lost;
	};
}

const isStream = (request: Request) => request.url().includes('/api/events');

async function streamIsOpen(page: Page, timeout = timeoutMs): Promise<void> {
	await page.waitForResponse((response) => isStream(response.request()) && response.status() === 200, { timeout });
}

/** Opens a page and waits until its event stream is open. */
async function follow(page: Page, address: string): Promise<void> {
	const open = streamIsOpen(page);
	await page.goto(address);
	await open;
}

test.serial('a folder on screen shows changes by a program on disk, another tab and another user', async (t) => {
	const { serverUrl, url, home, context } = await scene(t);
	const docs = path.join(home, 'docs');
	await mkdir(path.join(docs, 'inner'), { recursive: true });
	for (let n = 0; n < 100; n++) await writeFile(path.join(docs, `file ${n}.txt`), 'x');
	const { page, faults } = await openPage(context, 'about:blank');
	await follow(page, `${url}/browser/docs?type=private`);
	await rowOf(page, 'file 0.txt').waitFor();
	await untilIdle(page);

	// A row is selected and has the focus, and the list is scrolled.
	await rowOf(page, 'file 12.txt').click({ modifiers: ['Control'] });
	const scroller = page.locator('[role="rowgroup"]').last();
	await scroller.evaluate(async (element) => {
		element.scrollTo({ top: 400 });
		for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
	});
	const top = await rowOf(page, 'file 12.txt').evaluate((row) => row.getBoundingClientRect().top);

	await expectShown(
		t,
		page,
		'a new file',
		() => writeFile(path.join(docs, 'file 5b.txt'), ''),
		async () => {
			await page.waitForFunction(
				() => document.querySelector('[role=grid]')?.getAttribute('aria-rowcount') === String(1 + 1 + 1 + 101),
				undefined,
				{ polling: 20 },
			);
		},
	);
	t.is(await rowOf(page, 'file 12.txt').evaluate((row) => row.getBoundingClientRect().top), top, 'the rows stay');
	await eventually(t, () => rowOf(page, 'file 12.txt').getAttribute('aria-selected'), 'true');
	t.true(await rowOf(page, 'file 12.txt').evaluate((row) => row === document.activeElement));

	await expectShown(
		t,
		page,
		'a file grows',
		() => appendFile(path.join(docs, 'file 12.txt'), 'y'.repeat(2000)),
		() => rowOf(page, 'file 12.txt').filter({ hasText: '2.0 KB' }).waitFor(),
	);
	await expectShown(
		t,
		page,
		'a file is renamed',
		() => rename(path.join(docs, 'file 13.txt'), path.join(docs, 'file 13z.txt')),
		() => rowOf(page, 'file 13z.txt').waitFor(),
	);
	await expectShown(
		t,
		page,
		'a removed file',
		() => rm(path.join(docs, 'file 13z.txt')),
		() => rowOf(page, 'file 13z.txt').waitFor({ state: 'detached' }),
	);
	await scroller.evaluate((element) => element.scrollTo({ top: 0 }));
	await expectShown(
		t,
		page,
		'the count of a folder',
		() => writeFile(path.join(docs, 'inner/child'), ''),
		() => rowOf(page, 'inner').locator('[role=gridcell]').nth(2).filter({ hasText: /^1$/ }).waitFor(),
	);

	const { page: tab } = await openPage(context, `${url}/browser/docs?type=private`);
	await rowOf(tab, 'inner').waitFor();
	await tab.getByRole('grid', { name: 'Files' }).press('Control+a');
	const create = async () => {
		const answer = await tab.evaluate(async (base) => {
			const sent = await fetch(`${base}/api/createFolder`, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ directory: 'docs', folderName: 'from a tab', type: 'private' }),
			});
			return sent.status;
		}, basePath);
		t.is(answer, 200);
	};
	await expectShown(t, page, 'another tab', create, () => rowOf(page, 'from a tab').waitFor());

	// A visitor's upload changes the public area.
	await follow(page, `${url}/browser?type=public`);
	await page.getByRole('grid', { name: 'Files' }).and(page.locator('[aria-busy=false]')).waitFor();
	await untilIdle(page);
	const upload = async () => {
		const form = new FormData();
		form.set('file', new File(['hello'], 'from a visitor.txt'));
		const { status } = await fetch(`${serverUrl}/api/upload/public`, { method: 'POST', body: form });
		t.is(status, 200);
	};
	await expectShown(t, page, 'another user', upload, () => rowOf(page, 'from a visitor.txt').waitFor());
	t.deepEqual(faults, []);
});

test.serial('a change before the event stream is open is shown as well', async (t) => {
	const { url, home, context } = await scene(t);
	const docs = path.join(home, 'docs');
	await mkdir(docs, { recursive: true });
	await writeFile(path.join(docs, 'early.txt'), 'x');
	const { page, faults } = await openPage(context, 'about:blank');
	let open = () => {};
	const held = new Promise<void>((resolve) => {
		open = resolve;
	});
	await page.route('**/api/events?*', async (route) => {
		await held;
		await route.continue();
	});
	await page.goto(`${url}/browser/docs?type=private`);
	await rowOf(page, 'early.txt').waitFor();
	await writeFile(path.join(docs, 'between.txt'), 'x');
	open();
	await rowOf(page, 'between.txt').waitFor();
	t.deepEqual(faults, []);
});

test.serial('a hundred changes a second cause few fetches, and the last change is shown', async (t) => {
	const { url, home, context } = await scene(t);
	await mkdir(path.join(home, 'busy'));
	await utimes(path.join(home, 'busy'), 1, 1);
	const { page } = await openPage(context, 'about:blank');
	await follow(page, `${url}/browser/busy?type=private`);
	await rowOf(page, 'Up Directory').waitFor();
	let fetches = 0;
	page.on('request', (request) => {
		if (request.url().includes('/api/browse')) fetches++;
	});
	const started = performance.now();
	const passed = () => performance.now() - started;
	let made = 0;
	// For three seconds, or on a slow machine until there was a fetch in between.
	while (passed() < 3000 || ((made <= 100 || fetches < 3) && passed() < timeoutMs)) {
		await writeFile(path.join(home, 'busy', `n${String(made++).padStart(4, '0')}`), '');
		await wait(8);
	}
	t.true(made > 100);
	t.true(fetches >= 3, `${fetches} fetches in between`);
	await expectShown(
		t,
		page,
		'the last one',
		() => writeFile(path.join(home, 'busy', 'a last'), ''),
		() => rowOf(page, 'a last').waitFor(),
	);
	const most = Math.ceil(passed() / spacingMs) + 2;
	t.log(`${made} changes, ${fetches} fetches in ${passed().toFixed(0)} ms`);
	t.true(fetches <= most, `${fetches} fetches, at most ${most}`);
});

test.serial(
	'a hidden tab has no event stream, and shows the changes since then when it is visible again',
	async (t) => {
		const { url, home, context } = await scene(t);
		const page = await context.newPage();
		const ended = page.waitForEvent('requestfailed', isStream);
		await follow(page, `${url}/browser?type=private`);
		await untilIdle(page);
		const setVisibility = (state: string) =>
			page.evaluate((value) => {
				Object.defineProperty(document, 'visibilityState', { configurable: true, value });
				document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
			}, state);
		await setVisibility('hidden');
		await ended;
		await writeFile(path.join(home, 'while away.txt'), '');
		await wait(1500);
		await absent(t, rowOf(page, 'while away.txt'));
		const again = streamIsOpen(page);
		await expectShown(
			t,
			page,
			'visible again',
			() => setVisibility('visible'),
			() => rowOf(page, 'while away.txt').waitFor(),
		);
		await again;
		await untilIdle(page);
		await expectShown(
			t,
			page,
			'subscribed again',
			() => writeFile(path.join(home, 'after.txt'), ''),
			() => rowOf(page, 'after.txt').waitFor(),
		);
	},
);

test.serial('signing out in one tab ends the event stream of another, which then shows the public files', async (t) => {
	const { serverUrl, url, home, context, cookie } = await scene(t);
	await writeFile(path.join(home, 'secret.txt'), '');
	const page = await context.newPage();
	await follow(page, `${url}/browser?type=private`);
	await rowOf(page, 'secret.txt').waitFor();
	t.is((await fetch(`${serverUrl}/api/logout`, { headers: { cookie } })).status, 200);
	await page.waitForURL(/type=public/);
	await rowOf(page, 'secret.txt').waitFor({ state: 'detached' });
});

test.serial('a page reconnects after the server was restarted', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-live-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const port = `${await reservePort()}`;
	const first = await startServer(t, { args: serveArgs(folder, '--port', port) });
	const page = await (await openBrowser(t)).newPage();
	await follow(page, `${plainName(first.url)}/browser`);
	// The server ends it, and does not cut it after a timeout.
	const ended = page.waitForEvent('requestfinished', isStream);
	await Promise.all([ended, first.stop()]);
	await writeFile(path.join(folder, 'files/Public/meanwhile.txt'), '');
	// However long the start takes, and the page's next attempt after it.
	const again = streamIsOpen(page, 0);
	// It may have other settings now, such as no trash.
	const settings = page.waitForResponse('**/api/capabilities');
	await startServer(t, { args: serveArgs(folder, '--port', port) });
	await again;
	await settings;
	await rowOf(page, 'meanwhile.txt').waitFor();
	await untilIdle(page);
	await expectShown(
		t,
		page,
		'subscribed again',
		() => writeFile(path.join(folder, 'files/Public/after.txt'), ''),
		() => rowOf(page, 'after.txt').waitFor(),
	);
});

test.serial('a page learns soon that its folder was removed while the server was away', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-live-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const port = `${await reservePort()}`;
	const first = await startServer(t, { args: serveArgs(folder, '--port', port) });
	await mkdir(path.join(folder, 'files/Public/gone'));
	await writeFile(path.join(folder, 'files/Public/gone/a.txt'), '');
	const page = await (await openBrowser(t)).newPage();
	await follow(page, `${plainName(first.url)}/browser/gone?type=public`);
	await rowOf(page, 'a.txt').waitFor();
	// A fetch that fails now would be tried again by itself.
	await untilIdle(page);
	await first.stop();
	await rm(path.join(folder, 'files/Public/gone'), { recursive: true });
	await startServer(t, { args: serveArgs(folder, '--port', port) });
	await page.getByText('There is no such folder').waitFor();
	await gone(t, rowOf(page, 'a.txt'));
});

test.serial('a page learns soon that its folder, and the one above it, which were missing, are there', async (t) => {
	const { url, home, context } = await scene(t);
	const page = await context.newPage();
	const above = page.waitForResponse((response) => /events.*directory=(&|$)/.test(response.url()) && response.ok());
	await page.goto(`${url}/browser/new/inner?type=private`);
	await page.getByText('There is no such folder').waitFor();
	await above;
	// The next attempts by themselves are far off by then.
	await untilIdle(page);
	const between = streamIsOpen(page);
	await mkdir(path.join(home, 'new'));
	await between;
	await expectShown(
		t,
		page,
		'appeared',
		async () => {
			await mkdir(path.join(home, 'new/inner'));
			await writeFile(path.join(home, 'new/inner/a.txt'), '');
		},
		() => rowOf(page, 'a.txt').waitFor(),
	);
	await untilIdle(page);
	await expectShown(
		t,
		page,
		'subscribed',
		() => writeFile(path.join(home, 'new/inner/b.txt'), ''),
		() => rowOf(page, 'b.txt').waitFor(),
	);
});
