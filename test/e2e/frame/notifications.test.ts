import { gzipSync } from 'node:zlib';
import test from 'ava';
import type { Response } from 'playwright-core';
import { phone } from '../support/browser.js';
import { absent, eventually, gone } from '../support/expect.js';
import { rowOf, setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { holdTimers, noHeldTimers, releaseTimers } from '../support/heldTimers.js';
import { expectNotice, noticeMs } from '../support/notices.js';

const fixture = withKeptContexts(setUpFixture(test));

test.serial(
	'a notice disappears after three seconds under a resting mouse, and stays while the mouse moves over it',
	async (t) => {
		const manager = await fixture.enter(t);
		await writeFiles(manager.home, { 'a.txt': 'a' });
		await holdTimers(manager.context, noticeMs);
		const page = await manager.open('/browser?type=private');
		const notice = page.getByRole('status').filter({ hasText: 'Copied a.txt' });
		await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
		// At the position of the bar.
		await page.mouse.move(640, 760);
		await page.keyboard.press('Control+c');
		await notice.waitFor();
		await releaseTimers(page);
		await notice.waitFor({ state: 'detached' });

		await page.keyboard.press('Control+c');
		await notice.waitFor();
		await page.mouse.move(650, 762);
		await noHeldTimers(page);
		await eventually(t, () => notice.isVisible(), true);
		await page.mouse.move(640, 300);
		await releaseTimers(page);
		await notice.waitFor({ state: 'detached' });
		t.deepEqual(manager.faults, []);
	},
);

test.serial('a part of the page that can’t be loaded causes a notice, and can be loaded later', async (t) => {
	const manager = await fixture.enter(t);
	await writeFiles(manager.home, { 'a.txt': 'a' });
	const page = await manager.open('/browser?type=private');
	const account = page.getByRole('button', { name: manager.username });
	const missing = /\/(UserMenu|SettingsDialog|LinksTable)-[^/]*\.js$/;
	// Like after an upgrade, when the files have other names.
	await page.route(missing, (route) => route.fulfill({ status: 404 }));
	await account.click();
	await expectNotice(page, 'This could not be loaded.', 'Reload the page and try again.');
	await page.unroute(missing);
	await account.click();
	// The menu is loaded, the dialog is not.
	await page.getByRole('menuitem', { name: 'Settings' }).waitFor();
	await page.route(missing, (route) => route.fulfill({ status: 404 }));
	await page.getByRole('menuitem', { name: 'Settings' }).click();
	await expectNotice(page, 'This could not be loaded.');
	await absent(t, page.getByRole('dialog'));
	await page.unroute(missing);
	await account.click();
	await page.getByRole('menuitem', { name: 'Settings' }).click();
	await page.getByRole('dialog', { name: 'Settings' }).waitFor();
	await page.keyboard.press('Escape');
	await rowOf(page, 'a.txt').waitFor();
	// The browser logs each file that it could not load.
	t.deepEqual(
		manager.faults.filter((fault) => !fault.includes('404')),
		[],
	);
});

test.serial('after an upgrade the page offers to reload, once its uploads have ended', async (t) => {
	const manager = await fixture.enter(t);
	const page = await manager.context.newPage();
	await page.goto(manager.url);
	const upgraded = /\/UserMenu-[^/]*\.js$/;
	await page.route(upgraded, (route) => route.fulfill({ status: 404 }));
	await page.route(
		(url) => url.pathname === '/',
		(route) => route.fulfill({ contentType: 'text/html', body: '<script type="module" src="assets/index-new.js">' }),
	);
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	await page.route(/\/api\/(upload|uploads)\b/, async (route) => {
		await held;
		await route.continue();
	});
	await page.setInputFiles('input[type=file]', { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
	await page.getByRole('button', { name: 'Upload All' }).click();
	await page.getByRole('button', { name: manager.username }).click();
	const notice = page.getByRole('status').filter({ hasText: 'A new version is there.' });
	await notice.getByText('Reload the page once the uploads have ended.').waitFor();
	await absent(t, notice.getByRole('button', { name: 'Reload' }));
	release();
	const reload = notice.getByRole('button', { name: 'Reload' });
	await reload.waitFor();
	await page.unrouteAll({ behavior: 'wait' });
	// Waited for from before: a quick page is loaded by the time that the click returns.
	await Promise.all([page.waitForEvent('load'), reload.click()]);
	await page.getByRole('button', { name: manager.username }).click();
	await page.getByRole('menuitem', { name: 'Settings' }).waitFor();
	t.deepEqual(
		manager.faults.filter((fault) => !fault.includes('404')),
		[],
	);
});

test.serial('the landing page has less than 200 kB of script', async (t) => {
	const manager = await fixture.enter(t);
	const page = await manager.context.newPage();
	const scripts: Response[] = [];
	page.on('response', (response) => {
		if (response.request().resourceType() === 'script') scripts.push(response);
	});
	await page.goto(manager.url);
	await page.getByRole('button', { name: manager.username }).waitFor();
	await page.waitForLoadState('networkidle');
	// Read now: a body that is asked for when a late script arrives can't be read once the page is closed.
	const bodies = await Promise.all(scripts.map((response) => response.body()));
	const total = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0);
	t.log(`${(total / 1000).toFixed(0)} kB`);
	t.true(total > 50_000 && total < 200_000, `${total}`);
});

test.serial('notices lie below a high dialog, beside each other', async (t) => {
	const manager = await fixture.enter(t);
	const name = `${'a long name '.repeat(15)}.txt`;
	await writeFiles(manager.home, { [name]: 'a' });
	await holdTimers(manager.context, noticeMs);
	const page = await manager.open('/browser?type=private');
	await rowOf(page, name).click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+c');
	await page.keyboard.press('Control+x');
	await page.getByRole('status').filter({ hasText: 'Cut a long name' }).waitFor();
	await page.getByRole('button', { name: 'Settings' }).click();
	const settings = page.getByRole('dialog', { name: 'Settings' });
	await settings.getByText('Two-factor sign-in').waitFor();
	const areApart = () =>
		settings.evaluate((dialog) => {
			const { bottom } = dialog.getBoundingClientRect();
			const notices = [...document.querySelectorAll('[aria-live="polite"] > [data-intent]')];
			const tops = notices.map((notice) => notice.getBoundingClientRect().top);
			return [tops.length, tops.every((top) => top >= bottom)];
		});
	await eventually(t, areApart, [2, true]);
	t.deepEqual(manager.faults, []);
});

test.serial('on a phone a new row is above its notice, and stays there when that goes', async (t) => {
	const manager = await fixture.enter(t, { viewport: phone });
	await writeFiles(manager.home, Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`file ${n}.txt`, 'a'])));
	await holdTimers(manager.context, noticeMs);
	const page = await manager.open('/browser?type=private');
	await page.getByRole('button', { name: 'Actions', exact: true }).click();
	await page.getByRole('menuitem', { name: 'Create File' }).click();
	await page.getByRole('textbox', { name: 'File name' }).fill('file 30.txt');
	await page.keyboard.press('Enter');
	const notice = page.getByRole('status').filter({ hasText: 'Created file 30.txt' });
	await notice.waitFor();
	const rowTop = async () => (await rowOf(page, 'file 30.txt').boundingBox())?.y ?? Number.NaN;
	const noticeTop = async () => (await notice.boundingBox())?.y ?? 0;
	await eventually(t, async () => (await rowTop()) + 40 <= (await noticeTop()), true);
	const before = await rowTop();
	await releaseTimers(page);
	await gone(t, notice);
	await eventually(t, rowTop, before);
	t.deepEqual(manager.faults, []);
});

