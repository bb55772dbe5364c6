import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { isLong } from '../../long.js';
import { assertAccessible } from '../support/axe.js';
import { basePath, desktop, phone } from '../support/browser.js';
import { absent, eventually, gone } from '../support/expect.js';
import {
	type FileManager,
	fadedOut,
	overlaysClosed,
	rowOf,
	setUpFixture,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { expectNotice } from '../support/notices.js';
import { openStranger, share } from '../support/shares.js';
import { timeoutMs } from '../support/timeouts.js';

const fixture = withKeptPages(setUpFixture(test));
const text = 'The quick brown fox jumps over the lazy dog.\n'.repeat(1000);

const sha256 = async (file: string) =>
	createHash('sha256')
		.update(await readFile(file))
		.digest('hex');

async function choose(page: Page, name: string, item: string): Promise<void> {
	await rowOf(page, name).click({ button: 'right' });
	await page.getByRole('menuitem', { name: item, exact: true }).click();
}

/** The text of the clipboard by Ctrl+V: to read it, a page needs a permission that it can't have on plain http. */
async function clipboardText(page: Page): Promise<string> {
	await page.evaluate(() => {
		const field = document.createElement('textarea');
		field.id = 'paste-here';
		document.body.append(field);
		field.focus();
	});
	await page.keyboard.press('Control+V');
	await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('#paste-here')?.value);
	return page.locator('#paste-here').evaluate((field) => {
		field.remove();
		return (field as HTMLTextAreaElement).value;
	});
}

/** A visitor who was sent a link. */
async function openVisitor(t: ExecutionContext, { context }: FileManager): Promise<Page> {
	const visitor = await context.browser()?.newContext();
	if (visitor === undefined) throw new Error('The browser has ended.');
	t.teardown(() => visitor.close());
	visitor.setDefaultTimeout(timeoutMs);
	return visitor.newPage();
}

async function makeLink(page: Page, name: string, expiration: string): Promise<string> {
	await choose(page, name, 'Temporary Link');
	const dialog = page.getByRole('dialog', { name: 'Temporary Link' });
	await dialog.getByRole('radiogroup', { name: 'Expires in' }).getByRole('radio', { name: expiration }).click();
	await dialog.getByRole('button', { name: 'Generate Link' }).click();
	return dialog.getByLabel('Link', { exact: true }).inputValue();
}

