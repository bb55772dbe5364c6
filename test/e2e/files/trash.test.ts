import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { desktop, openPage, phone } from '../support/browser.js';
import { absent, eventually, eventuallyMatches, gone } from '../support/expect.js';
import {
	expectFocusInList,
	expectOnDisk,
	expectSelected,
	type FileManager,
	menuItems,
	nameIn,
	namesOf,
	overlaysClosed,
	rowOf,
	setUpFixture,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { holdTimers, releaseTimers } from '../support/heldTimers.js';
import { keyboard, mouse } from '../support/inputMethods.js';
import { expectNotice, noticeMs } from '../support/notices.js';

const fixture = withKeptPages(setUpFixture(test));
const withoutTrash = withKeptPages(setUpFixture(test, ['--trash-keep-for', '0']));

const contents = { 'docs/a.txt': 'a', 'docs/deep/b.txt': 'bb', 'c.txt': 'ccc' };

/** Makes a call as another client of the user does. */
async function call({ context, origin }: FileManager, method: string, at: string, body?: object) {
	const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
	const answer = await fetch(`${origin}/api/${at}`, {
		method,
		headers: { cookie, ...(body ? { 'content-type': 'application/json' } : {}) },
		...(body ? { body: JSON.stringify(body) } : {}),
	});
	if (!answer.ok) throw new Error(`${method} ${at}: ${await answer.text()}`);
	return answer.json();
}

/** Deletes items of the private area as their user, and waits until it is done. */
async function remove(app: FileManager, ...filePaths: string[]): Promise<void> {
	for (const filePath of filePaths) await call(app, 'DELETE', 'deleteItem', { filePath, type: 'private' });
}

/** Waits until the trash on the disk has so many items, of all users. */
const expectKept = (t: ExecutionContext, app: FileManager, before: number, added: number) =>
	eventually(t, async () => (await inTrash(app)) - before, added);

async function inTrash({ files }: FileManager): Promise<number> {
	const names = await readdir(path.join(files, '.stowage/trash')).catch(() => []);
	return names.filter((name) => /^[0-9a-f]{32}$/.test(name)).length;
}

const toolbarButton = (page: Page, name: string) =>
	page.getByRole('region', { name: 'Trash' }).getByRole('button', { name, exact: true });

async function openTrash(page: Page, username: string): Promise<void> {
	await page.getByRole('button', { name: username }).click();
	await page.getByRole('menuitem', { name: 'Trash' }).click();
	await page.waitForURL('**/trash');
}

test.serial(
	'an open trash, and a notice, follow what another client deletes, restores and removes for good',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, contents);
		const page = await app.open('/browser?type=private');
		await mouse.onEntry(page, 'c.txt', 'Delete');
		await mouse.confirm(page, 'Delete');
		const notice = page.getByRole('status').filter({ hasText: 'Deleted c.txt' });
		// It stays while it is pointed at.
		await notice.hover();
		await gone(t, rowOf(page, 'c.txt'));
		// The event of the deletion itself may come as late.
		await page.waitForFunction(
			(begun) => performance.now() - begun > 1500,
			await page.evaluate(() => performance.now()),
		);
		const [kept] = (await call(app, 'GET', 'trash')).entries;
		await call(app, 'POST', 'trash/restore', { ids: [kept.id] });
		await rowOf(page, 'c.txt').waitFor();
		await gone(t, notice);

		await openTrash(page, app.username);
		await page.getByText('The trash is empty').waitFor();
		await remove(app, 'c.txt', 'docs/deep');
		await eventually(t, () => namesOf(page), ['deep', 'c.txt']);
		const { entries } = await call(app, 'GET', 'trash');
		await call(app, 'POST', 'trash/restore', { ids: [entries[0].id] });
		await eventually(t, () => namesOf(page), ['c.txt']);
		await call(app, 'DELETE', 'trash');
		await page.getByText('The trash is empty').waitFor();
	},
);