test.serial('a notice that stays hides no row for good, and a low window scrolls to the list', async (t) => {
	const manager = await fixture.enter(t);
	await writeFiles(manager.home, Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`file ${n}.txt`, 'a'])));
	const page = await manager.open('/browser?type=private');
	await page.setViewportSize({ width: 390, height: 844 });
	await page.route('**/api/browse?**', (route) => route.fulfill({ status: 503, body: '' }));
	await page.evaluate(() => window.dispatchEvent(new Event('focus')));
	const notice = page.getByRole('alert').filter({ hasText: 'Error loading files' });
	await notice.waitFor();
	await rowOf(page, 'file 0.txt').focus();
	await page.keyboard.press('End');
	const bottomOf = (row: ReturnType<typeof rowOf>) => async () => (await row.boundingBox())?.y ?? Number.NaN;
	const last = rowOf(page, 'file 29.txt');
	await last.and(page.locator(':focus')).waitFor();
	const top = (await notice.boundingBox())?.y ?? 0;
	await eventually(t, async () => (await bottomOf(last)()) + 30 < top, true, 'the row with the focus is seen');

	await page.setViewportSize({ width: 320, height: 180 });
	await eventually(t, async () => (await page.getByRole('row').count()) < 25, true, 'only rows on screen are drawn');
	await last.scrollIntoViewIfNeeded();
	const isInWindow = async () => {
		const box = await last.boundingBox();
		return box !== null && box.y >= 0 && box.y + box.height <= 180;
	};
	await eventually(t, isInWindow, true);
});
