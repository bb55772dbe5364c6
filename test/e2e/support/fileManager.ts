import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext, TestFn } from 'ava';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { serveArgs, startServer } from '../../serverProcess.js';
import { desktop, launchBrowser, openPage, plainName } from './browser.js';
import { keptContext, newContext } from './contexts.js';
import { timeoutMs } from './timeouts.js';

/** The contents of files by their paths. A path that ends in a slash is a folder. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A server and a browser that tests share. */
export interface Fixture {
	/** A new user, signed in in a browser context of their own, with empty public areas. */
	enter(t: ExecutionContext, options?: EnterOptions): Promise<FileManager>;
}

export interface EnterOptions {
	viewport?: typeof desktop;
	/** Touch instead of a mouse. */
	hasTouch?: boolean;
	/** No user is signed in. */
	isVisitor?: boolean;
	/** The context may have been another test's, and goes on to the next. */
	isContextKept?: boolean;
	/** So may its first page. */
	isPageKept?: boolean;
}

export interface FileManager {
	/** The server's URL with a host name, as on a home network. */
	url: string;
	/** The same with its address. */
	origin: string;
	username: string;
	/** The storage root. */
	files: string;
	/** The user's home. */
	home: string;
	context: BrowserContext;
	/** Opens a page below the server's URL and waits until its list is loaded. */
	open(address: string): Promise<Page>;
	/** The errors of all pages. */
	faults: string[];
}

const fixtures = new Map<string, Fixture>();

/**
 * A server with these settings as flags, and a browser. They start when they are first needed, are the same for all
 * files of a process, and end after its last test.
 */
export function setUpFixture(test: TestFn, settings: readonly string[] = []): Fixture {
	const key = JSON.stringify(settings);
	const fixture = fixtures.get(key) ?? makeFixture(test, settings);
	fixtures.set(key, fixture);
	return fixture;
}

/** The same with contexts that are used again: for tests that need no page that was never opened in theirs. */
export function withKeptContexts(fixture: Fixture): Fixture {
	return { enter: (t, options) => fixture.enter(t, { ...options, isContextKept: true }) };
}

/** The same also with the first page of each test, for tests that change no more of it than what it shows. */
export function withKeptPages(fixture: Fixture): Fixture {
	return { enter: (t, options) => fixture.enter(t, { ...options, isContextKept: true, isPageKept: true }) };
}

/** Each test signs a user up, and a third of that was the hash of the password: the strength of hashes is tested with the plugin. */
function withQuickHashes(settings: readonly string[]): string[] {
	const at = settings.indexOf('--plugins');
	const plugins = {
		'@stowage/auth-password': { memoryKiB: 19_456, iterations: 2, parallelism: 1 },
		...(at === -1 ? {} : JSON.parse(settings[at + 1] ?? '')),
	};
	const others = at === -1 ? settings : settings.toSpliced(at, 2);
	return [...others, '--plugins', JSON.stringify(plugins)];
}

function makeFixture(test: TestFn, settings: readonly string[]): Fixture {
	const endings: (() => Promise<void>)[] = [];
	const suite = { teardown: (end: () => Promise<void>) => void endings.unshift(end) };
	const start = async () => {
		const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-e2e-'));
		suite.teardown(() => rm(folder, { recursive: true, force: true }));
		const [server] = await Promise.all([
			// Tests put files there themselves, which an index notices later.
			startServer(suite, { args: serveArgs(folder, '--search-index', 'false', ...withQuickHashes(settings)) }),
			launchBrowser(),
		]);
		return { server, files: path.join(folder, 'files') };
	};
	let started: ReturnType<typeof start> | undefined;
	let users = 0;
	test.after.always(async () => {
		for (const end of endings) await end();
	});
	return {
		async enter(
			t,
			{ viewport = desktop, hasTouch = false, isVisitor = false, isContextKept = false, isPageKept = false } = {},
		) {
			started ??= start();
			const { server, files } = await started;
			const username = `ada${++users}`;
			const cookie = await server.register(username);
			for (const tree of ['Public', 'users/anonymous/Public']) {
				await rm(path.join(files, tree), { recursive: true, force: true, maxRetries: 10 });
				await mkdir(path.join(files, tree), { recursive: true });
			}
			const [name = '', ...value] = cookie.split('=');
			// A server with an https address has cookies for https only, which a browser sends without https to localhost only.
			const isSecure = name.startsWith('__');
			const url = isSecure ? server.url.replace('127.0.0.1', 'localhost') : plainName(server.url);
			const options = { viewport, hasTouch, isMobile: hasTouch, reducedMotion: 'reduce' } as const;
			const context = await (isContextKept ? keptContext(t, url, options, isPageKept) : newContext(t, options));
			const place = isSecure ? { domain: 'localhost', path: '/', secure: true } : { url };
			if (!isVisitor) await context.addCookies([{ name, value: value.join('='), ...place }]);
			const faults: string[] = [];
			return {
				url,
				origin: server.url,
				username,
				files,
				home: path.join(files, 'users', username),
				context,
				faults,
				async open(address) {
					const { page } = await openPage(context, `${url}${address}`, faults);
					await page.getByRole('grid', { name: 'Files' }).and(page.locator('[aria-busy=false]')).waitFor();
					// Fonts move things, and tests click at positions that they have measured.
					await page.evaluate(async () => void (await document.fonts.ready));
					return page;
				},
			};
		},
	};
}

