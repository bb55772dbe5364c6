import test, { type ExecutionContext } from 'ava';
import { assertAccessible, assertAccessibleWhileLoading } from '../support/axe.js';
import { desktop, phone } from '../support/browser.js';
import { nameIn, overlaysClosed, rowOf, setUpFixture, withKeptPages, writeFiles } from '../support/fileManager.js';
import { holdTimers, releaseTimers } from '../support/heldTimers.js';
import { expectNotice, noticeMs } from '../support/notices.js';

const fixture = withKeptPages(setUpFixture(test));

const everyState = async (t: ExecutionContext, viewport: typeof desktop) => {
	const app = await fixture.enter(t, { viewport, hasTouch: viewport === phone });
	const files = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`file ${n}.txt`, 'x']));
	await writeFiles(app.home, { ...files, 'Empty/': '', 'Photos/one.jpg': '1', 'Public/mine.txt': 'm' });
	await writeFiles(`${app.files}/users/anonymous/Public`, { 'guest.zip': 'g' });
	// Notices stay while axe checks the page.
	await holdTimers(app.context, noticeMs);
	const page = await app.open('/browser?type=private');
	const dialog = page.getByRole('dialog');
	const choose = (item: string) => page.getByRole('menuitem', { name: item }).click();
	const actions = () => page.getByRole('button', { name: 'Actions', exact: true }).click();
	const leave = async () => {
		await dialog.locator(':focus').waitFor();
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
	};

	await actions();
	await page.getByRole('menu').waitFor();
	await assertAccessible(t, page, 'menu of the folder');
	await choose('Create Folder');
	await dialog.waitFor();
	await assertAccessible(t, page, 'create dialog');
	await dialog.locator(':focus').waitFor();
	await page.keyboard.press('Enter');
	await dialog.getByRole('alert').waitFor();
	await assertAccessible(t, page, 'create dialog with an error');
	await leave();

	await page.keyboard.press('Control+a');
	await assertAccessible(t, page, 'all selected');
	await actions();
	await page.getByRole('menu').waitFor();
	await assertAccessible(t, page, 'menu of several');
	await choose('Move to Public');
	await dialog.waitFor();
	await assertAccessible(t, page, 'move dialog');
	await leave();
	await page.keyboard.press('Delete');
	await dialog.waitFor();
	await expectNotice(page, 'Cannot delete protected folders');
	await assertAccessible(t, page, 'delete dialog and a notice');
	await releaseTimers(page);
	await leave();
	await page.keyboard.press('Control+x');
	await expectNotice(page, 'Cannot cut protected folders');
	await assertAccessible(t, page, 'rows that were cut');
	await releaseTimers(page);

	await page.keyboard.press('Escape');
	await nameIn(page, 'file 0.txt').click({ button: 'right' });
	await page.route('**/api/renameItem', (route) => route.fulfill({ status: 500, body: '{}' }));
	await choose('Rename');
	await dialog.getByRole('textbox').fill('another.txt');
	await page.keyboard.press('Enter');
	await expectNotice(page, 'Error renaming item', 'HTTP error! status: 500');
	await assertAccessible(t, page, 'rename dialog and the failure');
	await releaseTimers(page);
	await leave();

	await page.getByRole('group', { name: 'Filter by first letter' }).getByText('Q', { exact: true }).click();
	await page.getByText('No results match filter').waitFor();
	await assertAccessible(t, page, 'no name with the letter');
	await page.getByRole('button', { name: 'Show all' }).click();
	await page.getByRole('searchbox', { name: 'Search' }).fill('one');
	await page.keyboard.press('Enter');
	await rowOf(page, 'one.jpg').waitFor();
	await assertAccessible(t, page, 'search results');
	await page.getByRole('button', { name: 'Filters', exact: true }).click();
	await dialog.locator(':focus').waitFor();
	await assertAccessible(t, page, 'filters');
	await dialog.getByLabel('Larger than').fill('much');
	await page.keyboard.press('Enter');
	await dialog.getByRole('alert').waitFor();
	await assertAccessible(t, page, 'filters with an error');
	await dialog.getByLabel('Larger than').fill('1 B');
	await dialog.getByRole('checkbox', { name: 'Image' }).check();
	await page.keyboard.press('Enter');
	await overlaysClosed(page);
	await page.getByRole('listitem').getByText('Larger than 1 B').waitFor();
	await assertAccessible(t, page, 'search results with filters');
	await page.getByRole('searchbox', { name: 'Search' }).fill('on');
	await page.getByRole('option', { name: 'one.jpg' }).waitFor();
	await page.keyboard.press('ArrowDown');
	await page.getByRole('option', { name: 'one.jpg', selected: true }).waitFor();
	await assertAccessible(t, page, 'hits of a search, one chosen');
	await page.getByRole('searchbox', { name: 'Search' }).fill('nowhere');
	await page.getByText('No name here or further down').waitFor();
	await assertAccessible(t, page, 'no hits');
	await page.getByRole('searchbox', { name: 'Search' }).press('Enter');
	await page.getByText('No results match filter').waitFor();
	await assertAccessible(t, page, 'nothing passes the filters');
	for (const name of ['Image', 'Larger than 1 B']) {
		await page.getByRole('button', { name: `Remove filter ${name}` }).click();
	}
	await page.getByRole('searchbox', { name: 'Search' }).fill('nowhere');
	await page.keyboard.press('Enter');
	await page.getByText('No results found').waitFor();
	await assertAccessible(t, page, 'nothing found');

	await page.getByRole('button', { name: 'Home' }).click();
	await nameIn(page, 'Empty').click();
	await page.getByText('This folder is empty.').waitFor();
	await assertAccessible(t, page, 'empty folder');
	await app.context.setOffline(true);
	await page.getByText('You are offline.').waitFor();
	await assertAccessible(t, page, 'offline');
	await app.context.setOffline(false);
	await page.getByText('You are offline.').waitFor({ state: 'detached' });

	await page.getByRole('combobox', { name: 'Area' }).selectOption('public');
	await rowOf(page, 'guest.zip').waitFor();
	await nameIn(page, 'mine.txt').click({ button: 'right' });
	await page.getByRole('menu').waitFor();
	await assertAccessible(t, page, 'public files and the menu of an own one');
	await choose('Move back to Private');
	await dialog.waitFor();
	await assertAccessible(t, page, 'dialog to move back');
	await leave();

	await page.getByRole('combobox', { name: 'Area' }).selectOption('private');
	await assertAccessibleWhileLoading(t, page, 'list', () => nameIn(page, 'Photos').click());
	await rowOf(page, 'one.jpg').waitFor();
	t.deepEqual(app.faults, []);
};

test.serial('axe finds no violation in any state of the file list on a desktop', everyState, desktop);
test.serial('axe finds no violation in any state of the file list on a phone', everyState, phone);
