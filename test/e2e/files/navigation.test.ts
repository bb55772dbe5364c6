import { rename } from 'node:fs/promises';
import test from 'ava';
import type { Locator, Page } from 'playwright-core';
import { basePath, phone } from '../support/browser.js';
import { eventually, gone } from '../support/expect.js';
import {
	expectOnDisk,
	nameIn,
	namesOf,
	overlaysClosed,
	rowOf,
	selectedNames,
	setUpFixture,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { longPress } from '../support/inputMethods.js';
import { expectNotice } from '../support/notices.js';

const fixture = withKeptPages(setUpFixture(test));

const header = (page: Page, name: string) => page.getByRole('columnheader', { name });

test.serial('a search is in the URL, counts its results, shows their folders and can be cleared', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'Report.txt': '', 'work/reports/final report.pdf': '', 'work/plan.txt': '' });
	const page = await app.open('/browser?type=private');
	const box = page.getByRole('searchbox', { name: 'Search' });
	await box.fill('report');
	await page.getByRole('button', { name: 'Search', exact: true }).click();
	await page.waitForURL('**/browser?type=private&search=report');
	await page.getByText('3 Results').waitFor();
	await page.getByRole('row', { name: /^final report\.pdf,.* in work\/reports/ }).waitFor();
	await box.fill('plan');
	await page.keyboard.press('Enter');
	await page.getByText('1 Result', { exact: true }).waitFor();
	await page.goBack();
	await page.getByText('3 Results').waitFor();
	await eventually(t, () => box.inputValue(), 'report');

	// An operation on a search result applies to the entry in its own folder.
	await nameIn(page, 'final report.pdf').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Rename' }).click();
	await page.getByRole('dialog').getByRole('textbox').fill('end report.pdf');
	await page.keyboard.press('Enter');
	await rowOf(page, 'end report.pdf').waitFor();
	await expectOnDisk(t, app.home, [
		'Public/',
		'Report.txt',
		'work/',
		'work/plan.txt',
		'work/reports/',
		'work/reports/end report.pdf',
	]);
	await page.getByRole('button', { name: 'Clear search' }).click();
	await page.waitForURL('**/browser?type=private');
	await box.and(page.locator(':focus')).waitFor();
	await rowOf(page, 'work').waitFor();
	await page.getByText('3 Results').waitFor();
	await eventually(t, () => box.inputValue(), '');
	await box.pressSequentially('abcdefghijklmnopqrstuvwxyz');
	await eventually(t, () => box.inputValue(), 'abcdefghijklmnopqrstuvwxy');
	await page.keyboard.press('Enter');
	await page.getByText('No results found').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('the first rows of a long folder are shown while the others come', async (t) => {
	const app = await fixture.enter(t);
	const many = Array.from({ length: 5_000 }, (_, n) => [`long/file ${n}.txt`, '']);
	await writeFiles(app.home, Object.fromEntries([...many, ['long/z/a.txt', '']]));
	const page = await app.open('/browser?type=private');
	const network = await page.context().newCDPSession(page);
	const bytesPerSecond = (downloadThroughput: number) =>
		network.send('Network.emulateNetworkConditions', {
			offline: false,
			latency: 0,
			downloadThroughput,
			uploadThroughput: -1,
		});
	await network.send('Network.enable');
	await bytesPerSecond(50_000);
	await nameIn(page, 'long').dblclick();
	await page
		.locator('[role=grid][aria-busy=true][aria-rowcount="-1"]')
		.getByText('file 0', { exact: false })
		.first()
		.waitFor();
	await page.waitForURL('**/browser/long?type=private');
	await bytesPerSecond(-1);
	await page.locator('[role=grid][aria-busy=false][aria-rowcount="5003"]').waitFor();
	await eventually(t, async () => (await namesOf(page)).slice(0, 4), ['z', 'file 0.txt', 'file 1.txt', 'file 2.txt']);
	// Also where the page begins with it.
	await bytesPerSecond(50_000);
	await page.reload({ waitUntil: 'commit' });
	await page.locator('[role=grid][aria-busy=true]').getByText('file 0', { exact: false }).first().waitFor();
	await bytesPerSecond(-1);
	await nameIn(page, 'z').dblclick();
	await rowOf(page, 'a.txt').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('letters filter and headers sort the list, and Back and a reload restore it', async (t) => {
	const app = await fixture.enter(t);
	const many = Array.from({ length: 300 }, (_, n) => [`file ${n}.txt`, 'x'.repeat(n)]);
	await writeFiles(app.home, { ...Object.fromEntries(many), '2 tea.txt': '', 'Zoo/inside.txt': '', 'bee.txt': 'bb' });
	const page = await app.open('/browser?type=private');
	const letters = page.getByRole('group', { name: 'Filter by first letter' });
	const letter = (name: string) => letters.getByRole('button', { name, exact: true });
	await eventually(t, () => letter('ALL').getAttribute('aria-pressed'), 'true');
	await letter('#').click();
	await eventually(t, () => namesOf(page), ['2 tea.txt']);
	await page.getByText('1 Result', { exact: true }).waitFor();
	await letter('B').click();
	await eventually(t, () => namesOf(page), ['bee.txt']);
	await eventually(t, () => letter('B').getAttribute('aria-pressed'), 'true');
	await letter('Q').click();
	await page.getByText('No results match filter').waitFor();
	await page.getByRole('button', { name: 'Show all' }).click();

	await eventually(t, () => header(page, 'Type').getAttribute('aria-sort'), 'ascending');
	await eventually(t, async () => (await namesOf(page)).slice(0, 5), [
		'Public',
		'Zoo',
		'2 tea.txt',
		'bee.txt',
		'file 0.txt',
	]);
	const sort = async (column: string, direction: string, first: string) => {
		// In the middle of the header, which may be far from its text.
		await header(page, column).click();
		await header(page, column)
			.and(page.locator(`[aria-sort=${direction}]`))
			.waitFor();
		await eventually(t, async () => (await namesOf(page))[0], first);
		await eventually(t, () => page.locator('[aria-sort=ascending], [aria-sort=descending]').count(), 1);
	};
	await sort('Name', 'ascending', '2 tea.txt');
	await sort('Name', 'descending', 'Zoo');
	await sort('Size', 'ascending', '2 tea.txt');
	await sort('Size', 'descending', 'file 299.txt');
	await eventually(t, async () => (await namesOf(page)).slice(0, 2), ['file 299.txt', 'file 298.txt']);
	await sort('Count', 'ascending', '2 tea.txt');
	await sort('Count', 'descending', 'Zoo');
	await sort('Name', 'ascending', '2 tea.txt');

	// From a scrolled, filtered list with a selection to another area and back.
	await letter('F').click();
	const scroller = page.locator('[role=rowgroup]').nth(1);
	await scroller.evaluate((element) => element.scrollTo({ top: 4000 }));
	await rowOf(page, 'file 102.txt').click({ modifiers: ['Control'] });
	await rowOf(page, 'file 104.txt').click({ modifiers: ['Shift'] });
	const expectRestored = async (what: string) => {
		await rowOf(page, 'file 103.txt').waitFor();
		await eventually(t, () => selectedNames(page), ['file 102.txt', 'file 103.txt', 'file 104.txt'], what);
		t.is(await scroller.evaluate((element) => element.scrollTop), 4000, what);
		await eventually(t, () => letter('F').getAttribute('aria-pressed'), 'true', what);
		await eventually(t, () => header(page, 'Name').getAttribute('aria-sort'), 'ascending', what);
	};
	await expectRestored('before');
	await page.getByRole('combobox', { name: 'Area' }).selectOption('public');
	await page.getByText('No results found').waitFor();
	await page.goBack();
	await expectRestored('Back');
	// Also from a folder that was left before it was loaded.
	await page.route('**/api/browse?*search=slow*', () => {});
	await page.getByRole('searchbox', { name: 'Search' }).fill('slow');
	await page.keyboard.press('Enter');
	await page.locator('[role=grid][aria-busy=true]').waitFor();
	await page.goBack();
	await expectRestored('Back at once');
	await page.reload();
	await expectRestored('a reload');
	t.deepEqual(app.faults, []);
});

test.serial(
	'going up moves the cursor to the folder that was left, and Home leads to the root and then to the landing page',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, { 'one/two/three/x.txt': '', 'one/another/': '' });
		const page = await app.open('/browser/one/two/three?type=private');
		await page.keyboard.press('Backspace');
		await rowOf(page, 'three').and(page.locator('[tabindex="0"]')).waitFor();
		await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByText('one').click();
		await page.waitForURL('**/browser/one?type=private');
		await rowOf(page, 'another').waitFor();
		await page.getByRole('button', { name: 'Home' }).click();
		await page.waitForURL('**/browser?type=private');
		await rowOf(page, 'one').waitFor();
		await page.getByRole('button', { name: 'Home' }).click();
		await page.getByText('Drop files or click to upload').waitFor();
		t.is(new URL(page.url()).pathname, basePath === '' ? '/' : basePath);
		t.deepEqual(app.faults, []);
	},
);

