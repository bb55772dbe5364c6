import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import type { Page } from 'playwright-core';
import { absent, eventually, gone } from '../support/expect.js';
import {
	expectOnDisk,
	expectSelected,
	listedPaths,
	menuItems,
	nameIn,
	overlaysClosed,
	rowOf,
	setUpFixture,
	treeOf,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { typeQuickly } from '../support/inputMethods.js';
import { expectNotice } from '../support/notices.js';

const fixture = withKeptPages(setUpFixture(test));

/** A point of a row without a name or a button. */
async function freeArea(page: Page, name: string): Promise<{ x: number; y: number }> {
	const box = await rowOf(page, name).boundingBox();
	if (!box) throw new Error(`${name} is not on screen.`);
	return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drawMarquee(page: Page, from: string, to: string): Promise<void> {
	const start = await freeArea(page, from);
	const end = await freeArea(page, to);
	await page.mouse.move(start.x, start.y);
	await page.mouse.down();
	await page.mouse.move(start.x + 30, (start.y + end.y) / 2, { steps: 4 });
	await page.mouse.move(start.x + 60, end.y, { steps: 4 });
	await page.mouse.up();
}

test.serial('entries are moved by dragging them to folders and breadcrumbs, one or all selected ones', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': '', 'b.txt': '', 'c.txt': '', 'Inner/deep/': '', 'd.txt': '' });
	const page = await app.open('/browser?type=private');
	await nameIn(page, 'a.txt').dragTo(rowOf(page, 'Inner'));
	await expectNotice(page, 'Moved a.txt');
	// Then the rows below it have moved up, too.
	await rowOf(page, 'a.txt').waitFor({ state: 'detached' });
	await expectOnDisk(t, app.home, ['Inner/', 'Inner/a.txt', 'Inner/deep/', 'Public/', 'b.txt', 'c.txt', 'd.txt']);

	await rowOf(page, 'b.txt').click({ modifiers: ['Control'] });
	await rowOf(page, 'c.txt').click({ modifiers: ['Control'] });
	await nameIn(page, 'c.txt').dragTo(rowOf(page, 'Inner'));
	await expectNotice(page, 'Moved 2 items');
	await rowOf(page, 'c.txt').waitFor({ state: 'detached' });
	const inside = ['Inner/', 'Inner/a.txt', 'Inner/b.txt', 'Inner/c.txt', 'Inner/deep/'];
	await expectOnDisk(t, app.home, [...inside, 'Public/', 'd.txt']);

	// A drop on a file moves and opens nothing.
	await nameIn(page, 'Inner').dragTo(rowOf(page, 'd.txt'));
	await nameIn(page, 'Inner').click();
	await nameIn(page, 'deep').dragTo(page.getByRole('navigation', { name: 'Breadcrumbs' }).getByText('Home'));
	await expectNotice(page, 'Moved deep');
	await rowOf(page, 'deep').waitFor({ state: 'detached' });
	await nameIn(page, 'c.txt').dragTo(rowOf(page, 'Up Directory'));
	await expectNotice(page, 'Moved c.txt');
	await expectOnDisk(t, app.home, ['Inner/', 'Inner/a.txt', 'Inner/b.txt', 'Public/', 'c.txt', 'd.txt', 'deep/']);

	// A protected folder can't be dragged, but accepts drops.
	await page.keyboard.press('Backspace');
	// The saved list is shown first.
	await rowOf(page, 'deep').waitFor();
	await rowOf(page, 'c.txt').waitFor();
	await eventually(t, () => nameIn(page, 'Public').getAttribute('draggable'), 'false');
	await nameIn(page, 'd.txt').dragTo(rowOf(page, 'Public'));
	await expectOnDisk(t, app.home, [
		'Inner/',
		'Inner/a.txt',
		'Inner/b.txt',
		'Public/',
		'Public/d.txt',
		'c.txt',
		'deep/',
	]);
	t.deepEqual(app.faults, []);
});

test.serial(
	'rows are selected by marquee, Ctrl, Shift and keys, and deselected by Escape or a click on empty space',
	async (t) => {
		const app = await fixture.enter(t);
		const names = ['1.txt', '2.txt', '3.txt', '4.txt', '5.txt', '6.txt', '7.txt'];
		await writeFiles(`${app.home}/Box`, Object.fromEntries(names.map((name) => [name, name])));
		const page = await app.open('/browser/Box?type=private');
		const count = page.getByText(/^\d+ Selected$/);

		await drawMarquee(page, '2.txt', '4.txt');
		await expectSelected(t, page, '2.txt', '3.txt', '4.txt');
		await eventually(t, () => count.textContent(), '3 Selected');
		await page.keyboard.down('Control');
		await drawMarquee(page, '6.txt', '7.txt');
		await page.keyboard.up('Control');
		await expectSelected(t, page, '2.txt', '3.txt', '4.txt', '6.txt', '7.txt');
		await page.keyboard.press('Escape');
		await expectSelected(t, page);

		await rowOf(page, '1.txt').click({ modifiers: ['Control'] });
		await rowOf(page, '3.txt').click({ modifiers: ['Shift'] });
		await expectSelected(t, page, '1.txt', '2.txt', '3.txt');
		await rowOf(page, '2.txt').click({ modifiers: ['Control'] });
		await rowOf(page, '5.txt').click({ modifiers: ['Control'] });
		await expectSelected(t, page, '1.txt', '3.txt', '5.txt');
		const list = await page.getByRole('grid', { name: 'Files' }).boundingBox();
		if (!list) throw new Error('There is no list.');
		await page.mouse.click(list.x + 200, list.y + list.height - 10);
		await expectSelected(t, page);

		// Up Directory is never selected.
		await page.keyboard.press('Control+a');
		await expectSelected(t, page, ...names);
		await eventually(t, () => rowOf(page, 'Up Directory').getAttribute('aria-selected'), null);
		await page.getByRole('button', { name: 'Clear selection' }).click();
		await expectSelected(t, page);
		await page.keyboard.press('Home');
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('ArrowDown');
		await page.keyboard.press('Space');
		await page.keyboard.press('Shift+ArrowDown');
		await page.keyboard.press('Shift+ArrowDown');
		await expectSelected(t, page, '2.txt', '3.txt', '4.txt');
		await page.keyboard.press('Shift+End');
		await expectSelected(t, page, '2.txt', '3.txt', '4.txt', '5.txt', '6.txt', '7.txt');
		await page.keyboard.press('Shift+Home');
		await expectSelected(t, page, '1.txt', '2.txt');
		t.deepEqual(app.faults, []);
	},
);

test.serial('letters typed quickly find a name, also if a busy page handles them late', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'bat.txt': '', 'bee.txt': '', 'bean.txt': '', 'egg.txt': '', 'apple.txt': '' });
	const page = await app.open('/browser?type=private');
	await page.keyboard.press('ArrowDown');
	await typeQuickly(page, 'be', () => wait(1000));
	await rowOf(page, 'bean.txt').and(page.locator(':focus')).waitFor();
	t.deepEqual(app.faults, []);
});

