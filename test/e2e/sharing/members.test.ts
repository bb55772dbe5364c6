import { readFile, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { desktop, phone } from '../support/browser.js';
import { absent, eventually, gone } from '../support/expect.js';
import {
	expectOnDisk,
	fadedOut,
	holdRequest,
	menuItems,
	namesOf,
	overlaysClosed,
	rowOf,
	setUpFixture,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { areaOptions, cookiesOf, openMembers, setMembers } from '../support/members.js';
import { expectNotice } from '../support/notices.js';
import { makeFile, networkOf, queueClosed, sourceFolder, uploadAll } from '../support/uploads.js';

const fixture = withKeptPages(setUpFixture(test));

/** Two people, of whom the first has the folder `Photos`. */
async function enterBoth(t: ExecutionContext, other: { viewport?: typeof desktop; hasTouch?: boolean } = {}) {
	const ada = await fixture.enter(t);
	const bob = await fixture.enter(t, other);
	await writeFiles(ada.home, { 'Photos/fox.txt': 'a fox', 'Photos/2030/owl.txt': 'an owl', 'letter.txt': 'secret' });
	return { ada, bob };
}

async function choose(page: Page, row: string, item: string): Promise<void> {
	await rowOf(page, row).click({ button: 'right' });
	await page.getByRole('menuitem', { name: item, exact: true }).click();
}

async function actionsOf(page: Page): Promise<string[]> {
	await page.getByRole('button', { name: 'Actions', exact: true }).click();
	const items = await menuItems(page);
	await page.keyboard.press('Escape');
	await page.getByRole('menu').waitFor({ state: 'detached' });
	return items;
}

/** Waits until the actions on the folder on screen are these. */
const expectActions = (t: ExecutionContext, page: Page, expected: string[]) =>
	eventually(t, () => actionsOf(page), expected);

const editing = ['Create Folder', 'Create File', 'Upload Files', 'Upload Folder', 'Paste', 'Select All', 'Refresh'];
const viewing = ['Select All', 'Refresh'];

test.serial('who is made a member in the dialog sees the folder at once, and opens it on a phone', async (t) => {
	const { ada, bob } = await enterBoth(t, { viewport: phone, hasTouch: true });
	const theirs = await bob.open('/browser?type=private');
	await eventually(t, () => areaOptions(theirs), ['Public Files', 'Private Files']);
	const page = await ada.open('/browser?type=private');
	const dialog = await openMembers(page, 'Photos');
	await dialog.getByText('Only you can see this folder').waitFor();
	await assertAccessible(t, page, 'no members');

	const field = dialog.getByLabel('Username');
	const error = dialog.getByRole('alert');
	await dialog.getByRole('button', { name: 'Add' }).click();
	await error.getByText('Please enter a user name').waitFor();
	await field.fill('nobody-there');
	await page.keyboard.press('Enter');
	await error.getByText('There is no user nobody-there.').waitFor();
	await eventually(t, () => field.getAttribute('aria-invalid'), 'true');
	await assertAccessible(t, page, 'an unknown member');
	await field.fill(ada.username);
	await page.keyboard.press('Enter');
	await error.getByText('The owner of a folder can’t be one of its members.').waitFor();
	await eventually(t, () => field.inputValue(), ada.username);
	await page.route('**/api/members*', (route) => route.abort(), { times: 1 });
	await field.fill(bob.username);
	await page.keyboard.press('Enter');
	await error.getByText('Network error').waitFor();
	// As nobody is registered.
	await field.fill(` ${bob.username.toUpperCase()} `);
	await page.keyboard.press('Enter');
	const member = dialog.getByRole('listitem', { name: bob.username, exact: true });
	await member.waitFor();
	await gone(t, error);
	await eventually(t, () => dialog.getByRole('status').textContent(), `Added ${bob.username}, who can view`);
	await eventually(t, () => field.inputValue(), '');
	await field.fill(bob.username);
	await page.keyboard.press('Enter');
	await error.getByText(`${bob.username} is a member already.`).waitFor();
	await assertAccessible(t, page, 'members');
	await page.setViewportSize(phone);
	await assertAccessible(t, page, 'members on a phone');
	const box = await page.getByRole('dialog', { name: 'Members' }).boundingBox();
	t.is(box?.width, phone.width);
	t.true((box?.height ?? 0) >= phone.height);
	await page.setViewportSize(desktop);
	await dialog.getByRole('button', { name: 'Close' }).click();
	await overlaysClosed(page);
	await rowOf(page, 'Photos').getByTitle('1 member').waitFor();
	await assertAccessible(t, page, 'a folder with members');
	await page.getByRole('button', { name: 'Grid' }).click();
	await rowOf(page, 'Photos').getByTitle('1 member').waitFor();
	await assertAccessible(t, page, 'a folder with members as a tile');
	await page.getByRole('button', { name: 'List' }).click();
	await eventually(
		t,
		async () => /1 member/.test((await rowOf(page, 'Photos').getAttribute('aria-label')) ?? ''),
		true,
	);

	await eventually(t, () => areaOptions(theirs), ['Public Files', 'Private Files', 'Shared with Me']);
	await theirs.getByLabel('Area').selectOption('Shared with Me');
	const label = () => rowOf(theirs, 'Photos').getAttribute('aria-label');
	await rowOf(theirs, 'Photos').waitFor();
	await eventually(t, async () => (await label())?.split(', ').slice(0, 5), [
		'Photos',
		'folder',
		`shared by ${ada.username}`,
		'Can view',
		'2 items',
	]);
	await rowOf(theirs, 'Photos').getByText(`${ada.username} · Can view`).waitFor();
	await assertAccessible(t, theirs, 'shared folders on a phone');
	await theirs.getByRole('button', { name: 'Grid' }).tap();
	await rowOf(theirs, 'Photos').getByText(`2 items · ${ada.username} · Can view`).waitFor();
	await assertAccessible(t, theirs, 'shared folders as tiles on a phone');
	await theirs.getByRole('button', { name: 'List' }).tap();
	await rowOf(theirs, 'Photos').tap();
	await eventually(t, () => namesOf(theirs), ['2030', 'fox.txt']);
	await expectActions(t, theirs, viewing);
	await rowOf(theirs, 'fox.txt').getByRole('button', { name: 'Actions for fox.txt' }).tap();
	await eventually(t, () => menuItems(theirs), ['Preview', 'Download', 'Copy']);
	await assertAccessible(t, theirs, 'the menu of a shared file on a phone');
	await theirs.getByRole('menuitem', { name: 'Preview' }).tap();
	await theirs.getByRole('dialog', { name: 'fox.txt' }).getByText('a fox').waitFor();
	await absent(t, theirs.getByRole('button', { name: 'Edit' }));
	t.deepEqual([...ada.faults, ...bob.faults], []);
});

test.serial('a click beside the dialog of members closes it only while no name is typed', async (t) => {
	const { ada, bob } = await enterBoth(t);
	const page = await ada.open('/browser?type=private');
	const dialog = await openMembers(page, 'Photos');
	const field = dialog.getByLabel('Username');
	const beside = () => page.mouse.click(5, 400);
	await field.fill(bob.username);
	await beside();
	await fadedOut();
	await eventually(t, () => field.inputValue(), bob.username);
	await dialog.getByRole('button', { name: 'Add' }).click();
	await dialog.getByRole('listitem', { name: bob.username, exact: true }).waitFor();
	await eventually(t, () => field.inputValue(), '');
	await beside();
	await gone(t, dialog);
	await openMembers(page, 'Photos');
	await field.fill('nobody');
	await page.keyboard.press('Escape');
	await gone(t, dialog);
	await openMembers(page, 'Photos');
	await eventually(t, () => field.inputValue(), '');
	t.deepEqual(ada.faults, []);
});

test.serial('two people work in one folder and see each other’s changes', async (t) => {
	const { ada, bob } = await enterBoth(t);
	await setMembers(t, ada, 'Photos', { [bob.username]: 'edit' });
	const page = await ada.open('/browser/Photos?type=private');
	const theirs = await bob.open('/browser/Photos?type=shared');
	await expectActions(t, theirs, editing);
	await theirs.getByText(`${ada.username} · Can edit`).waitFor();
	await assertAccessible(t, theirs, 'a shared folder');

	const sources = await sourceFolder(t);
	await writeFiles(sources, { 'fox.txt': 'a red fox', 'new.txt': 'new' });
	await makeFile(path.join(sources, 'big.bin'), 2_500_000);
	await theirs.setInputFiles(
		'input[type=file]',
		['fox.txt', 'new.txt', 'big.bin'].map((name) => path.join(sources, name)),
	);
	await theirs.getByText('Upload Queue (3 files)').waitFor();
	await eventually(t, () => theirs.getByText('Shared folder', { exact: true }).count(), 3);
	await absent(t, theirs.getByLabel('Set all to'));
	await absent(t, theirs.getByRole('radiogroup', { name: 'Visibility' }));
	await theirs.getByRole('combobox', { name: 'If it exists' }).selectOption('Replace');
	await assertAccessible(t, theirs, 'uploads to a shared folder');
	await uploadAll(theirs);
	await queueClosed(theirs);
	await eventually(t, () => namesOf(page), ['2030', 'big.bin', 'fox.txt', 'new.txt']);
	t.is(await readFile(path.join(ada.home, 'Photos/fox.txt'), 'utf8'), 'a red fox');

	// The replaced file can be restored by both, and deleted for good by its owner only.
	await choose(theirs, 'fox.txt', 'Versions');
	const versions = theirs.getByRole('dialog', { name: 'Versions' });
	await versions.getByRole('button', { name: 'Restore' }).waitFor();
	await absent(t, versions.getByRole('button', { name: 'Delete' }));
	await assertAccessible(t, theirs, 'versions in a shared folder');
	await versions.getByRole('button', { name: 'Restore' }).click();
	await overlaysClosed(theirs);
	await eventually(t, () => readFile(path.join(ada.home, 'Photos/fox.txt'), 'utf8'), 'a fox');

	await choose(page, 'new.txt', 'Rename');
	await page.getByLabel('New name').fill('renamed.txt');
	await page.keyboard.press('Enter');
	await overlaysClosed(page);
	await rowOf(theirs, 'renamed.txt').waitFor();
	await choose(theirs, 'renamed.txt', 'Delete');
	const deletion = theirs.getByRole('dialog', { name: 'Delete' });
	await deletion.getByText(`renamed.txt will be moved to the trash of ${ada.username}`).waitFor();
	await absent(t, deletion.getByLabel('Delete forever'));
	await assertAccessible(t, theirs, 'deleting in a shared folder');
	await deletion.getByRole('button', { name: 'Delete' }).click();
	await gone(t, rowOf(page, 'renamed.txt'));
	const notice = theirs.getByRole('status').filter({ hasText: 'Deleted renamed.txt' });
	await notice.getByRole('button', { name: 'Undo' }).click();
	await rowOf(page, 'renamed.txt').waitFor();
	await rowOf(theirs, 'renamed.txt').waitFor();

	await rowOf(theirs, 'renamed.txt').click({ modifiers: ['Control'] });
	await theirs.keyboard.press('Shift+Delete');
	await expectNotice(theirs, 'Only its owner can delete this forever.');
	await rowOf(theirs, 'fox.txt').click();
	const preview = theirs.getByRole('dialog', { name: 'fox.txt' });
	await preview.getByRole('button', { name: 'Edit' }).click();
	const editor = preview.getByRole('textbox');
	await editor.fill('edited by a member');
	await theirs.keyboard.press('Control+s');
	await eventually(t, () => readFile(path.join(ada.home, 'Photos/fox.txt'), 'utf8'), 'edited by a member');

	await page.getByRole('button', { name: ada.username }).click();
	await page.getByRole('menuitem', { name: 'Activity' }).click();
	const line = page.getByRole('dialog', { name: 'Activity' }).getByRole('listitem');
	await line.getByText(`${bob.username} added 2 items, changed 3 items, deleted 1 item`).waitFor();
	await line.getByText(/^In Photos · /).waitFor();
	await assertAccessible(t, page, 'what a member has changed');
	t.deepEqual([...ada.faults, ...bob.faults], []);
});

/** Moves what is selected into another area by the keyboard, as a copy or not. */
async function carry(page: Page, name: string, key: 'c' | 'x', to: string): Promise<void> {
	await page.keyboard.press('Escape');
	await rowOf(page, name).click({ modifiers: ['Control'] });
	await page.keyboard.press(`Control+${key}`);
	await expectNotice(page, `${key === 'c' ? 'Copied' : 'Cut'} ${name}`);
	await page.getByLabel('Area').selectOption(to);
	await page.getByRole('heading', { name: `Files in ${to}` }).waitFor({ state: 'attached' });
	if (to === 'Shared with Me') {
		await rowOf(page, 'Photos').click();
		await page.getByText('· Can edit').waitFor();
	}
	await page.getByRole('grid', { name: 'Files' }).and(page.locator('[aria-busy=false]')).focus();
	await page.keyboard.press('Control+v');
	await rowOf(page, name).waitFor();
}

test.serial('a shared folder has an address, is searched, and exchanges files with one’s own', async (t) => {
	const { ada, bob } = await enterBoth(t);
	await setMembers(t, ada, 'Photos', { [bob.username]: 'edit' });
	await writeFiles(bob.home, { 'mine.txt': 'mine' });
	const page = await bob.open('/browser/Photos/2030?type=shared');
	await eventually(t, () => namesOf(page), ['owl.txt']);
	await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Photos' }).click();
	await eventually(t, () => namesOf(page), ['2030', 'fox.txt']);
	await page.goBack();
	await eventually(t, () => namesOf(page), ['owl.txt']);
	await page.reload();
	await eventually(t, () => namesOf(page), ['owl.txt']);
	await page.getByRole('button', { name: 'Home' }).click();
	await eventually(t, () => namesOf(page), ['Photos']);

	await page.getByRole('searchbox', { name: 'Search' }).or(page.getByLabel('Search').first()).first().fill('owl');
	await page
		.getByRole('listbox')
		.getByRole('option', { name: /owl\.txt/ })
		.waitFor();
	await page.keyboard.press('Enter');
	await eventually(t, () => namesOf(page), ['owl.txt']);
	await rowOf(page, 'owl.txt').click({ button: 'right' });
	await eventually(t, () => menuItems(page), ['Preview', 'Download', 'Cut', 'Copy', 'Rename', 'Delete']);
	await page.keyboard.press('Escape');

	await page.goto(`${bob.url}/browser/Photos?type=shared`);
	await rowOf(page, 'fox.txt').waitFor();
	await carry(page, 'fox.txt', 'c', 'Private Files');
	await eventually(t, () => readFile(path.join(bob.home, 'fox.txt'), 'utf8'), 'a fox');
	await carry(page, 'mine.txt', 'x', 'Shared with Me');
	await gone(t, page.getByRole('progressbar'));
	await eventually(t, () => readFile(path.join(ada.home, 'Photos/mine.txt'), 'utf8'), 'mine');
	await expectOnDisk(t, bob.home, ['Public/', 'fox.txt']);
	await carry(page, 'mine.txt', 'x', 'Private Files');
	await expectOnDisk(t, path.join(ada.home, 'Photos'), ['2030/', '2030/owl.txt', 'fox.txt']);
	await page.keyboard.press('Control+z');
	await expectNotice(page, 'Cannot undo');
	t.deepEqual([...ada.faults, ...bob.faults], []);
});

test.serial('what a member may do changes while the page is open, and ends with what is under way', async (t) => {
	const { ada, bob } = await enterBoth(t);
	await setMembers(t, ada, 'Photos', { [bob.username]: 'view' });
	const large = path.join(ada.home, 'Photos/large.bin');
	await writeFile(large, '');
	await truncate(large, 400 * 1024 * 1024);
	const page = await ada.open('/browser?type=private');
	const theirs = await bob.open('/browser/Photos?type=shared');
	await expectActions(t, theirs, viewing);
	const dialog = await openMembers(page, 'Photos');
	const member = dialog.getByRole('listitem', { name: bob.username, exact: true });
	await member.getByRole('combobox').selectOption('Can edit');
	await eventually(t, () => dialog.getByRole('status').textContent(), `${bob.username} can edit now`);
	await expectActions(t, theirs, editing);

	const sources = await sourceFolder(t);
	await makeFile(path.join(sources, 'film.bin'), 6_000_000);
	await writeFiles(sources, { 'later.txt': 'later' });
	const network = await networkOf(theirs);
	await theirs.setInputFiles('input[type=file]', [path.join(sources, 'film.bin'), path.join(sources, 'later.txt')]);
	await network.throttle();
	await uploadAll(theirs);
	await theirs.getByRole('progressbar', { name: 'film.bin' }).waitFor();
	const download = await fetch(`${bob.origin}/api/download/Photos/large.bin?type=shared`, {
		headers: { cookie: await cookiesOf(bob) },
	});
	const reader = download.body?.getReader();
	t.true(((await reader?.read())?.value?.length ?? 0) > 0);

	await member.getByRole('button', { name: 'Remove' }).click();
	await eventually(t, () => dialog.getByRole('status').textContent(), `Removed ${bob.username}`);
	await dialog.getByText('Only you can see this folder').waitFor();
	await dialog.getByLabel('Username').and(page.locator(':focus')).waitFor();
	const rest = async () => {
		for (;;) if ((await reader?.read())?.done !== false) return;
	};
	await t.throwsAsync(rest());
	await network.restore();
	await theirs
		.getByRole('alert')
		.getByText('This folder has another name, is gone, or is not shared with you any more.')
		.first()
		.waitFor();
	const queue = theirs.getByRole('dialog', { name: 'Upload Queue (2 files)' });
	await queue.getByText('Upload failed ✗').waitFor();
	await eventually(t, () => queue.getByLabel('File name').count(), 2);
	await assertAccessible(t, theirs, 'an upload that has lost its folder');

	// Both go on once the folder is there again.
	await dialog.getByLabel('Username').fill(bob.username);
	await page.keyboard.press('Enter');
	await member.getByRole('combobox').selectOption('Can edit');
	await eventually(t, () => dialog.getByRole('status').textContent(), `${bob.username} can edit now`);
	await uploadAll(theirs);
	await queueClosed(theirs);
	await eventually(t, () => readFile(path.join(ada.home, 'Photos/later.txt'), 'utf8'), 'later');
	await member.getByRole('button', { name: 'Remove' }).click();
	const lost = theirs.getByRole('alert').filter({ hasText: 'Error loading files' });
	await lost.getByText('This folder has another name, is gone, or is not shared with you any more.').waitFor();
	await gone(t, theirs.getByText(`${ada.username} · Can edit`));
	await assertAccessible(t, theirs, 'a folder that is not shared any more');
	await theirs.setViewportSize(phone);
	await assertAccessible(t, theirs, 'a folder that is not shared any more, on a phone');
	await theirs.setViewportSize(desktop);
	await lost.getByRole('button', { name: 'Shared with Me' }).click();
	await theirs.getByText('Nothing is shared with you').waitFor();
	await assertAccessible(t, theirs, 'no shared folders');
	await eventually(t, () => areaOptions(theirs), ['Public Files', 'Private Files', 'Shared with Me']);
	await theirs.getByLabel('Area').selectOption('Private Files');
	await eventually(t, () => areaOptions(theirs), ['Public Files', 'Private Files']);
	t.deepEqual([...ada.faults, ...bob.faults], []);
});

test.serial('a folder that is lost again while its page has no event stream is not shown any longer', async (t) => {
	const { ada, bob } = await enterBoth(t);
	await setMembers(t, ada, 'Photos', { [bob.username]: 'view' });
	const page = await bob.open('/browser/Photos?type=shared');
	await rowOf(page, 'fox.txt').waitFor();
	await setMembers(t, ada, 'Photos', {});
	const lost = page.getByRole('alert').filter({ hasText: 'Error loading files' });
	await lost.waitFor();
	// As one that waits for its next attempt, and is refused again.
	await page.route('**/api/events*', (route) => route.abort());
	await setMembers(t, ada, 'Photos', { [bob.username]: 'view' });
	await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
	await rowOf(page, 'fox.txt').waitFor();
	await setMembers(t, ada, 'Photos', {});
	await lost.waitFor();
	await gone(t, rowOf(page, 'fox.txt'));
	await page.unroute('**/api/events*');
	t.deepEqual([...ada.faults, ...bob.faults], []);
});

test.serial('the next name that is typed while a member is added stays', async (t) => {
	const { ada, bob } = await enterBoth(t);
	const page = await ada.open('/browser?type=private');
	const dialog = await openMembers(page, 'Photos');
	const field = dialog.getByLabel('Username');
	const release = await holdRequest(page, '**/api/members');
	await field.fill(bob.username);
	const asked = page.waitForRequest((request) => request.method() === 'PUT');
	await page.keyboard.press('Enter');
	await asked;
	await field.fill('carol');
	release();
	await dialog.getByRole('listitem', { name: bob.username, exact: true }).waitFor();
	await eventually(t, () => dialog.getByRole('status').textContent(), `Added ${bob.username}, who can view`);
	await eventually(t, () => field.inputValue(), 'carol');
	t.deepEqual(ada.faults, []);
});

test.serial('members are chosen, and folders are left, by the keyboard alone', async (t) => {
	const { ada, bob } = await enterBoth(t);
	const carol = await fixture.enter(t);
	const page = await ada.open('/browser?type=private');
	const key = (name: string) => page.keyboard.press(name);
	await rowOf(page, 'Public').focus();
	await page.keyboard.type('Pho');
	await rowOf(page, 'Photos').and(page.locator(':focus')).waitFor();
	await key('Shift+F10');
	await page.getByRole('menu').waitFor();
	const chosen = page.getByRole('menuitem', { name: 'Members' }).and(page.locator(':focus'));
	for (let steps = 0; steps < 20 && (await chosen.count()) === 0; steps++) await key('ArrowDown');
	await key('Enter');
	const dialog = page.getByRole('dialog', { name: 'Members' });
	const field = dialog.getByLabel('Username').and(page.locator(':focus'));
	for (const { username } of [bob, carol]) {
		await field.waitFor();
		await page.keyboard.type(username);
		await key('Enter');
		await dialog.getByRole('listitem', { name: username, exact: true }).waitFor();
	}
	const focusIn = (name: string) => dialog.getByRole('listitem', { name, exact: true }).locator(':focus');
	await key('Tab');
	await key('Tab');
	await focusIn(bob.username).waitFor();
	await key('ArrowDown');
	await eventually(t, () => dialog.getByRole('status').textContent(), `${bob.username} can edit now`);
	await key('Tab');
	await key('Enter');
	await gone(t, dialog.getByRole('listitem', { name: bob.username, exact: true }));
	await focusIn(carol.username)
		.and(page.getByRole('button', { name: 'Remove' }))
		.waitFor();
	await key('Shift+Tab');
	await focusIn(carol.username).waitFor();
	await key('Escape');
	await overlaysClosed(page);
	await rowOf(page, 'Photos').and(page.locator(':focus')).waitFor();

	const theirs = await carol.open('/browser?type=shared');
	await assertAccessible(t, theirs, 'shared folders');
	await theirs
		.getByRole('grid', { name: 'Files' })
		.getByRole('row', { name: /^Photos/ })
		.focus();
	await theirs.keyboard.press('Delete');
	await expectNotice(theirs, 'You may look at this, and not change it.');
	await theirs.keyboard.press('Shift+F10');
	await eventually(t, () => menuItems(theirs), ['Open', 'Download as ZIP', 'Copy', 'Leave']);
	await theirs.keyboard.press('End');
	await theirs.keyboard.press('Enter');
	const leaving = theirs.getByRole('dialog', { name: 'Leave' });
	await leaving
		.getByText(`Leave Photos? You will not see it any more. Only ${ada.username} can let you in again.`)
		.waitFor();
	await assertAccessible(t, theirs, 'leaving a folder');
	await theirs.setViewportSize(phone);
	await assertAccessible(t, theirs, 'leaving a folder on a phone');
	await theirs.keyboard.press('Enter');
	await expectNotice(theirs, 'You have left Photos');
	await theirs.getByText('Nothing is shared with you').waitFor();
	await gone(t, rowOf(page, 'Photos').getByTitle('1 member'));
	t.deepEqual([...ada.faults, ...carol.faults], []);
});