test.serial('the row with the cursor stays in a low window, such as one that is zoomed in', async (t) => {
	const app = await fixture.enter(t, { viewport: { width: 640, height: 400 } });
	const names = Array.from({ length: 30 }, (_, index) => `file ${index + 10}.txt`);
	await writeFiles(app.home, Object.fromEntries(names.map((name) => [name, ''])));
	const page = await app.open('/browser?type=private');
	await rowOf(page, 'Public').focus();
	const isSeen = (name: string) =>
		rowOf(page, name)
			.and(page.locator(':focus'))
			.evaluate((row) => {
				const { left, top, bottom } = row.getBoundingClientRect();
				return [top + 2, bottom - 2].every((y) => row.contains(document.elementFromPoint(left + 80, y)));
			});
	for (const name of names) {
		await page.keyboard.press('ArrowDown');
		await eventually(t, () => isSeen(name), true, name);
	}
	await page.keyboard.press('Home');
	await eventually(t, () => isSeen('Public'), true);
	await page.evaluate(() => window.scrollTo(0, 0));
	await page.keyboard.press('End');
	await eventually(t, () => isSeen(names.at(-1) ?? ''), true, 'End');
	t.deepEqual(app.faults, []);
});

test.serial('a failed call keeps the list and shows the reason', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a', 'b.txt': 'b', 'gone.txt': '' });
	const page = await app.open('/browser?type=private');
	const dialog = page.getByRole('dialog');
	await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('F2');
	await dialog.getByRole('textbox').fill('b.txt');
	await page.keyboard.press('Enter');
	await expectNotice(page, 'Error renaming item', 'b.txt');
	await eventually(t, () => dialog.getByRole('textbox').inputValue(), 'b.txt', 'the typed name can be corrected');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await eventually(t, () => selectedNames(page), ['a.txt']);

	await page.route('**/api/deleteItem', (route) => route.fulfill({ status: 502, body: '<html>Bad gateway</html>' }));
	await page.keyboard.press('Delete');
	await dialog.getByRole('button', { name: 'Delete' }).click();
	await expectNotice(page, 'Failed to delete any items', 'HTTP error! status: 502');
	await page.unroute('**/api/deleteItem');
	await eventually(t, () => selectedNames(page), ['a.txt']);

	// An entry that another program has renamed meanwhile is reported and disappears from the list.
	await nameIn(page, 'gone.txt').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Rename' }).click();
	await dialog.getByRole('textbox').fill('new.txt');
	await rename(`${app.home}/gone.txt`, `${app.home}/elsewhere.txt`);
	await page.keyboard.press('Enter');
	await expectNotice(page, 'Error renaming item', 'No such file');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await rowOf(page, 'elsewhere.txt').waitFor();
	await gone(t, rowOf(page, 'gone.txt'));

	// If one of several fails, the others are done.
	await writeFiles(app.home, { 'Target/': '' });
	await page.reload();
	await rowOf(page, 'Target').waitFor();
	await page.keyboard.press('Escape');
	await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
	await rowOf(page, 'b.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+x');
	await rename(`${app.home}/b.txt`, `${app.home}/Public/b.txt`);
	await nameIn(page, 'Target').click();
	await rowOf(page, 'Up Directory').waitFor();
	await page.keyboard.press('Control+v');
	await expectNotice(page, 'Pasted 1 item. 1 failed.', 'No such file');
	await expectOnDisk(t, app.home, ['Public/', 'Public/b.txt', 'Target/', 'Target/a.txt', 'elsewhere.txt']);
	await page.goto(`${app.url}/browser/nowhere?type=private`);
	await page.getByText('Error loading files').waitFor();
	await page.getByText('There is no such folder').waitFor();
	await page.getByRole('button', { name: 'Home' }).click();
	await rowOf(page, 'Target').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('a failed refresh keeps the list, shows the reason, and can be tried again', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a', 'b.txt': 'b' });
	const page = await app.open('/browser?type=private');
	await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
	const unavailable = {
		statusCode: 503,
		code: 'UNAVAILABLE',
		error: 'x',
		message: 'The storage is not available right now.',
	};
	await page.route('**/api/browse?**', (route) => route.fulfill({ status: 503, json: unavailable }));
	const list = await page.getByRole('grid', { name: 'Files' }).boundingBox();
	if (!list) throw new Error('The list is not on screen.');
	await page.mouse.click(list.x + list.width / 2, list.y + list.height - 20, { button: 'right' });
	await page.getByRole('menuitem', { name: 'Refresh' }).click();
	await expectNotice(page, 'Error loading files', 'The storage is not available right now.');
	await eventually(t, () => namesOf(page), ['Public', 'a.txt', 'b.txt']);
	await eventually(t, () => selectedNames(page), ['a.txt']);

	await page.unroute('**/api/browse?**');
	await page.getByRole('button', { name: 'Try Again' }).click();
	await page.getByText('Error loading files').waitFor({ state: 'detached' });
	t.deepEqual(app.faults, []);
});