test.serial(
	'a key pressed as soon as a folder is shown acts on its rows, and so does a click as soon as it is sorted',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, { 'a.txt': 'a', 'Box/1.txt': '1' });
		const page = await app.open('/browser?type=private');
		await nameIn(page, 'Box').click();
		await rowOf(page, '1.txt').waitFor();
		await page.evaluate(() => {
			new MutationObserver((_, observer) => {
				const names = [...document.querySelectorAll('[data-part=name]')];
				if (!names.some(({ textContent }) => textContent === 'a.txt')) return;
				observer.disconnect();
				const stroke = { key: 'a', ctrlKey: true, bubbles: true, cancelable: true };
				document.body.dispatchEvent(new KeyboardEvent('keydown', stroke));
			}).observe(document, { subtree: true, childList: true });
		});
		await rowOf(page, 'Up Directory').click();
		await expectSelected(t, page, 'Box', 'Public', 'a.txt');
		await page
			.getByRole('columnheader', { name: 'Name' })
			.getByRole('button')
			.evaluate(async (button: HTMLElement) => {
				button.click();
				await undefined;
				button.click();
			});
		await page.locator('[aria-sort=descending]').waitFor();
		await expectSelected(t, page, 'Public', 'Box', 'a.txt');
		t.deepEqual(app.faults, []);
	},
);