/** Writes files directly to the disk, as another program does. */
export async function writeFiles(folder: string, contents: Files): Promise<void> {
	for (const [name, content] of Object.entries(contents)) {
		const target = path.join(folder, name);
		await mkdir(name.endsWith('/') ? target : path.dirname(target), { recursive: true });
		if (!name.endsWith('/')) await writeFile(target, content);
	}
}

/** Every path below a folder of the disk, sorted; folders end in a slash. */
export async function treeOf(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	return entries
		.map(
			(entry) => `${path.relative(folder, path.join(entry.parentPath, entry.name))}${entry.isDirectory() ? '/' : ''}`,
		)
		.sort();
}

/** Waits until a folder of the disk has exactly these paths. */
export async function expectOnDisk(t: ExecutionContext, folder: string, expected: readonly string[]): Promise<void> {
	const expectedPaths = JSON.stringify([...expected].sort());
	for (const limit = performance.now() + timeoutMs; performance.now() < limit; await wait(50)) {
		if (JSON.stringify(await treeOf(folder)) === expectedPaths) break;
	}
	t.deepEqual(await treeOf(folder), [...expected].sort());
}

export function rowOf(page: Page, name: string): Locator {
	return page.getByRole('grid', { name: 'Files' }).getByRole('row', { name: new RegExp(`^${escapeText(name)}(,|$)`) });
}

/** Waits until the list or one of its rows has the focus. */
export function expectFocusInList(page: Page): Promise<void> {
	return page.locator('[role=grid]:focus, [role=grid] [role=row]:focus').waitFor({ state: 'attached' });
}

export function nameIn(page: Page, name: string): Locator {
	return rowOf(page, name).locator('[data-part=name]');
}

/** The names of the rows on screen, in their order, without Up Directory. */
export async function namesOf(page: Page): Promise<string[]> {
	return page
		.getByRole('grid', { name: 'Files' })
		.locator('[data-part=name]')
		.evaluateAll((names) =>
			names
				.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
				.map((name) => name.textContent ?? ''),
		);
}

export async function selectedNames(page: Page): Promise<string[]> {
	const names = await namesOf(page);
	const selected = await page.locator('[aria-selected=true] [data-part=name]').allTextContents();
	return names.filter((name) => selected.includes(name));
}

/** Waits until exactly these rows are selected. */
export async function expectSelected(t: ExecutionContext, page: Page, ...expected: string[]): Promise<void> {
	const expectedNames = JSON.stringify(expected);
	for (const limit = performance.now() + timeoutMs; performance.now() < limit; await wait(20)) {
		if (JSON.stringify(await selectedNames(page)) === expectedNames) return void t.pass();
	}
	t.deepEqual(await selectedNames(page), expected);
}

/** The paths that the open dialog lists. */
export async function listedPaths(page: Page): Promise<string[]> {
	const lines = page.getByRole('dialog').getByRole('listitem');
	await lines.first().waitFor();
	return lines.allInnerTexts();
}

/** Answers the question about a name that is taken. */
export async function keepBoth(page: Page): Promise<void> {
	const dialog = page.getByRole('dialog', { name: 'Already there' });
	await dialog.getByRole('button', { name: 'Keep both' }).click();
	await dialog.waitFor({ state: 'detached' });
}

/** Holds the next request to such an address until the returned function is called. */
export async function holdRequest(page: Page, address: string): Promise<() => void> {
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	await page.route(address, (route) => held.then(() => route.fallback()), { times: 1 });
	return release;
}

/** Waits until a dialog that was closed has faded out, where it must have stayed open. */
export const fadedOut = () => wait(500);

/** Waits until all dialogs and menus are closed. */
export async function overlaysClosed(page: Page): Promise<void> {
	await page.getByRole('dialog').waitFor({ state: 'detached' });
	await page.getByRole('menu').waitFor({ state: 'detached' });
}

export async function menuItems(page: Page): Promise<string[]> {
	await page.getByRole('menu').waitFor();
	return page.getByRole('menuitem').locator('.bp6-text-overflow-ellipsis').allTextContents();
}

function escapeText(text: string): string {
	return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