test.serial('the list recovers from a lost network and from a silent server without a reload', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a' });
	const page = await app.open('/browser?type=private');
	await app.context.setOffline(true);
	await page.getByText('You are offline. What you see may be out of date.').waitFor();
	await rowOf(page, 'a.txt').waitFor();
	await nameIn(page, 'a.txt').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Delete' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
	await expectNotice(page, 'Failed to delete any items', 'Network error');
	await writeFiles(app.home, { 'b.txt': 'b' });
	await app.context.setOffline(false);
	await rowOf(page, 'b.txt').waitFor();
	await page.getByText('You are offline.').waitFor({ state: 'detached' });

	await overlaysClosed(page);
	await page.keyboard.press('Escape');
	await page.route('**/api/**', (route) => route.abort());
	await page.getByRole('button', { name: 'Actions', exact: true }).click();
	await page.getByRole('menuitem', { name: 'Refresh' }).click();
	await page.getByText('The server does not answer. Trying again…').waitFor();
	await eventually(t, () => rowOf(page, 'a.txt').count(), 1, 'the list stays');
	await writeFiles(app.home, { 'c.txt': 'c' });
	await page.unroute('**/api/**');
	await rowOf(page, 'c.txt').waitFor();
	await page.getByText('The server does not answer.').waitFor({ state: 'detached' });
	t.deepEqual(app.faults, []);
});

