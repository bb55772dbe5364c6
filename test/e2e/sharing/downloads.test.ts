import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import type { Download, Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { desktop, phone } from '../support/browser.js';
import { absent, eventually, gone } from '../support/expect.js';
import {
	menuItems,
	nameIn,
	overlaysClosed,
	rowOf,
	setUpFixture,
	treeOf,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { expectNotice } from '../support/notices.js';
import { slowConnection } from '../support/slowConnection.js';

const fixture = withKeptPages(setUpFixture(test));
const run = promisify(execFile);

const hashOf = async (file: string) =>
	createHash('sha256')
		.update(await readFile(file))
		.digest('hex');

/** The downloads that `action` starts, sorted by name, since their responses may arrive in any order. */
async function downloadsOf(page: Page, count: number, act: () => Promise<void>): Promise<Download[]> {
	const downloads: Download[] = [];
	const all = new Promise<void>((resolve) => {
		page.on('download', function collect(download) {
			if (downloads.push(download) < count) return;
			page.off('download', collect);
			resolve();
		});
	});
	await act();
	await all;
	return downloads.sort((a, b) => (a.suggestedFilename() < b.suggestedFilename() ? -1 : 1));
}

async function select(page: Page, ...names: string[]): Promise<void> {
	await page.keyboard.press('Escape');
	for (const name of names) await rowOf(page, name).click({ modifiers: ['Control'] });
}

async function choose(page: Page, name: string, item: string): Promise<void> {
	await rowOf(page, name).click({ button: 'right' });
	await page.getByRole('menuitem', { name: item, exact: true }).click();
}

/** The contents of an archive, unpacked by another program. */
async function unpacked(t: ExecutionContext, download: Download): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-unzip-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	await run('python3', ['-m', 'zipfile', '-e', await download.path(), folder], {
		env: { ...process.env, LC_ALL: 'C.UTF-8', PYTHONUTF8: '1' },
	});
	return folder;
}

async function askBeforeDownload(page: Page): Promise<void> {
	await page.getByRole('button', { name: 'Settings' }).click();
	await page.getByRole('switch', { name: 'Ask before download' }).check({ force: true });
	await page.getByRole('button', { name: 'Save Changes' }).click();
	await overlaysClosed(page);
}

const today = /_\d{4}-\d\d-\d\d\.zip$/;

test.serial('files are downloaded one by one, byte for byte, and a folder or a selection as a ZIP', async (t) => {
	const ada = await fixture.enter(t);
	const big = randomBytes(5_000_000).toString('latin1');
	await writeFiles(ada.home, {
		'a.bin': big,
		'naïve – 日本.txt': 'b',
		'trip/one.jpg': '1',
		'trip/deep/two.jpg': '2',
		'c/': '',
	});
	const page = await ada.open('/browser?type=private');

	await select(page, 'a.bin', 'naïve – 日本.txt');
	const two = await downloadsOf(page, 2, () => choose(page, 'a.bin', 'Download'));
	t.deepEqual(
		two.map((download) => download.suggestedFilename()),
		['a.bin', 'naïve – 日本.txt'],
	);
	for (const download of two) {
		t.is(await hashOf(await download.path()), await hashOf(path.join(ada.home, download.suggestedFilename())));
	}

	const [folder] = await downloadsOf(page, 1, () => choose(page, 'trip', 'Download as ZIP'));
	t.regex(folder?.suggestedFilename() ?? '', /^trip_/);
	await expectNotice(page, `Downloaded ${folder?.suggestedFilename()}`);
	t.deepEqual(await treeOf(await unpacked(t, folder as Download)), [
		'trip/',
		'trip/deep/',
		'trip/deep/two.jpg',
		'trip/one.jpg',
	]);

	await select(page, 'a.bin', 'trip', 'c');
	await rowOf(page, 'c').click({ button: 'right' });
	await eventually(t, async () => (await menuItems(page)).includes('Download'), false);
	const [mixed] = await downloadsOf(page, 1, () => page.getByRole('menuitem', { name: 'Download as ZIP' }).click());
	t.regex(mixed?.suggestedFilename() ?? '', /^files_/);
	t.regex(mixed?.suggestedFilename() ?? '', today);
	const content = await unpacked(t, mixed as Download);
	t.is(await hashOf(path.join(content, 'a.bin')), await hashOf(path.join(ada.home, 'a.bin')));
	t.true((await stat(path.join(content, 'c'))).isDirectory());
	t.deepEqual(ada.faults, []);
});

test.serial('a visitor gets the notice of a downloaded ZIP, too', async (t) => {
	const ada = await fixture.enter(t, { isVisitor: true });
	await writeFiles(ada.files, { 'Public/trip/one.jpg': '1' });
	const page = await ada.open('/browser');
	const [folder] = await downloadsOf(page, 1, () => choose(page, 'trip', 'Download as ZIP'));
	await expectNotice(page, `Downloaded ${folder?.suggestedFilename()}`);
	t.deepEqual(await treeOf(await unpacked(t, folder as Download)), ['trip/', 'trip/one.jpg']);
	t.deepEqual(ada.faults, []);
});

test.serial(
	'a ZIP that was sent while the tab was hidden is shown as done when the tab is visible again',
	async (t) => {
		const ada = await fixture.enter(t);
		await writeFiles(ada.home, { 'trip/one.jpg': '1' });
		const page = await ada.open('/browser?type=private');
		const setShown = (state: 'hidden' | 'visible') =>
			page.evaluate((value) => {
				Object.defineProperty(document, 'visibilityState', { configurable: true, value });
				document.dispatchEvent(new Event('visibilitychange'));
			}, state);
		await rowOf(page, 'trip').click({ button: 'right' });
		await setShown('hidden');
		const [folder] = await downloadsOf(page, 1, () => page.getByRole('menuitem', { name: 'Download as ZIP' }).click());
		await folder?.path();
		await page.getByText('Waiting for the browser…').waitFor();
		await setShown('visible');
		await expectNotice(page, `Downloaded ${folder?.suggestedFilename()}`);
		t.deepEqual(ada.faults, []);
	},
);

test.serial('the notice of a ZIP disappears after a while without events', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'trip/one.jpg': '1' });
	await ada.context.clock.install();
	// The archive is sent at once; only its events must not arrive.
	await ada.context.route('**/api/events?**', (route) => route.abort());
	const page = await ada.open('/browser?type=private');
	await choose(page, 'trip', 'Download as ZIP');
	await page.getByText('Waiting for the browser…').waitFor();
	await page.clock.fastForward(31_000);
	await page.getByText('Waiting for the browser…').waitFor({ state: 'detached' });
	t.pass();
});

