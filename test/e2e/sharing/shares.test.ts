import test, { type ExecutionContext } from 'ava';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { desktop, phone } from '../support/browser.js';
import { absent, eventually, gone } from '../support/expect.js';
import {
	fadedOut,
	holdRequest,
	overlaysClosed,
	rowOf,
	setUpFixture,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { expectNotice } from '../support/notices.js';
import { change, share } from '../support/shares.js';

const fixture = withKeptPages(setUpFixture(test));

async function openShareDialog(page: Page, name: string) {
	await rowOf(page, name).click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Share', exact: true }).click();
	const dialog = page.getByRole('dialog', { name: 'Share', exact: true });
	await dialog.getByRole('button', { name: 'Create Share' }).waitFor();
	return dialog;
}

async function openMyLinks(page: Page, username: string) {
	await page.getByRole('button', { name: username }).click();
	await page.getByRole('menuitem', { name: 'My links' }).click();
	return page.getByRole('dialog', { name: 'My links' });
}

const journey = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t, { viewport });
	await writeFiles(ada.home, { 'trip/a.txt': 'a', 'notes.md': 'b' });
	const page = await ada.open('/browser?type=private');
	const dialog = await openShareDialog(page, 'trip');
	await assertAccessible(t, page, 'share');
	await dialog.getByLabel('Can').selectOption('Both');
	await dialog.getByLabel('Ask for a name').waitFor();
	await dialog.getByLabel('Expires').selectOption('On a date');
	await dialog.getByLabel('Date').fill('2020-01-01');
	await dialog.getByRole('button', { name: 'Create Share' }).click();
	await dialog.getByRole('alert').getByText('Please choose a day that has not ended.').waitFor();
	await dialog.getByLabel('Date').and(page.locator(':focus')).waitFor();
	await assertAccessible(t, page, 'a share that can’t be made');
	const create = dialog.getByRole('button', { name: 'Create Share' });
	const isOnScreen = () => create.evaluate((button) => button.getBoundingClientRect().bottom <= window.innerHeight);
	await eventually(t, isOnScreen, true, 'however much the dialog says');
	await dialog.getByLabel('Date').fill('2090-01-01');
	await dialog.getByLabel('Password', { exact: true }).fill('short');
	await page.keyboard.press('Enter');
	await dialog.getByRole('alert').getByText('The password must have at least 8 characters.').waitFor();
	await dialog.getByLabel('Password', { exact: true }).fill('correct horse');
	await dialog.getByLabel('Limit uploads').fill('much');
	await page.keyboard.press('Enter');
	await dialog.getByRole('alert').getByText('The limit of uploads must be a size such as 10 GB.').waitFor();
	await dialog.getByLabel('Limit uploads').and(page.locator(':focus')).fill('1.5');
	await dialog.getByLabel('Title').fill('Our trip');
	await page.keyboard.press('Enter');
	await dialog.getByRole('img', { name: 'QR code' }).waitFor();
	const url = await dialog.getByLabel('Link', { exact: true }).inputValue();
	t.regex(url, new RegExp(`^${ada.url}/s/[\\w-]{43}$`));
	await eventually(t, () => dialog.getByRole('button', { name: 'Open' }).getAttribute('href'), url);
	await dialog.getByText('Expires Jan 1, 2090').waitFor();
	await assertAccessible(t, page, 'the new share');
	// The button has the focus.
	await page.keyboard.press('Enter');
	await dialog.getByText('Copied to the clipboard').waitFor();
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await page.getByRole('grid', { name: 'Files' }).locator(':focus').waitFor();
	const state = async () => (await fetch(`${ada.origin}/api/share/${url.split('/').at(-1)}`)).status;
	t.is(await state(), 401);

	const links = await openMyLinks(page, ada.username);
	const share = links.getByRole('listitem', { name: 'Our trip' });
	await share.getByText('Active', { exact: true }).waitFor();
	await share.getByText('trip', { exact: true }).waitFor();
	await share.getByText('Both · With a password · Expires Jan 1, 2090').waitFor();
	await share.getByText('0 uploads (0 B of 1.5 GB)').waitFor();
	await assertAccessible(t, page, 'my shares');
	await share.getByRole('button', { name: 'Pause' }).click();
	await expectNotice(page, 'Paused Our trip');
	await share.getByText('Paused', { exact: true }).waitFor();
	t.is(await state(), 404);
	await share.getByRole('button', { name: 'Resume' }).click();
	await share.getByText('Active', { exact: true }).waitFor();

	await share.getByRole('button', { name: 'Edit' }).click();
	const edit = page.getByRole('dialog', { name: 'Edit Share' });
	await edit.getByLabel('Expires').selectOption('1 week');
	await edit.getByText('No password any more').click();
	await edit.getByLabel('Limit downloads').fill('2');
	await edit.getByLabel('Unit of the limit of uploads').selectOption('MB');
	await edit.getByRole('button', { name: 'Save' }).click();
	await gone(t, edit);
	await share.getByText('0 of 2 downloads').waitFor();
	await share.getByText('0 uploads (0 B of 1.5 MB)').waitFor();
	t.is(await state(), 200);

	await share.getByRole('button', { name: 'Delete' }).click();
	const question = page.getByRole('dialog', { name: 'Delete Share' });
	await question.getByText('The link to Our trip stops working at once').waitFor();
	await question.getByRole('button', { name: 'Delete' }).click();
	await expectNotice(page, 'Deleted the share Our trip');
	await links.getByText('No links').waitFor();
	await eventually(
		t,
		() => links.getByRole('button', { name: 'Close' }).evaluate((button) => button === document.activeElement),
		true,
	);
	t.is(await state(), 404);
	t.deepEqual(ada.faults, []);
};