test.serial('on a phone the list stays where it is when something is selected', async (t) => {
	const app = await fixture.enter(t, { viewport: phone, hasTouch: true });
	await writeFiles(app.home, { 'a.txt': 'a', 'b.txt': 'b' });
	const page = await app.open('/browser?type=private');
	const topOf = () => rowOf(page, 'b.txt').evaluate((row) => row.getBoundingClientRect().top);
	await page.getByText('Tap an icon to select').waitFor();
	const top = await topOf();
	await rowOf(page, 'a.txt').locator('[data-column=type]').tap();
	await page.getByText('1 Selected').waitFor();
	t.is(await topOf(), top);
	t.deepEqual(app.faults, []);
});

test.serial(
	'on a phone a tap opens an entry, its icon selects it, and a long press or its button opens the menu',
	async (t) => {
		const app = await fixture.enter(t, { viewport: phone, hasTouch: true });
		await writeFiles(app.home, { 'a.txt': 'a', 'b.txt': 'b', 'Folder/inside.txt': 'i' });
		const page = await app.open('/browser?type=private');
		const dialog = page.getByRole('dialog');

		await longPress(page, nameIn(page, 'a.txt'));
		await expectOnScreen(t, page, page.getByRole('menu'));
		await page.getByRole('menuitem', { name: 'Rename' }).tap();
		await expectFullScreen(page, dialog);
		await dialog.getByRole('textbox').fill('first.txt');
		await dialog.getByRole('button', { name: 'Rename' }).tap();
		await rowOf(page, 'first.txt').waitFor();
		await overlaysClosed(page);
		t.is(new URL(page.url()).pathname, `${basePath}/browser`, 'lifting the finger opens nothing');

		await rowOf(page, 'b.txt').getByRole('button', { name: 'Actions for b.txt' }).tap();
		await expectOnScreen(t, page, page.getByRole('menu'));
		await page.getByRole('menuitem', { name: 'Cut' }).tap();
		await page.keyboard.press('Escape');
		await nameIn(page, 'Folder').tap();
		await rowOf(page, 'inside.txt').waitFor();
		await page.getByRole('button', { name: 'Actions', exact: true }).tap();
		await page.getByRole('menuitem', { name: 'Paste' }).tap();
		await rowOf(page, 'b.txt').waitFor();
		await expectOnDisk(t, app.home, ['Folder/', 'Folder/b.txt', 'Folder/inside.txt', 'Public/', 'first.txt']);

		await rowOf(page, 'b.txt').locator('[data-column=type]').tap();
		await rowOf(page, 'inside.txt').locator('[data-column=type]').tap();
		await page.getByText('2 Selected').waitFor();
		await page.getByRole('button', { name: 'Actions', exact: true }).tap();
		await page.getByRole('menuitem', { name: 'Delete' }).tap();
		await expectFullScreen(page, dialog);
		await dialog.getByRole('button', { name: 'Delete' }).tap();
		await expectOnDisk(t, app.home, ['Folder/', 'Public/', 'first.txt']);
		for (const width of [390, 360]) {
			await page.setViewportSize({ width, height: 844 });
			await page.waitForFunction((shown) => {
				const { scrollWidth } = document.documentElement;
				return window.innerWidth === shown && scrollWidth <= shown;
			}, width);
		}
		t.deepEqual(app.faults, []);
	},
);