test.serial('the notification bar shows the progress of a ZIP, and Cancel aborts it', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'film/': '' });
	const film = await open(path.join(ada.home, 'film/long.mp4'), 'w');
	await film.truncate(3 * 1024 ** 3);
	await film.close();
	const page = await ada.open('/browser?type=private');
	// Two and a half minutes: long enough to be observed.
	await page.goto(`${await slowConnection(t, ada.url, 20_000_000)}/browser?type=private`);
	const [download] = await downloadsOf(page, 1, () => choose(page, 'film', 'Download as ZIP'));
	const bar = page.getByRole('status').filter({ hasText: /^Downloading film_/ });
	await bar.getByText(/^\d+\.\d\d\s[MG]B\sof\s3\.00\sGB · \d+\.\d\s[KM]B\/s · .*\sleft$/).waitFor();
	await bar.locator('[role=progressbar]:not([aria-valuenow="0"])').waitFor();
	await bar.getByRole('button', { name: 'Cancel' }).click();
	await expectNotice(page, 'Download cancelled');
	t.truthy(await download?.failure());
	const answer = await page.goto(download?.url() ?? '');
	t.is(answer?.status(), 410, 'its URL has expired');
	t.deepEqual(ada.faults, []);
});

test.serial('a ZIP in which a file is changed while it is downloaded is said to be incomplete', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'film/': '' });
	const long = path.join(ada.home, 'film/long.mp4');
	await writeFile(long, '');
	await truncate(long, 3 * 1024 ** 3);
	const page = await ada.open('/browser?type=private');
	await page.goto(`${await slowConnection(t, ada.url, 20_000_000)}/browser?type=private`);
	const [download] = await downloadsOf(page, 1, () => choose(page, 'film', 'Download as ZIP'));
	const bar = page.getByRole('status').filter({ hasText: /^Downloading film_/ });
	await bar.locator('[role=progressbar]:not([aria-valuenow="0"])').waitFor();
	await truncate(long, 1024);
	const name = `${download?.suggestedFilename()} is incomplete`;
	await expectNotice(page, name, 'A file was changed during the download. Download it again.');
	const notice = page.getByRole('alert').filter({ hasText: name });
	await notice.getByRole('button', { name: 'Close' }).click();
	await gone(t, notice);
	t.deepEqual(ada.faults, []);
});