test.serial('what was deleted is in the trash with its folder, and restored to it from there', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, contents);
	const page = await app.open('/browser/docs?type=private');
	await mouse.onEntry(page, 'a.txt', 'Delete');
	await page
		.getByRole('dialog', { name: 'Delete' })
		.getByText('a.txt will be moved to the trash and deleted forever after 30 days.')
		.waitFor();
	await mouse.confirm(page, 'Delete');
	await expectNotice(page, 'Deleted a.txt');
	await expectOnDisk(t, app.home, ['Public/', 'c.txt', 'docs/', 'docs/deep/', 'docs/deep/b.txt']);
	await mouse.onEntry(page, 'deep', 'Delete');
	await mouse.confirm(page, 'Delete');
	await expectNotice(page, 'Deleted deep');

	await openTrash(page, app.username);
	await page.getByText('Items are deleted forever after 30 days.').waitFor();
	await rowOf(page, 'deep').waitFor();
	await eventually(t, () => namesOf(page), ['deep', 'a.txt'], 'the newest first');
	await eventually(t, () => page.getByRole('columnheader').allInnerTexts(), [
		'Type',
		'Name',
		'Original folder',
		'Deleted',
		'Size',
		'Actions',
	]);
	await eventuallyMatches(
		t,
		() => rowOf(page, 'a.txt').getAttribute('aria-label'),
		/^a\.txt, text file, from docs, deleted \w+ \d+, \d+ \d+:\d+ [AP]M, 1 B$/,
	);
	await eventually(t, () => rowOf(page, 'deep').locator('[data-column=size]').textContent(), '2 B');

	// Nothing in the trash is opened: a click selects.
	await nameIn(page, 'a.txt').click();
	await expectSelected(t, page, 'a.txt');
	await toolbarButton(page, 'Restore').click();
	await expectNotice(page, 'Restored a.txt');
	await gone(t, rowOf(page, 'a.txt'));
	await expectFocusInList(page);
	await expectOnDisk(t, app.home, ['Public/', 'c.txt', 'docs/', 'docs/a.txt']);
	await nameIn(page, 'deep').click({ button: 'right' });
	await eventually(t, () => menuItems(page), ['Restore', 'Delete forever']);
	await page.getByRole('menuitem', { name: 'Restore' }).click();
	await expectNotice(page, 'Restored deep');
	await page.getByText('The trash is empty').waitFor();
	await eventually(t, () => toolbarButton(page, 'Empty Trash').isDisabled(), true);

	await page.getByRole('status').filter({ hasText: 'Restored deep' }).getByRole('button', { name: 'Show' }).click();
	await expectSelected(t, page, 'deep');
	await rowOf(page, 'a.txt').waitFor();
	await expectOnDisk(t, app.home, ['Public/', 'c.txt', 'docs/', 'docs/a.txt', 'docs/deep/', 'docs/deep/b.txt']);
	t.deepEqual(app.faults, []);
});

test.serial('items of the trash are deleted forever, some or all, after a question', async (t) => {
	const app = await fixture.enter(t);
	const before = await inTrash(app);
	await writeFiles(app.home, { ...contents, 'd.txt': 'd' });
	await remove(app, 'docs/a.txt', 'docs', 'c.txt', 'd.txt');
	const page = await app.open('/trash');
	const dialog = page.getByRole('dialog');
	await expectKept(t, app, before, 4);
	await nameIn(page, 'a.txt').click();
	await nameIn(page, 'docs').click({ modifiers: ['Control'] });
	await toolbarButton(page, 'Delete forever').click();
	await page
		.getByRole('dialog', { name: 'Delete forever' })
		.getByText('Delete 2 items forever? This cannot be undone.')
		.waitFor();
	await mouse.cancel(page);
	await expectSelected(t, page, 'docs', 'a.txt');
	await page.keyboard.press('Delete');
	await dialog.getByText('docs/a.txt').waitFor();
	await mouse.confirm(page, 'Delete forever');
	await expectNotice(page, 'Deleted 2 items forever');
	await eventually(t, () => namesOf(page), ['d.txt', 'c.txt']);
	await expectKept(t, app, before, 2);
	await toolbarButton(page, 'Empty Trash').click();
	await page.getByRole('dialog', { name: 'Empty Trash' }).getByText('(2 items, 4 B)').waitFor();
	await mouse.cancel(page);
	await eventually(t, () => namesOf(page), ['d.txt', 'c.txt']);
	await toolbarButton(page, 'Empty Trash').click();
	await mouse.confirm(page, 'Empty Trash');
	await expectNotice(page, 'The trash is empty now');
	// The button that had the focus is disabled.
	await expectFocusInList(page);
	await page.getByText('What you delete is kept here until it is deleted forever.').waitFor();
	await expectKept(t, app, before, 0);
	await expectOnDisk(t, app.home, ['Public/']);
	t.deepEqual(app.faults, []);
});

