import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { plainArgs, type ServerProcess, startServer } from '../../serverProcess.js';
import { launchBrowser, openPage, plainName } from '../support/browser.js';
import { eventually, gone } from '../support/expect.js';
import { holdTimers } from '../support/heldTimers.js';
import { reservePort } from '../support/reservePort.js';
import { uploadTimeoutMs } from '../support/timeouts.js';
import { makeFile, type Network, networkOf, sha256, successMs, waitForUpload } from '../support/uploads.js';

const megabyte = 1024 * 1024;
const size = 20 * megabyte;
const chunkSize = 8 * megabyte;

/** Where the second of three chunks begins. */
const inMiddle = chunkSize;

interface Visit {
	page: Page;
	network: Network;
}

interface Scene {
	context: BrowserContext;
	username: string;
	home: string;
	open(): Promise<Visit>;
	/** The offsets of the chunks that were sent. */
	offsets: number[];
	faults: string[];
}

const endings: (() => Promise<void>)[] = [];
const suite = { teardown: (end: () => Promise<void>) => void endings.unshift(end) };
let data: string;
/** The file that all tests upload. */
let source: string;
let server: ServerProcess;
let port: number;
let browser: Browser;
let users = 0;

test.before(async () => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-e2e-'));
	suite.teardown(() => rm(folder, { recursive: true, force: true }));
	data = path.join(folder, 'data');
	port = await reservePort();
	[server, browser, source] = await Promise.all([
		startServer(suite, { args: plainArgs(data, '--port', `${port}`) }),
		launchBrowser(),
		makeFile(path.join(folder, 'film.mp4'), size),
	]);
});

test.after.always(async () => {
	for (const end of endings) await end();
});

/** A new user at the landing page, by default without a secure context. */
async function enter(t: ExecutionContext, url = plainName(server.url)): Promise<Scene> {
	const username = `ada${++users}`;
	const [name = '', ...value] = (await server.register(username)).split('=');
	const context = await browser.newContext({ reducedMotion: 'reduce' });
	t.teardown(() => context.close());
	await context.addCookies([{ name, value: value.join('='), url }]);
	await holdTimers(context, successMs);
	const offsets: number[] = [];
	context.on('request', (request) => {
		if (request.method() === 'PATCH') offsets.push(Number(request.headers()['upload-offset']));
	});
	const faults: string[] = [];
	return {
		context,
		username,
		home: path.join(data, 'files/users', username),
		offsets,
		faults,
		async open() {
			const { page } = await openPage(context, url, faults);
			page.setDefaultTimeout(uploadTimeoutMs);
			return { page, network: await networkOf(page) };
		},
	};
}

/** Begins an upload that is in the middle of a chunk until the network is restored. */
async function begin({ page, network }: Visit, file = source): Promise<void> {
	let isThrottled = false;
	let reachMiddle = () => {};
	const isInMiddle = new Promise<void>((resolve) => {
		reachMiddle = resolve;
	});
	await page.route('**/api/uploads/*', async (route) => {
		const request = route.request();
		if (request.method() === 'PATCH' && Number(request.headers()['upload-offset']) === inMiddle) {
			if (!isThrottled) await network.throttle();
			isThrottled = true;
			reachMiddle();
		}
		await route.continue();
	});
	await page.setInputFiles('input[type=file]', file);
	await page.getByRole('button', { name: 'Upload All' }).click();
	await isInMiddle;
}

/** What a home has in private; one that was never written to has nothing. */
async function visible(home: string): Promise<string[]> {
	const names = await readdir(home).catch(() => []);
	return names.filter((name) => name !== 'Public');
}

/** Each chunk was sent once, except for the one that may have been interrupted. */
async function assertUploadedOnce(t: ExecutionContext, { home, offsets, faults }: Scene) {
	t.deepEqual(await visible(home), ['film.mp4']);
	t.is(await sha256(path.join(home, 'film.mp4')), await sha256(source));
	const resent = offsets.length - Math.ceil(size / chunkSize);
	t.true(resent <= 1, `${offsets}`);
	t.deepEqual(await readdir(path.join(data, 'files/.stowage/staging')), []);
	t.deepEqual(faults, []);
}

test.serial('an upload continues by itself after the server was killed and restarted', async (t) => {
	const scene = await enter(t);
	const visit = await scene.open();
	const { page, network } = visit;
	await begin(visit);
	await server.stop('SIGKILL');
	await page.getByText('Connection lost.').waitFor();
	await network.restore();
	server = await startServer(suite, { args: plainArgs(data, '--port', `${port}`) });
	await waitForUpload(page);
	await assertUploadedOnce(t, scene);
});