test.serial('dialogs list five paths and the number of others, and their keys do not change the list', async (t) => {
	const app = await fixture.enter(t);
	const names = ['1.txt', '2.txt', '3.txt', '4.txt', '5.txt', '6.txt', '7.txt'];
	await writeFiles(`${app.home}/Box`, Object.fromEntries(names.map((name) => [name, name])));
	const page = await app.open('/browser/Box?type=private');
	const dialog = page.getByRole('dialog');
	const box = ['Box/', ...names.map((name) => `Box/${name}`), 'Public/'];

	await page.keyboard.press('Control+a');
	await page.keyboard.press('Delete');
	const paths = ['Box/1.txt', 'Box/2.txt', 'Box/3.txt', 'Box/4.txt', 'Box/5.txt', '…and 2 more'];
	await eventually(t, () => listedPaths(page), paths);
	await dialog.locator(':focus').waitFor();
	for (const key of ['Delete', 'F2', 'Control+x', 'Control+a', 'Backspace', 'ArrowDown'])
		await page.keyboard.press(key);
	await eventually(t, () => dialog.count(), 1);
	await expectSelected(t, page, ...names);
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	// Escape closed only the dialog.
	await expectSelected(t, page, ...names);
	await absent(t, page.locator('[data-cut]'));
	await expectOnDisk(t, app.home, box);

	await page.getByRole('grid', { name: 'Files' }).locator(':focus').waitFor();
	await page.keyboard.press('Shift+F10');
	await page.getByRole('menuitem', { name: 'Move to Public' }).click();
	await eventually(t, () => listedPaths(page), paths);
	await page.keyboard.press('Escape');
	await overlaysClosed(page);

	await page.getByRole('button', { name: 'Clear selection' }).click();
	await page.getByRole('button', { name: 'Actions', exact: true }).click();
	await page.getByRole('menuitem', { name: 'Create Folder' }).click();
	await dialog.locator(':focus').waitFor();
	await page.keyboard.press('Enter');
	await dialog.getByText('Please enter a folder name').waitFor();
	await page.keyboard.type('what?');
	await dialog.getByText('cannot be empty or contain invalid characters').waitFor();
	await page.keyboard.press('Enter');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);

	await rowOf(page, '1.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('F2');
	await dialog.getByRole('textbox', { name: 'New name' }).and(page.locator(':focus')).waitFor();
	t.is(await page.evaluate(() => String(window.getSelection())), '1', 'without its extension');
	await page.keyboard.press('Enter');
	await overlaysClosed(page);
	await expectOnDisk(t, app.home, box);

	await page.keyboard.press('Delete');
	await dialog.getByRole('button', { name: 'Delete' }).click();
	await expectNotice(page, 'Deleted 1.txt');
	await expectOnDisk(
		t,
		app.home,
		box.filter((name) => name !== 'Box/1.txt'),
	);
	t.deepEqual(app.faults, []);
});

test.serial('a right click on empty space opens the menu of the folder and keeps the selection', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': '', 'b.txt': '', 'c.txt': '' });
	const page = await app.open('/browser?type=private');
	await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
	await rowOf(page, 'c.txt').click({ modifiers: ['Control'] });
	const last = await freeArea(page, 'c.txt');
	const below = { x: last.x, y: last.y + 200 };
	await page.mouse.click(below.x, below.y, { button: 'right' });
	await eventually(t, async () => (await menuItems(page)).includes('Create Folder'), true);
	await expectSelected(t, page, 'a.txt', 'c.txt');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await expectSelected(t, page, 'a.txt', 'c.txt');
	await page.mouse.click(below.x, below.y);
	await expectSelected(t, page);
	t.deepEqual(app.faults, []);
});

test.serial('protected entries and those of other users are skipped with a notice', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a', 'b.txt': 'b', 'Public/mine.txt': 'm', 'Public/also mine.txt': 'm' });
	await writeFiles(`${app.files}/Public`, { 'notice.pdf': 'n' });
	await writeFiles(`${app.files}/users/anonymous/Public`, { 'guest.txt': 'g' });
	const page = await app.open('/browser?type=private');
	const dialog = page.getByRole('dialog');

	await rowOf(page, 'Public').click({ modifiers: ['Control'] });
	await page.keyboard.press('Delete');
	await expectNotice(page, 'Cannot delete protected folders');
	await absent(t, dialog);
	await rowOf(page, 'Public').click({ button: 'right' });
	await eventually(t, () => menuItems(page), ['Open', 'Download as ZIP']);
	await page.keyboard.press('Escape');
	await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('Delete');
	await eventually(t, () => listedPaths(page), ['a.txt']);
	await dialog.getByRole('button', { name: 'Delete' }).click();
	await expectNotice(page, 'Deleted a.txt');
	await overlaysClosed(page);
	await expectOnDisk(t, app.home, ['Public/', 'Public/also mine.txt', 'Public/mine.txt', 'b.txt']);

	await page.getByRole('combobox', { name: 'Area' }).selectOption('public');
	await rowOf(page, 'guest.txt').waitFor();
	await page.keyboard.press('Control+a');
	await nameIn(page, 'mine.txt').click({ button: 'right' });
	await eventually(
		t,
		async () => (await menuItems(page)).includes('Move back to Private'),
		false,
		'offered only if all belong to the user',
	);
	await page.keyboard.press('Escape');
	await page.keyboard.press('Control+x');
	await expectNotice(page, 'Skipped 2 items that you do not own');
	await eventually(t, () => page.locator('[data-cut]').count(), 2);
	await page.keyboard.press('Delete');
	await eventually(t, () => listedPaths(page), ['also mine.txt', 'mine.txt']);
	await dialog.getByRole('button', { name: 'Delete' }).click();
	await expectNotice(page, 'Deleted 2 items');
	await overlaysClosed(page);
	await page.keyboard.press('Control+a');
	await page.keyboard.press('Delete');
	await expectNotice(page, 'You do not own any of the selected items');
	await page.keyboard.press('Control+x');
	await expectNotice(page, 'Cannot cut files you do not own');
	await expectOnDisk(t, app.home, ['Public/', 'b.txt']);
	t.deepEqual(await treeOf(`${app.files}/Public`), ['notice.pdf']);
	t.deepEqual(await treeOf(`${app.files}/users/anonymous/Public`), ['guest.txt']);
	t.deepEqual(app.faults, []);
});