test.serial('Shift+Delete and a box of the question delete past the trash', async (t) => {
	const app = await fixture.enter(t);
	const before = await inTrash(app);
	await writeFiles(app.home, contents);
	const page = await app.open('/browser?type=private');
	const dialog = page.getByRole('dialog');
	await rowOf(page, 'c.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('Shift+Delete');
	await page.getByRole('dialog', { name: 'Delete forever' }).getByText('Delete c.txt forever?').waitFor();
	await mouse.confirm(page, 'Delete forever');
	await expectNotice(page, 'Deleted c.txt forever');
	await mouse.onEntry(page, 'docs', 'Delete');
	await dialog.getByText('A folder goes with everything in it.').waitFor();
	await dialog.getByText('Delete forever').click();
	await eventually(t, () => dialog.getByRole('checkbox', { name: 'Delete forever' }).isChecked(), true);
	await dialog.getByText('Delete docs forever? This cannot be undone.').waitFor();
	await mouse.confirm(page, 'Delete');
	await expectNotice(page, 'Deleted docs forever');
	await expectOnDisk(t, app.home, ['Public/']);
	t.is(await inTrash(app), before);
	await page.keyboard.press('Shift+Delete');
	await absent(t, dialog);
	t.deepEqual(app.faults, []);
});

test.serial(
	'without a trash the question says that it cannot be undone, and there is no Trash in the menu',
	async (t) => {
		const app = await withoutTrash.enter(t);
		await writeFiles(app.home, contents);
		const page = await app.open('/browser?type=private');
		await mouse.onEntry(page, 'c.txt', 'Delete');
		await page.getByRole('dialog').getByText('Delete c.txt? This cannot be undone.').waitFor();
		await absent(t, page.getByRole('checkbox'));
		await mouse.confirm(page, 'Delete');
		await expectNotice(page, 'Deleted c.txt');
		await page.getByRole('button', { name: app.username }).click();
		await page.getByRole('menuitem', { name: 'My links' }).waitFor();
		await absent(t, page.getByRole('menuitem', { name: 'Trash' }));
		t.deepEqual(app.faults, []);
	},
);

test.serial(
	'a page whose server has no trash any more deletes nothing for good that was to go there, and says so',
	async (t) => {
		const app = await withoutTrash.enter(t);
		await writeFiles(app.home, contents);
		const json = await (await fetch(`${app.origin}/api/capabilities`)).json();
		const month = 30 * 24 * 60 * 60_000;
		// The answer before the server was restarted, which the page has not noticed.
		await app.context.route('**/api/capabilities', (route) =>
			route.fulfill({ json: { ...json, trashKeepFor: month } }),
		);
		t.teardown(() => app.context.unroute('**/api/capabilities'));
		const page = await app.open('/browser?type=private');
		await mouse.onEntry(page, 'c.txt', 'Delete');
		await page.getByRole('dialog').getByText('c.txt will be moved to the trash').waitFor();
		await app.context.unroute('**/api/capabilities');
		const asked = page.waitForResponse('**/api/capabilities');
		await mouse.confirm(page, 'Delete');
		await expectNotice(page, 'Failed to delete any items', 'There is no trash: c.txt can only be deleted forever.');
		await asked;
		await mouse.onEntry(page, 'c.txt', 'Delete');
		await page.getByRole('dialog').getByText('Delete c.txt? This cannot be undone.').waitFor();
		await mouse.confirm(page, 'Delete');
		await expectNotice(page, 'Deleted c.txt');
		t.deepEqual(app.faults, []);
	},
);

test.serial('the trash works by keyboard alone, and is sorted by each of its columns', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'b/2.txt': '2', 'a/10.txt': '1010', '3.txt': '333' });
	await remove(app, 'b/2.txt', '3.txt', 'a/10.txt');
	const page = await app.open('/trash');
	await eventually(t, () => namesOf(page), ['10.txt', '3.txt', '2.txt']);
	const sorted = async (column: string, ...expected: string[]) => {
		await page.getByRole('columnheader', { name: column }).getByRole('button').press('Enter');
		await eventually(t, () => namesOf(page), expected, column);
	};
	await sorted('Name', '2.txt', '3.txt', '10.txt');
	await sorted('Size', '2.txt', '3.txt', '10.txt');
	await sorted('Original folder', '10.txt', '2.txt', '3.txt');
	await sorted('Original folder', '3.txt', '2.txt', '10.txt');
	await page.reload();
	await eventually(t, () => namesOf(page), ['3.txt', '2.txt', '10.txt'], 'the order is in the address');
	await sorted('Deleted', '10.txt', '3.txt', '2.txt');

	await rowOf(page, '10.txt').focus();
	await page.keyboard.press('Enter');
	await expectSelected(t, page, '10.txt');
	await page.keyboard.press('Shift+ArrowDown');
	await expectSelected(t, page, '10.txt', '3.txt');
	await page.keyboard.press('Shift+F10');
	await page.getByRole('menuitem', { name: 'Restore' }).and(page.locator(':focus')).waitFor();
	await page.keyboard.press('Enter');
	await expectNotice(page, 'Restored 2 items');
	await expectOnDisk(t, app.home, ['3.txt', 'Public/', 'a/', 'a/10.txt', 'b/']);
	// The row that is left has the focus.
	await rowOf(page, '2.txt').and(page.locator(':focus')).waitFor();
	for (const key of ['F2', 'F8', 'Control+x', 'Control+c', 'Backspace', 'Shift+Enter']) await page.keyboard.press(key);
	await absent(t, page.getByRole('dialog'));
	await page.keyboard.press('Delete');
	await page.getByRole('dialog', { name: 'Delete forever' }).waitFor();
	await keyboard.confirm(page, 'Delete forever');
	await expectNotice(page, 'Deleted 2.txt forever');
	await page.getByText('The trash is empty').waitFor();
	await page.getByRole('grid', { name: 'Files' }).and(page.locator(':focus')).waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('what cannot be restored is named with the reason, and stays in the trash', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'docs/a.txt': 'a', 'docs/b.txt': 'b', 'c.txt': 'c' });
	await remove(app, 'docs/a.txt', 'docs/b.txt', 'c.txt');
	await rm(path.join(app.home, 'docs'), { recursive: true });
	await writeFile(path.join(app.home, 'docs'), 'a file where the folder was');
	const page = await app.open('/trash');
	await page.keyboard.press('Control+a');
	await toolbarButton(page, 'Restore').click();
	await expectNotice(page, 'Restored c.txt');
	await expectNotice(page, '2 items could not be restored', 'a.txt: ');
	await eventually(t, async () => (await namesOf(page)).sort(), ['a.txt', 'b.txt']);
	await page.route('**/api/trash/restore', (route) => route.fulfill({ status: 502, body: '' }));
	await nameIn(page, 'a.txt').click();
	await toolbarButton(page, 'Restore').click();
	await expectNotice(page, 'a.txt could not be restored', 'HTTP error! status: 502');
	await rowOf(page, 'a.txt').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('a trash that could not be loaded can be tried again, and is skeletons while it loads', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, contents);
	await remove(app, 'c.txt');
	let answer = () => {};
	const held = new Promise<void>((resolve) => {
		answer = resolve;
	});
	await app.context.route('**/api/trash', async (route) => {
		await held;
		await route.fulfill({ status: 403, body: '{}' });
	});
	const { page } = await openPage(app.context, `${app.url}/trash`, app.faults);
	await page.locator('[role=grid][aria-busy=true]').waitFor();
	await assertAccessible(t, page, 'loading');
	answer();
	await page.getByRole('alert').getByText('Error loading files').waitFor();
	await assertAccessible(t, page, 'not loaded');
	await app.context.unroute('**/api/trash');
	await page.getByRole('button', { name: 'Try Again' }).click();
	await rowOf(page, 'c.txt').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('users see their own trash only, and visitors are asked to sign in', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, contents);
	await remove(ada, 'c.txt');
	const bob = await fixture.enter(t);
	await writeFiles(bob.home, { 'bob.txt': 'b' });
	await remove(bob, 'bob.txt');
	const page = await bob.open('/trash');
	await rowOf(page, 'bob.txt').waitFor();
	await eventually(t, () => namesOf(page), ['bob.txt']);
	const adas = await ada.open('/trash');
	await eventually(t, () => namesOf(adas), ['c.txt']);
	const visitor = await fixture.enter(t, { isVisitor: true });
	const { page: empty } = await openPage(visitor.context, `${visitor.url}/trash`, visitor.faults);
	await empty.getByRole('heading', { name: 'Sign in to see your trash' }).waitFor();
	await assertAccessible(t, empty, 'signed out');
	await empty.getByRole('main').getByRole('button', { name: 'Sign In' }).click();
	await empty.getByRole('dialog', { name: 'Sign In' }).waitFor();
	t.deepEqual([...ada.faults, ...bob.faults, ...visitor.faults], []);
});