async function expectOnScreen(t: { true(value: boolean, message?: string): unknown }, page: Page, element: Locator) {
	const box = await element.boundingBox();
	const size = page.viewportSize();
	if (!box || !size) throw new Error('It is not on screen.');
	const { x, y, width, height } = box;
	t.true(x >= 0 && y >= 0 && x + width <= size.width && y + height <= size.height, JSON.stringify(box));
}

/** Waits until a dialog fills the screen. */
async function expectFullScreen(page: Page, dialog: Locator): Promise<void> {
	await dialog.waitFor();
	await page.waitForFunction(() => {
		const box = document.querySelector('[role=dialog]')?.getBoundingClientRect();
		return box && box.width >= window.innerWidth && box.height >= window.innerHeight && box.top <= 0;
	});
}

test.serial('Back closes the viewer, the menu and the dialog of the folder that is left', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'docs/a.txt': 'a' });
	const page = await app.open('/browser?type=private');
	const opened: [name: string, open: () => Promise<void>, shown: Locator][] = [
		['the viewer', () => nameIn(page, 'a.txt').click(), page.getByRole('dialog', { name: 'a.txt' })],
		['the menu', () => nameIn(page, 'a.txt').click({ button: 'right' }), page.getByRole('menu')],
		[
			'the dialog',
			async () => {
				await nameIn(page, 'a.txt').click({ modifiers: ['Control'] });
				await page.keyboard.press('F2');
			},
			page.getByRole('dialog', { name: 'Rename' }),
		],
	];
	for (const [name, open, shown] of opened) {
		await nameIn(page, 'docs').click();
		await rowOf(page, 'a.txt').waitFor();
		await open();
		await shown.waitFor();
		await page.goBack();
		await rowOf(page, 'docs').waitFor();
		await overlaysClosed(page);
		await gone(t, shown, name);
	}
	t.deepEqual(app.faults, []);
});