const journey = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t, { viewport });
	await writeFiles(ada.home, { 'docs/fox.txt': text, 'docs/hare.txt': text });
	const warnings: string[] = [];
	ada.context.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
	const page = await ada.open('/browser/docs?type=private');
	await choose(page, 'fox.txt', 'Temporary Link');
	const dialog = page.getByRole('dialog', { name: 'Temporary Link' });
	await eventually(t, () => dialog.getByRole('radio', { name: '1 hour' }).isChecked(), true);
	await assertAccessible(t, page, 'temporary link');
	await dialog.getByRole('radio', { name: '1 week' }).click();
	await page.mouse.click(5, 5);
	await fadedOut();
	await eventually(
		t,
		() => dialog.getByRole('radio', { name: '1 week' }).isChecked(),
		true,
		'a click beside it discards nothing',
	);
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await page.getByRole('grid', { name: 'Files' }).locator(':focus').waitFor();

	const link = await makeLink(page, 'fox.txt', '1 week');
	t.regex(link, new RegExp(`^${ada.url}/api/temp/[\\w-]{43}$`));
	await assertAccessible(t, page, 'the new link');
	await dialog.getByRole('button', { name: 'Copy Link' }).click();
	await dialog.getByText('Copied to the clipboard').waitFor();
	await dialog.getByRole('button', { name: 'Close' }).click();
	await overlaysClosed(page);
	t.is(await clipboardText(page), link);
	await makeLink(page, 'hare.txt', '12 hours');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);

	const visitor = await openVisitor(t, ada);
	const [download] = await Promise.all([visitor.waitForEvent('download'), visitor.goto(link).catch(() => undefined)]);
	t.is(download.suggestedFilename(), 'fox.txt');
	t.is(await sha256(await download.path()), await sha256(path.join(ada.home, 'docs/fox.txt')));

	await page.getByRole('button', { name: ada.username }).click();
	await page.getByRole('menuitem', { name: 'My links' }).click();
	const mine = page.getByRole('dialog', { name: 'My links' });
	await mine.getByText('docs/fox.txt').waitFor();
	await mine.getByText(viewport === phone ? '1 download' : 'Downloads 1').waitFor();
	await mine
		.getByText(viewport === phone ? 'Active · 1 download' : 'State Active')
		.first()
		.waitFor();
	await assertAccessible(t, page, 'my links');
	// By keyboard alone, until none is left.
	const hasFocus = (name: string) =>
		mine.getByRole('button', { name, exact: true }).and(page.locator(':focus')).waitFor();
	await hasFocus('Close');
	await page.keyboard.press('Shift+Tab');
	await hasFocus('Revoke the link to docs/fox.txt');
	await page.keyboard.press('Enter');
	await mine.getByText('docs/fox.txt').waitFor({ state: 'detached' });
	await hasFocus('Revoke the link to docs/hare.txt');
	await page.keyboard.press('Enter');
	await mine.getByText('No links').waitFor();
	await assertAccessible(t, page, 'no links');
	await hasFocus('Close');
	await page.keyboard.press('Enter');
	await overlaysClosed(page);

	const answer = await visitor.goto(link);
	t.is(answer?.status(), 404);
	await visitor.getByRole('heading', { name: 'This link does not exist or no longer works' }).waitFor();
	await assertAccessible(t, visitor, 'a link that does not work');
	await visitor.getByRole('link', { name: 'Go to Stowage' }).click();
	await visitor.getByText('Drop files or click to upload').waitFor();
	t.deepEqual(warnings, []);
	t.deepEqual(ada.faults, []);
};
test.serial('a link is created, copied, opened by a visitor, counted and revoked, on a desktop', journey, desktop);
test.serial('a link is created, copied, opened by a visitor, counted and revoked, on a phone', journey, phone);

test.serial('the permanent link of a public file is copied and works without a session', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'Public/trip/a & b.txt': text });
	for (const address of ['/browser/trip?type=public', '/browser/Public/trip?type=private']) {
		const page = await ada.open(address);
		await choose(page, 'a & b.txt', 'Copy Link');
		await expectNotice(page, 'Link copied');
		const link = await clipboardText(page);
		t.is(link, `${ada.url}/api/download/trip/a%20%26%20b.txt?type=public&owner=${ada.username}`);
		const visitor = await openVisitor(t, ada);
		const [download] = await Promise.all([visitor.waitForEvent('download'), visitor.goto(link).catch(() => undefined)]);
		t.is(download.suggestedFilename(), 'a & b.txt');
		t.is(await readFile(await download.path(), 'utf8'), text);
		await rowOf(page, 'a & b.txt').click({ button: 'right' });
		await page.getByRole('menuitem', { name: 'Download' }).waitFor();
		await absent(t, page.getByRole('menuitem', { name: 'Temporary Link' }));
	}
	t.deepEqual(ada.faults, []);
});

test.serial('a link that could not be created or copied is reported', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'fox.txt': text, 'hare.txt': text, 'Public/plain.txt': text, 'Public/other.txt': text });
	const page = await ada.open('/browser?type=private');
	await choose(page, 'fox.txt', 'Temporary Link');
	await rm(path.join(ada.home, 'fox.txt'));
	const dialog = page.getByRole('dialog', { name: 'Temporary Link' });
	await dialog.getByRole('button', { name: 'Generate Link' }).click();
	await dialog.getByRole('alert').filter({ hasText: 'Error generating temporary link' }).waitFor();
	await dialog.getByRole('button', { name: 'Cancel' }).click();
	await overlaysClosed(page);

	await page.evaluate(() => {
		document.execCommand = () => false;
	});
	const link = await makeLink(page, 'hare.txt', '1 day');
	await dialog.getByRole('button', { name: 'Copy Link' }).click();
	await dialog.getByRole('alert').filter({ hasText: 'Failed to copy temporary link' }).waitFor();
	t.is(await page.evaluate(() => String(window.getSelection())), link, 'the link is selected, to be copied by hand');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await rowOf(page, 'Public').click();
	await choose(page, 'plain.txt', 'Copy Link');
	await expectNotice(page, 'Failed to copy link', '/api/download/plain.txt');
	const address = `${ada.url}/api/download/plain.txt?type=public&owner=${ada.username}`;
	await eventually(t, () => page.evaluate(() => String(window.getSelection())), address, 'it is selected, too');
	await page.keyboard.press('Control+C');
	t.is(await clipboardText(page), address);
	await choose(page, 'other.txt', 'Copy Link');
	const other = address.replace('plain', 'other');
	await expectNotice(page, 'Failed to copy link', '/api/download/other.txt');
	await eventually(t, () => page.evaluate(() => String(window.getSelection())), other, 'in place of the one before');
	await page.getByRole('alert').filter({ hasText: other }).getByRole('button', { name: 'Close' }).click();
	await gone(t, page.getByText('Failed to copy link'));
	t.deepEqual(ada.faults, []);
});