test.serial('the trash works with a finger on a phone', async (t) => {
	const app = await fixture.enter(t, { viewport: phone, hasTouch: true });
	await writeFiles(app.home, contents);
	await remove(app, 'docs/a.txt', 'c.txt', 'docs');
	const page = await app.open('/trash');
	await rowOf(page, 'a.txt').tap();
	await expectSelected(t, page, 'a.txt');
	await rowOf(page, 'docs').locator('[data-column=type]').tap();
	await expectSelected(t, page, 'docs', 'a.txt');
	// The folder is restored before what had been deleted in it.
	await toolbarButton(page, 'Restore').tap();
	await expectNotice(page, 'Restored 2 items');
	await expectOnDisk(t, app.home, ['Public/', 'docs/', 'docs/a.txt', 'docs/deep/', 'docs/deep/b.txt']);
	await rowOf(page, 'c.txt').getByRole('button', { name: 'Actions for c.txt' }).tap();
	await page.getByRole('menuitem', { name: 'Delete forever' }).tap();
	await page.getByRole('dialog', { name: 'Delete forever' }).getByRole('button', { name: 'Delete forever' }).tap();
	await expectNotice(page, 'Deleted c.txt forever');
	await page.getByText('The trash is empty').waitFor();
	// Nothing is wider than the screen.
	t.true(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
	t.deepEqual(app.faults, []);
});

const everyState = async (t: ExecutionContext, viewport: typeof desktop) => {
	const app = await fixture.enter(t, { viewport, hasTouch: viewport === phone });
	await holdTimers(app.context, noticeMs);
	await writeFiles(app.home, contents);
	await mkdir(path.join(app.home, 'A folder with a name that is longer than the column of names'));
	const page = await app.open('/trash');
	await page.getByText('The trash is empty').waitFor();
	await assertAccessible(t, page, 'empty');
	await remove(app, 'docs/a.txt', 'docs', 'c.txt', 'A folder with a name that is longer than the column of names');
	await page.reload();
	await rowOf(page, 'c.txt').waitFor();
	await assertAccessible(t, page, 'filled');
	await nameIn(page, 'c.txt').click();
	await expectSelected(t, page, 'c.txt');
	await assertAccessible(t, page, 'one selected');
	await page.keyboard.press('Shift+F10');
	await page.getByRole('menu').waitFor();
	await assertAccessible(t, page, 'menu of an item');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	for (const name of ['Delete forever', 'Empty Trash']) {
		await toolbarButton(page, name).click();
		await page.getByRole('dialog', { name }).locator(':focus').waitFor();
		await assertAccessible(t, page, name);
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
	}
	await page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'Grid' }).click();
	await page.locator('[role=grid][data-view=grid]').waitFor();
	await assertAccessible(t, page, 'grid');
	await toolbarButton(page, 'Restore').click();
	await expectNotice(page, 'Restored c.txt');
	await assertAccessible(t, page, 'restored');
	await releaseTimers(page);
	await app.open('/browser?type=private').then(async (browser) => {
		await browser.getByRole('group', { name: 'View' }).getByRole('button', { name: 'List' }).click();
		await rowOf(browser, 'c.txt').focus();
		await browser.keyboard.press('Delete');
		await browser.getByRole('dialog', { name: 'Delete' }).locator(':focus').waitFor();
		await assertAccessible(t, browser, 'question');
		await browser.getByRole('dialog').getByText('Delete forever').click();
		await assertAccessible(t, browser, 'question with the box checked');
	});
	t.deepEqual(app.faults, []);
};

test.serial('axe finds no violation in any state of the trash on a desktop', everyState, desktop);
test.serial('axe finds no violation in any state of the trash on a phone', everyState, phone);
