import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext, TestFn } from 'ava';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { type ServerProcess, serveArgs, startServer } from '../../serverProcess.js';
import { desktop, launchBrowser, openPage, plainName } from './browser.js';
import { patience } from './limits.js';

/** Files by their paths; a path that ends in a slash is a folder. */
export type Planted = Readonly<Record<string, string>>;

/** A server and a browser for all tests of a file. */
export interface Stage {
	/** A new user, signed in in a browser of their own, and public areas in which nothing lies. */
	enter(t: ExecutionContext, options?: EnterOptions): Promise<FileManager>;
}

export interface EnterOptions {
	viewport?: typeof desktop;
	/** A finger in place of a mouse. */
	hasTouch?: boolean;
	/** Nobody is signed in. */
	isVisitor?: boolean;
}

export interface FileManager {
	/** The server's address as a page at home has it. */
	url: string;
	username: string;
	/** The storage root. */
	files: string;
	/** The user's home. */
	home: string;
	context: BrowserContext;
	/** A new page at an address below the server's, with its list loaded. */
	open(address: string): Promise<Page>;
	/** What went wrong in any page. */
	faults: string[];
}

/** Starts both before the first test of the file and ends them after the last. */
export function prepareStage(test: TestFn): Stage {
	const endings: (() => Promise<void>)[] = [];
	const suite = { teardown: (end: () => Promise<void>) => void endings.unshift(end) };
	let server: ServerProcess;
	let browser: Browser;
	let files: string;
	let users = 0;
	test.before(async () => {
		const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-e2e-'));
		suite.teardown(() => rm(folder, { recursive: true, force: true }));
		files = path.join(folder, 'files');
		[server, browser] = await Promise.all([startServer(suite, { args: serveArgs(folder) }), launchBrowser(suite)]);
	});
	test.after.always(async () => {
		for (const end of endings) await end();
	});
	return {
		async enter(t, { viewport = desktop, hasTouch = false, isVisitor = false } = {}) {
			const username = `ada${++users}`;
			const cookie = await server.register(username);
			for (const tree of ['Public', 'users/anonymous/Public']) {
				await rm(path.join(files, tree), { recursive: true, force: true, maxRetries: 10 });
				await mkdir(path.join(files, tree), { recursive: true });
			}
			const context = await browser.newContext({ viewport, hasTouch, isMobile: hasTouch, reducedMotion: 'reduce' });
			t.teardown(() => context.close());
			const url = plainName(server.url);
			const [name = '', ...value] = cookie.split('=');
			if (!isVisitor) await context.addCookies([{ name, value: value.join('='), url }]);
			const faults: string[] = [];
			return {
				url,
				username,
				files,
				home: path.join(files, 'users', username),
				context,
				faults,
				async open(address) {
					const { page } = await openPage(context, `${url}${address}`, faults);
					await page.getByRole('grid', { name: 'Files' }).and(page.locator('[aria-busy=false]')).waitFor();
					// Places are pressed that were measured before.
					await page.evaluate(async () => void (await document.fonts.ready));
					return page;
				},
			};
		},
	};
}

/** Puts files into a folder as somebody else does, past the server. */
export async function plant(folder: string, planted: Planted): Promise<void> {
	for (const [name, content] of Object.entries(planted)) {
		const target = path.join(folder, name);
		await mkdir(name.endsWith('/') ? target : path.dirname(target), { recursive: true });
		if (!name.endsWith('/')) await writeFile(target, content);
	}
}

/** Every path below a folder of the disk, in order; folders end in a slash. */
export async function treeOf(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	return entries
		.map(
			(entry) => `${path.relative(folder, path.join(entry.parentPath, entry.name))}${entry.isDirectory() ? '/' : ''}`,
		)
		.sort();
}

/** Waits until the disk holds exactly this. */
export async function onDisk(t: ExecutionContext, folder: string, expected: readonly string[]): Promise<void> {
	const wanted = JSON.stringify([...expected].sort());
	for (const limit = performance.now() + patience; performance.now() < limit; await wait(50)) {
		if (JSON.stringify(await treeOf(folder)) === wanted) break;
	}
	t.deepEqual(await treeOf(folder), [...expected].sort());
}

export function rowOf(page: Page, name: string): Locator {
	return page.getByRole('grid', { name: 'Files' }).getByRole('row', { name: new RegExp(`^${escapeText(name)}(,|$)`) });
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

/** Waits until just these rows are selected. */
export async function selects(t: ExecutionContext, page: Page, ...expected: string[]): Promise<void> {
	const wanted = JSON.stringify(expected);
	for (const limit = performance.now() + patience; performance.now() < limit; await wait(20)) {
		if (JSON.stringify(await selectedNames(page)) === wanted) return void t.pass();
	}
	t.deepEqual(await selectedNames(page), expected);
}

/** The paths that the open dialog lists. */
export async function listedPaths(page: Page): Promise<string[]> {
	const lines = page.getByRole('dialog').getByRole('listitem');
	await lines.first().waitFor();
	return lines.allInnerTexts();
}

/** Waits until all dialogs and menus have gone. */
export async function settled(page: Page): Promise<void> {
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