test.serial('links that are made and copied begin with the public address of the server', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'fox.txt': text, 'Public/plain.txt': text });
	// As of a server with `publicUrl`, which is opened here by another name.
	const answer = await fetch(`${ada.origin}/api/capabilities`);
	const json = { ...((await answer.json()) as object), publicOrigin: 'https://files.example' };
	await ada.context.route('**/api/capabilities', (route) => route.fulfill({ json }));
	t.teardown(() => ada.context.unroute('**/api/capabilities'));
	const page = await ada.open('/browser?type=private');
	const made = new RegExp(`^https://files\\.example${basePath}/api/temp/[\\w-]{43}$`);
	t.regex(await makeLink(page, 'fox.txt', '1 hour'), made);
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await page.goto(`${ada.url}/browser?type=public`);
	await choose(page, 'plain.txt', 'Copy Link');
	await expectNotice(page, 'Link copied');
	const copied = `https://files.example${basePath}/api/download/plain.txt?type=public&owner=${ada.username}`;
	t.is(await clipboardText(page), copied);
	t.deepEqual(ada.faults, []);
});

test.serial(
	'links work, and shares end, by the clock of the server, however wrong that of the computer is',
	async (t) => {
		const ada = await fixture.enter(t);
		await writeFiles(ada.home, { 'fox.txt': text });
		const page = await ada.open('/browser?type=private');
		const shiftClock = (ms: number) =>
			page.evaluate((shift) => {
				const right = Date.now;
				Date.now = () => right() + shift;
			}, ms);
		const hour = 3_600_000;
		await shiftClock(2 * hour);
		await makeLink(page, 'fox.txt', '1 hour');
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
		await page.getByRole('button', { name: ada.username }).click();
		await page.getByRole('menuitem', { name: 'My links' }).click();
		await page.getByRole('dialog', { name: 'My links' }).getByText('State Active').waitFor();
		await page.keyboard.press('Escape');
		await overlaysClosed(page);

		for (const shift of [-50 * hour, 10 * 24 * hour]) {
			await shiftClock(shift);
			// What the page asks next tells it the time.
			await Promise.all([
				page.waitForResponse('**/api/checkLoginStatus'),
				page.evaluate(() => window.dispatchEvent(new Event('visibilitychange'))),
			]);
			await choose(page, 'fox.txt', 'Share');
			const dialog = page.getByRole('dialog', { name: 'Share' });
			await dialog.getByLabel('Expires').selectOption('1 day');
			const [answer] = await Promise.all([
				page.waitForResponse('**/api/shares'),
				dialog.getByRole('button', { name: 'Create Share' }).click(),
			]);
			const { expiresAt, createdAt } = (await answer.json()) as { expiresAt: number; createdAt: number };
			t.true(Math.abs(expiresAt - createdAt - 24 * hour) < 60_000, `${(expiresAt - createdAt) / hour} hours`);
			await page.keyboard.press('Escape');
			await overlaysClosed(page);
		}
		t.deepEqual(ada.faults, []);
	},
);