test.serial('a ZIP that could not be created is reported', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'trip/one.jpg': '1' });
	const page = await ada.open('/browser?type=private');
	await rowOf(page, 'trip').click({ button: 'right' });
	await page.route('**/api/downloadTickets', (route) =>
		route.fulfill({
			status: 503,
			json: {
				statusCode: 503,
				code: 'UNAVAILABLE',
				error: 'x',
				message: 'ZIP archives are not available on this server.',
			},
		}),
	);
	await page.getByRole('menuitem', { name: 'Download as ZIP' }).click();
	await expectNotice(page, 'Error creating ZIP file', 'ZIP archives are not available on this server.');
	t.deepEqual(ada.faults, []);
});

const confirmsEach = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t, { viewport });
	const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`many/${index}.txt`, 'x'.repeat(1536)]));
	await writeFiles(ada.home, { 'a.bin': 'x'.repeat(1536), 'b.txt': 'x', 'trip/one.jpg': '1', ...many });
	const page = await ada.open('/browser?type=private');
	await askBeforeDownload(page);
	const dialog = page.getByRole('dialog', { name: 'Confirm Download' });
	const zip = dialog.getByRole('checkbox', { name: 'Download as ZIP' });
	const confirm = dialog.getByRole('button', { name: 'Download', exact: true });
	const total = async (size: string) => dialog.getByText('Total size').locator('..').getByText(size).waitFor();

	await nameIn(page, 'a.bin').click();
	await dialog.getByText('Download this file?').waitFor();
	await total('1.50 KB');
	await absent(t, zip);
	await assertAccessible(t, page, 'a file');
	const [one] = await downloadsOf(page, 1, () => confirm.click());
	t.is(one?.suggestedFilename(), 'a.bin');
	await overlaysClosed(page);

	await select(page, 'a.bin', 'b.txt');
	await choose(page, 'a.bin', 'Download');
	await dialog.getByText('Download 2 files?').waitFor();
	await total('1.50 KB');
	await eventually(t, () => dialog.getByRole('listitem').allInnerTexts(), ['a.bin\n1.50 KB', 'b.txt\n1 Byte']);
	await eventually(t, () => zip.isChecked(), false);
	await zip.check({ force: true });
	const [both] = await downloadsOf(page, 1, () => confirm.click());
	t.regex(both?.suggestedFilename() ?? '', /^files_/);
	t.deepEqual(await treeOf(await unpacked(t, both as Download)), ['a.bin', 'b.txt']);
	await overlaysClosed(page);

	await select(page);
	await choose(page, 'trip', 'Download as ZIP');
	await dialog.getByText('Download this folder as ZIP?').waitFor();
	await eventually(t, async () => [await zip.isChecked(), await zip.isDisabled()], [true, true]);
	// The size of a folder is unknown, so the size of its ZIP is shown.
	await total('Bytes');
	await assertAccessible(t, page, 'a folder');
	const [folder] = await downloadsOf(page, 1, () => confirm.click());
	t.deepEqual(await treeOf(await unpacked(t, folder as Download)), ['trip/', 'trip/one.jpg']);
	await overlaysClosed(page);

	await nameIn(page, 'many').click();
	await rowOf(page, '0.txt').waitFor();
	await page.keyboard.press('Control+A');
	await choose(page, '0.txt', 'Download');
	await dialog.getByText('Download 30 files?').waitFor();
	await total('45.00 KB');
	const list = dialog.getByRole('list', { name: 'Files to download' });
	t.true(await list.evaluate((files) => files.clientHeight <= 200 && files.scrollHeight > files.clientHeight));
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	t.deepEqual(ada.faults, []);
};
test.serial('with the setting each download is confirmed first, on a desktop', confirmsEach, desktop);
test.serial('with the setting each download is confirmed first, on a phone', confirmsEach, phone);