test('a folder is shared, paused, changed and no longer shared', (t) => journey(t, desktop));

test('the same on a phone', (t) => journey(t, phone));

test('several items are shared for viewing, and what is public or nothing to share has no such item', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'a.txt': 'a', 'b.txt': 'b', 'Public/c.txt': 'c' });
	const page = await ada.open('/browser?type=private');
	await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
	await rowOf(page, 'b.txt').click({ modifiers: ['Control'] });
	const dialog = await openShareDialog(page, 'b.txt');
	await dialog.getByText('a.txt').waitFor();
	await absent(t, dialog.getByLabel('Can'));
	await dialog.getByRole('button', { name: 'Create Share' }).click();
	const url = await dialog.getByLabel('Link', { exact: true }).inputValue();
	const answer = await fetch(`${ada.origin}/api/share/${url.split('/').at(-1)}`);
	const { items } = (await answer.json()) as { items: { name: string }[] };
	t.deepEqual(items.map(({ name }) => name).sort(), ['a.txt', 'b.txt']);
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await rowOf(page, 'Public').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Open' }).waitFor();
	await absent(t, page.getByRole('menuitem', { name: 'Share', exact: true }));
	t.deepEqual(ada.faults, []);
});

test('a click beside the dialog of a share discards nothing that was typed', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'a.txt': 'a' });
	const page = await ada.open('/browser?type=private');
	const dialog = await openShareDialog(page, 'a.txt');
	await dialog.getByLabel('Message').fill('All that you asked for.');
	await page.mouse.click(5, 400);
	await fadedOut();
	await dialog.getByRole('button', { name: 'Create Share' }).click();
	await dialog.getByRole('img', { name: 'QR code' }).waitFor();
	await page.mouse.click(5, 400);
	await gone(t, dialog);
});

test('a share that is saved late closes no dialog about another one', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'a.txt': 'a', 'b.txt': 'b' });
	await share(ada, { items: ['a.txt'], title: 'First' });
	await share(ada, { items: ['b.txt'], title: 'Second' });
	const page = await ada.open('/browser?type=private');
	const links = await openMyLinks(page, ada.username);
	const edit = page.getByRole('dialog', { name: 'Edit Share' });
	const open = (title: string) =>
		links.getByRole('listitem', { name: title }).getByRole('button', { name: 'Edit' }).click();
	await open('First');
	await edit.getByLabel('Title').fill('Changed');
	const release = await holdRequest(page, '**/api/shares/*');
	await edit.getByRole('button', { name: 'Save' }).click();
	await page.keyboard.press('Escape');
	await gone(t, edit);
	await open('Second');
	await edit.getByLabel('Title').fill('Changed as well');
	release();
	await links.getByText('Changed', { exact: true }).waitFor();
	await fadedOut();
	await edit.getByRole('button', { name: 'Save' }).click();
	await links.getByText('Changed as well', { exact: true }).waitFor();
	await gone(t, edit);
	t.deepEqual(ada.faults, []);
});

test('a change of a share leaves what was changed elsewhere since it was shown', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'a.txt': 'a' });
	const made = await share(ada, { items: ['a.txt'], title: 'Trip', message: 'Hi', maxDownloads: 3 });
	const page = await ada.open('/browser?type=private');
	const links = await openMyLinks(page, ada.username);
	await links.getByRole('listitem', { name: 'Trip' }).getByRole('button', { name: 'Edit' }).click();
	const edit = page.getByRole('dialog', { name: 'Edit Share' });
	await change(ada, made, { title: 'Tour', maxDownloads: 5 });
	await edit.getByLabel('Message').fill('Hello');
	await edit.getByRole('button', { name: 'Save' }).click();
	await links.getByText('0 of 5 downloads').waitFor();
	const kept = await change(ada, made, {});
	t.like(kept, { title: 'Tour', message: 'Hello', maxDownloads: 5 });
	t.deepEqual(ada.faults, []);
});