test.serial('an upload continues by itself when the network is back, in a secure context', async (t) => {
	const scene = await enter(t, server.url);
	const visit = await scene.open();
	const { page, network } = visit;
	await begin(visit);
	await network.disconnect();
	await page.getByText('Connection lost.').waitFor();
	await network.restore();
	await waitForUpload(page);
	await assertUploadedOnce(t, scene);
});

test.serial(
	'leaving the page during an upload needs a confirmation, and the same file is resumed in a new tab',
	async (t) => {
		const scene = await enter(t);
		const visit = await scene.open();
		const { page: closed } = visit;
		await begin(visit);
		const dialogShown = closed.waitForEvent('dialog');
		await closed.close({ runBeforeUnload: true });
		const question = await dialogShown;
		t.is(question.type(), 'beforeunload');
		await Promise.all([closed.waitForEvent('close'), question.accept()]);

		const { page } = await scene.open();
		await page.setInputFiles('input[type=file]', source);
		await page.getByRole('button', { name: 'Upload All' }).click();
		await waitForUpload(page);
		await assertUploadedOnce(t, scene);
	},
);

test.serial(
	'a file that was rewritten since its upload began, and has the time that it had, is uploaded anew',
	async (t) => {
		const scene = await enter(t);
		const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-e2e-'));
		t.teardown(() => rm(folder, { recursive: true, force: true }));
		const container = path.join(folder, 'film.mp4');
		// A whole second: a browser's times are cut to milliseconds, and those of Node are rounded.
		const modified = new Date('2026-01-02T03:04:05Z');
		const write = async () => {
			await makeFile(container, size);
			await utimes(container, modified, modified);
		};
		await write();
		const visit = await scene.open();
		await begin(visit, container);
		await visit.page.close();
		await write();
		const { page } = await scene.open();
		await page.setInputFiles('input[type=file]', container);
		await page.getByRole('button', { name: 'Upload All' }).click();
		await waitForUpload(page);
		t.deepEqual(await visible(scene.home), ['film.mp4']);
		t.is(await sha256(path.join(scene.home, 'film.mp4')), await sha256(container));
		t.is(scene.offsets.filter((offset) => offset === 0).length, 2);
		await eventually(t, () => readdir(path.join(data, 'files/.stowage/staging')), []);
		t.deepEqual(scene.faults, []);
	},
);

test.serial('an upload whose session ended waits for a sign-in and continues', async (t) => {
	const scene = await enter(t);
	const visit = await scene.open();
	const { page, network } = visit;
	await begin(visit);
	const [cookie] = await scene.context.cookies();
	await fetch(`${server.url}/api/logout`, { headers: { cookie: `${cookie?.name}=${cookie?.value}` } });
	await network.restore();
	await page.getByText('Sign in to go on.').waitFor();
	await page.getByText('Your session has ended.').locator('..').getByRole('button', { name: 'Sign In' }).click();
	const dialog = page.getByRole('dialog', { name: 'Sign In' });
	await dialog.getByLabel('Username').fill(scene.username);
	await dialog.getByLabel('Password').fill('correct horse');
	await dialog.getByRole('button', { name: 'Sign In' }).click();
	await waitForUpload(page);
	await assertUploadedOnce(t, scene);
});

test.serial('an upload waits while another user is signed in, who gets nothing of it', async (t) => {
	const scene = await enter(t);
	const visit = await scene.open();
	const { page, network } = visit;
	await begin(visit);
	const own = await scene.context.cookies();
	const other = `bob${scene.username}`;
	const [, value = ''] = /=([^;]*)/.exec(await server.register(other)) ?? [];
	// As by a sign-in in another tab.
	await scene.context.addCookies(own.map((cookie) => ({ ...cookie, value })));
	await network.restore();
	await page.getByText(`Sign in as ${scene.username}, and the upload goes on.`).waitFor();
	t.deepEqual(await visible(path.join(data, 'files/users', other)), []);
	await scene.context.addCookies(own);
	await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
	await waitForUpload(page);
	await assertUploadedOnce(t, scene);
	t.deepEqual(await visible(path.join(data, 'files/users', other)), []);
});

test.serial('a cancelled upload leaves nothing on the server', async (t) => {
	const scene = await enter(t);
	const visit = await scene.open();
	const { page } = visit;
	await begin(visit);
	await Promise.all([
		page.waitForResponse((response) => response.request().method() === 'DELETE' && response.status() === 204),
		page.getByRole('button', { name: 'Cancel' }).click(),
	]);
	t.deepEqual(await readdir(path.join(data, 'files/.stowage/staging')), []);
	await gone(t, page.getByText('Upload Queue'));
	t.deepEqual(scene.faults, []);
});