test.serial('Ctrl+C copies the text that is selected, and leaves what was cut as it is', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'fox.txt': text, 'hare.txt': text });
	const page = await ada.open('/browser?type=private');
	await rowOf(page, 'fox.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+X');
	const notice = page.getByText('Cut fox.txt');
	await notice.click({ clickCount: 3 });
	await page.keyboard.press('Control+C');
	t.regex(await clipboardText(page), /^Cut fox\.txt\s*$/);
	await page.locator('[role=row][data-cut=true]').filter({ hasText: 'fox' }).waitFor();
	// What is selected in the list after that is what is meant.
	await notice.click({ clickCount: 3 });
	await rowOf(page, 'hare.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+C');
	await expectNotice(page, 'Copied 2 items');

	const shared = await share(ada, { items: ['fox.txt'], message: 'Read this' });
	const { page: visitor } = await openStranger(t, shared, desktop);
	await visitor.getByRole('grid', { name: 'Files' }).waitFor();
	await visitor.getByText('Read this').click({ clickCount: 3 });
	await visitor.keyboard.press('Control+C');
	t.regex(await clipboardText(visitor), /^Read this\s*$/);
	t.deepEqual(ada.faults, []);
});

const showsThousand = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t, { viewport });
	await writeFiles(ada.home, { 'docs/fox.txt': text });
	const page = await ada.open('/browser/docs?type=private');
	const pages: string[] = [];
	const links = Array.from({ length: 1_000 }, (_, n) => ({
		id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
		path: `docs/report ${n}.pdf`,
		createdAt: Date.UTC(2031, 0, 1) - n * 60_000,
		expiresAt: Date.UTC(2031, 0, 8) - n * 60_000,
		downloads: n % 7,
	}));
	let left = links;
	await page.route('**/api/links**', async (route) => {
		const { pathname, searchParams } = new URL(route.request().url());
		if (route.request().method() === 'DELETE') {
			left = left.filter(({ id }) => !pathname.endsWith(id));
			return route.fulfill({ json: { message: 'Revoked.' } });
		}
		const after = searchParams.get('after');
		pages.push(after ?? '');
		const begin = after === null ? 0 : links.findIndex(({ id, createdAt }) => after === `${createdAt}-${id}`) + 1;
		const limit = Number(searchParams.get('limit'));
		const following = left.filter((link) => links.indexOf(link) >= begin);
		return route.fulfill({ json: following.slice(0, limit) });
	});
	const last = links.at(-1);
	const lastPage = page.waitForResponse((answer) => answer.url().includes(`after=${last?.createdAt}-${last?.id}`));
	await page.getByRole('button', { name: ada.username }).click();
	await page.getByRole('menuitem', { name: 'My links' }).click();
	const mine = page.getByRole('dialog', { name: 'My links' });
	await mine.getByText('docs/report 0.pdf').waitFor();
	const scroller = mine.locator('.bp6-table-quadrant-scroll-container').first();
	await lastPage;
	t.is(pages.length, 11, 'ten pages of a hundred, and an empty one after them');
	t.is(new Set(pages).size, 11);
	await assertAccessible(t, page, 'a thousand links');
	await eventually(
		t,
		async () => (await mine.getByRole('button', { name: /^Revoke the link/ }).count()) < 100,
		true,
		'only visible rows are rendered',
	);
	const rowHeight = viewport === phone ? 84 : 44;
	t.true((await scroller.evaluate((element) => element.scrollHeight)) >= links.length * rowHeight);
	await scroller.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
	await mine.getByText('docs/report 999.pdf').waitFor();
	await mine.getByRole('button', { name: 'Revoke the link to docs/report 998.pdf' }).click();
	await mine.getByText('docs/report 998.pdf').waitFor({ state: 'detached' });
	await mine.getByText('docs/report 999.pdf').waitFor();
	// The row goes at once, before the server has answered.
	await eventually(t, async () => left.length, 999);
	await mine.getByRole('button', { name: 'Revoke the link to docs/report 999.pdf' }).click();
	await mine.getByText('docs/report 999.pdf').waitFor({ state: 'detached' });
	await mine
		.getByRole('button', { name: 'Revoke the link to docs/report 997.pdf' })
		.and(page.locator(':focus'))
		.waitFor();
	t.deepEqual(ada.faults, []);
};
test.serial('a thousand links are shown page by page on a desktop', showsThousand, desktop);
if (isLong) test.serial('a thousand links are shown page by page on a phone', showsThousand, phone);