test('what is being saved of a share can’t be changed meanwhile, and the focus is back where it was', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'a.txt': 'a' });
	await share(ada, { items: ['a.txt'], title: 'Mine' });
	const page = await ada.open('/browser?type=private');
	/** As somebody does it: by a click on the field and by keys. */
	const typeInto = async (field: Locator) => {
		const box = await field.boundingBox();
		await page.mouse.click((box?.x ?? 0) + 20, (box?.y ?? 0) + 10);
		await page.keyboard.insertText('correct horse');
	};
	const links = await openMyLinks(page, ada.username);
	const edit = page.getByRole('dialog', { name: 'Edit Share' });
	const title = edit.getByLabel('Title');
	const password = edit.getByLabel('Password', { exact: true });
	const open = async (name: string) => {
		await links.getByRole('listitem', { name }).getByRole('button', { name: 'Edit' }).click();
		// From then on the focus is where somebody puts it.
		await edit.getByRole('button', { name: 'Save' }).and(page.locator(':focus')).waitFor();
	};
	await open('Mine');
	await title.fill('Ours');
	const saved = await holdRequest(page, '**/api/shares/*');
	await page.keyboard.press('Enter');
	await edit.locator('[inert]').waitFor();
	await typeInto(password);
	await eventually(t, () => password.inputValue(), '');
	saved();
	await links.getByText('Ours', { exact: true }).waitFor();
	await gone(t, edit);

	const refusal = { status: 507, json: { statusCode: 507, code: 'STORAGE_FULL', error: 'x', message: 'It is full.' } };
	await page.route('**/api/shares/*', (route) => route.fulfill(refusal), { times: 1 });
	await open('Ours');
	await title.fill('Theirs');
	await page.keyboard.press('Enter');
	await edit.getByRole('alert').getByText('It is full.').waitFor();
	await title.and(page.locator(':focus')).waitFor();
	// Escape still closes it while it waits.
	const late = await holdRequest(page, '**/api/shares/*');
	await page.keyboard.press('Enter');
	await edit.locator('[inert]').waitFor();
	await page.keyboard.press('Escape');
	await gone(t, edit);
	late();
	await links.getByText('Theirs', { exact: true }).waitFor();
	await page.keyboard.press('Escape');
	await overlaysClosed(page);

	const dialog = await openShareDialog(page, 'a.txt');
	const made = await holdRequest(page, '**/api/shares');
	await dialog.getByRole('button', { name: 'Create Share' }).click();
	await dialog.locator('[inert]').waitFor();
	await typeInto(dialog.getByLabel('Password', { exact: true }));
	await eventually(t, () => dialog.getByLabel('Password', { exact: true }).inputValue(), '');
	made();
	await dialog.getByRole('button', { name: 'Copy Link' }).waitFor();
	t.deepEqual(ada.faults, []);
});

test.serial(
	'a share whose dialog is closed while it is being made is said to work, with where it can be ended, and a temporary link ends',
	async (t) => {
		const ada = await fixture.enter(t);
		await writeFiles(ada.home, { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' });
		const page = await ada.open('/browser?type=private');
		const closeWhile = async (name: string, item: string, confirm: string, address: string, undone?: 'undone') => {
			await rowOf(page, name).click({ button: 'right' });
			await page.getByRole('menuitem', { name: item, exact: true }).click();
			const dialog = page.getByRole('dialog', { name: item, exact: true });
			const made = await holdRequest(page, address);
			await dialog.getByRole('button', { name: confirm }).click();
			await dialog.locator('[inert]').waitFor();
			await dialog.getByRole('button', { name: 'Cancel' }).click();
			await gone(t, dialog);
			const ended = undone && page.waitForResponse((answer) => answer.request().method() === 'DELETE' && answer.ok());
			made();
			if (undone) return void (await ended);
			const notice = page.getByRole('status').filter({ hasText: `The link to ${name} was made all the same` });
			await notice.getByRole('button', { name: 'My links' }).click();
			await page.getByRole('dialog', { name: 'My links' }).getByText(name).first().waitFor();
			await page.keyboard.press('Escape');
			await overlaysClosed(page);
		};
		await closeWhile('a.txt', 'Share', 'Create Share', '**/api/shares');
		await closeWhile('b.txt', 'Temporary Link', 'Generate Link', '**/api/generateTempLink', 'undone');
		const links = await openMyLinks(page, ada.username);
		await links.getByText('a.txt').first().waitFor();
		await absent(t, links.getByText('b.txt'));
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
		await page.route('**/api/links/*', (route) => route.abort());
		await closeWhile('c.txt', 'Temporary Link', 'Generate Link', '**/api/generateTempLink');
		t.deepEqual(ada.faults, []);
	},
);