test.serial('files from the disk are uploaded after a drag whose row was gone before it ended', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': '', 'b.txt': '', 'Inner/': '' });
	const page = await app.open('/browser?type=private');
	await nameIn(page, 'b.txt').evaluate((name) => {
		name.dispatchEvent(new DragEvent('dragstart', { bubbles: true, dataTransfer: new DataTransfer() }));
	});
	await rm(path.join(app.home, 'b.txt'));
	await gone(t, rowOf(page, 'b.txt'));
	const drop = (kind: 'text' | 'file') =>
		rowOf(page, 'Inner').evaluate((folder, given) => {
			const transfer = new DataTransfer();
			if (given === 'file') transfer.items.add(new File(['new'], 'new.txt'));
			else transfer.setData('text/plain', 'Some words');
			for (const type of ['dragenter', 'dragover', 'drop']) {
				folder.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
			}
		}, kind);
	// Neither does anything else that is dropped move what was dragged before.
	await writeFiles(app.home, { 'b.txt': '' });
	await rowOf(page, 'b.txt').waitFor();
	await drop('text');
	await drop('file');
	await page.getByRole('dialog').getByRole('button', { name: 'Upload All' }).click();
	await expectOnDisk(t, app.home, ['Inner/', 'Inner/new.txt', 'Public/', 'a.txt', 'b.txt']);
	await overlaysClosed(page);
	t.deepEqual(app.faults, []);
});

test.serial('after a dialog the keys go on from what it has made', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': '', 'x.txt': '', 'y.txt': '' });
	const page = await app.open('/browser?type=private');
	await rowOf(page, 'y.txt').focus();
	const list = await page.getByRole('grid', { name: 'Files' }).boundingBox();
	await page.mouse.click((list?.x ?? 0) + 100, (list?.y ?? 0) + (list?.height ?? 0) - 20, { button: 'right' });
	await page.getByRole('menuitem', { name: 'Create File' }).click();
	await page.getByRole('dialog').getByRole('textbox').fill('b.txt');
	await page.keyboard.press('Enter');
	await overlaysClosed(page);
	await rowOf(page, 'b.txt').and(page.locator(':focus')).waitFor();
	await page.keyboard.press('ArrowDown');
	await rowOf(page, 'x.txt').and(page.locator(':focus')).waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('Actions has what can be done in the folder also while something is selected', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a', 'Box/': '' });
	const page = await app.open('/browser?type=private');
	const actions = page.getByRole('button', { name: 'Actions', exact: true });
	const ofFolder = ['Create Folder', 'Create File', 'Upload Files', 'Upload Folder', 'Paste', 'Select All', 'Refresh'];
	await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
	await actions.click();
	await eventually(t, async () => (await menuItems(page)).slice(-ofFolder.length - 1), ['Delete', ...ofFolder]);
	await page.getByRole('menuitem', { name: 'Create Folder' }).click();
	await page.getByRole('dialog', { name: 'Create Folder' }).getByRole('textbox').fill('New');
	await page.keyboard.press('Enter');
	await overlaysClosed(page);
	await expectSelected(t, page, 'New');
	await actions.click();
	await page.getByRole('menuitem', { name: 'Select All' }).click();
	await expectSelected(t, page, 'Box', 'New', 'Public', 'a.txt');
	// Of a row it has no place.
	await rowOf(page, 'a.txt').click({ button: 'right' });
	await eventually(t, async () => (await menuItems(page)).at(-1), 'Delete');
	t.deepEqual(app.faults, []);
});
