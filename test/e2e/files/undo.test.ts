import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { type desktop, phone } from '../support/browser.js';
import { absent, eventually, gone } from '../support/expect.js';
import {
	expectFocusInList,
	expectOnDisk,
	keepBoth,
	nameIn,
	overlaysClosed,
	rowOf,
	setUpFixture,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { holdTimers } from '../support/heldTimers.js';
import { keyboard, mouse } from '../support/inputMethods.js';
import { expectNotice, noticeMs } from '../support/notices.js';

const fixture = withKeptPages(setUpFixture(test));

const contents = { 'a.txt': 'a', 'b.txt': 'b', 'docs/c.txt': 'c', 'docs/a.txt': 'another' };
const initial = ['Public/', 'a.txt', 'b.txt', 'docs/', 'docs/a.txt', 'docs/c.txt'];

const byButton = (page: Page) => page.getByRole('button', { name: 'Undo' }).click();
const byKey = (page: Page) => page.keyboard.press('Control+z');

/** Every operation and its undo. */
const everyOperation = async (t: ExecutionContext, undo: (page: Page) => Promise<void>) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, contents);
	const page = await app.open('/browser?type=private');
	const undone = async (notice: string) => {
		await undo(page);
		await expectNotice(page, notice);
		await absent(t, page.getByRole('button', { name: 'Undo' }));
		await expectOnDisk(t, app.home, initial);
		// What is back is selected again if it was.
		await page.keyboard.press('Escape');
	};

	await mouse.onEntry(page, 'a.txt', 'Delete');
	await mouse.confirm(page, 'Delete');
	await expectNotice(page, 'Deleted a.txt');
	await gone(t, rowOf(page, 'a.txt'));
	await undone('Restored a.txt');
	await rowOf(page, 'a.txt').waitFor();

	await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
	await rowOf(page, 'docs').click({ modifiers: ['Control'] });
	await page.keyboard.press('Delete');
	await mouse.confirm(page, 'Delete');
	await expectNotice(page, 'Deleted 2 items');
	await expectOnDisk(t, app.home, ['Public/', 'b.txt']);
	await undone('Restored 2 items');
	await rowOf(page, 'docs').waitFor();

	await mouse.onEntry(page, 'b.txt', 'Rename');
	await mouse.confirm(page, 'Rename', 'z.txt');
	await expectNotice(page, 'Renamed to z.txt');
	await undone('Renamed back to b.txt');
	await rowOf(page, 'b.txt').waitFor();

	// Cut: one of them gets another name in the folder, and its own again when it is back.
	await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
	await rowOf(page, 'b.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+x');
	await mouse.open(page, 'docs');
	await page.keyboard.press('Control+v');
	await keepBoth(page);
	await expectNotice(page, 'Pasted 2 items');
	await expectOnDisk(t, app.home, ['Public/', 'docs/', 'docs/a (1).txt', 'docs/a.txt', 'docs/b.txt', 'docs/c.txt']);
	await undone('Moved 2 items back');
	await gone(t, rowOf(page, 'a (1).txt'));

	// Copied: the copies go to the trash, and what had their names stays.
	await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
	await rowOf(page, 'c.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+c');
	await page.keyboard.press('Control+v');
	await expectNotice(page, 'Pasted 2 items');
	await rowOf(page, 'c (1).txt').waitFor();
	await undone('Moved 2 items to the trash');
	await gone(t, rowOf(page, 'c (1).txt'));
	await mouse.onEntry(page, 'c.txt', 'Copy');
	await page.keyboard.press('Control+v');
	await expectNotice(page, 'Pasted c.txt');
	await undone('Moved c (1).txt to the trash');

	await mouse.goUp(page);
	await nameIn(page, 'a.txt').dragTo(rowOf(page, 'docs'));
	await keepBoth(page);
	await expectNotice(page, 'Moved a.txt');
	await undone('Moved a.txt back');
	await mouse.onEntry(page, 'docs', 'Move to Public');
	await mouse.confirm(page, 'Move');
	await expectNotice(page, 'Moved docs to public');
	await undone('Moved docs back');

	// What is public, too.
	await mouse.toArea(page, 'public');
	await writeFiles(app.home, { 'Public/p.txt': 'p' });
	await rowOf(page, 'p.txt').waitFor();
	for (const [press, name, done, back] of [
		['F2', 'Rename', 'Renamed to q.txt', 'Renamed back to p.txt'],
		['Delete', 'Delete', 'Deleted p.txt', 'Restored p.txt'],
	] as const) {
		await rowOf(page, 'p.txt').focus();
		await page.keyboard.press(press);
		await mouse.confirm(page, name, name === 'Rename' ? 'q.txt' : undefined);
		await expectNotice(page, done);
		await undo(page);
		await expectNotice(page, back);
		await expectOnDisk(t, app.home, [...initial, 'Public/p.txt']);
	}
	t.deepEqual(app.faults, []);
};

test.serial('each operation is undone by the button of its notice', everyOperation, byButton);
test.serial('each operation is undone by Ctrl+Z', everyOperation, byKey);

test.serial(
	'Ctrl+Z undoes one operation after another, also later and from the trash, but not in a field',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, contents);
		const page = await app.open('/browser?type=private');
		await keyboard.onEntry(page, 'a.txt', 'Rename');
		await keyboard.confirm(page, 'Rename', 'first.txt');
		await expectNotice(page, 'Renamed to first.txt');
		await keyboard.onEntry(page, 'b.txt', 'Delete');
		await keyboard.confirm(page, 'Delete');
		await expectNotice(page, 'Deleted b.txt');
		// Out of the notice: its time is over.
		const close = page.getByRole('status').getByRole('button', { name: 'Close' });
		while ((await close.count()) > 0) await close.first().click();
		const search = page.getByRole('searchbox', { name: 'Search' });
		await search.fill('abc');
		await search.press('Control+z');
		await search.press('Escape');
		await expectOnDisk(t, app.home, ['Public/', 'docs/', 'docs/a.txt', 'docs/c.txt', 'first.txt']);
		await page.getByRole('button', { name: app.username }).click();
		await page.getByRole('menuitem', { name: 'Trash' }).click();
		await rowOf(page, 'b.txt').waitFor();
		await page.keyboard.press('Control+z');
		await expectNotice(page, 'Restored b.txt');
		await page.getByText('The trash is empty').waitFor();
		await page.keyboard.press('Control+z');
		await expectNotice(page, 'Renamed back to a.txt');
		await expectOnDisk(t, app.home, initial);
		await page.keyboard.press('Control+z');
		await expectNotice(page, 'Nothing to undo');
		t.deepEqual(app.faults, []);
	},
);

test.serial('an undo that is not possible any more says why, and one that fails for now can be repeated', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, contents);
	const page = await app.open('/browser?type=private');
	const remove = async (name: string) => {
		await mouse.onEntry(page, name, 'Delete');
		await mouse.confirm(page, 'Delete');
		await expectNotice(page, `Deleted ${name}`);
	};
	await remove('a.txt');
	const other = await app.open('/trash');
	await other.getByRole('button', { name: 'Empty Trash' }).click();
	await mouse.confirm(other, 'Empty Trash');
	await expectNotice(other, 'The trash is empty now');
	await other.close();
	await page.keyboard.press('Control+z');
	await expectNotice(page, 'Cannot undo: "a.txt" is not in the trash any more.');

	await mouse.onEntry(page, 'b.txt', 'Rename');
	await mouse.confirm(page, 'Rename', 'z.txt');
	await expectNotice(page, 'Renamed to z.txt');
	await rename(path.join(app.home, 'z.txt'), path.join(app.home, 'y.txt'));
	await page.keyboard.press('Control+z');
	await expectNotice(page, 'Cannot undo: "z.txt" is not in Private Files any more.');

	await rowOf(page, 'y.txt').waitFor();
	await remove('y.txt');
	await page.route('**/api/trash/restore', (route) => route.abort());
	await page.keyboard.press('Control+z');
	await expectNotice(page, 'Cannot undo: Network error');
	await page.unroute('**/api/trash/restore');
	await page.keyboard.press('Control+z');
	await expectNotice(page, 'Restored y.txt');

	// It is not the operation before that is undone instead.
	await remove('y.txt');
	await rowOf(page, 'docs').focus();
	await page.keyboard.press('Shift+Delete');
	await mouse.confirm(page, 'Delete forever');
	await expectNotice(page, 'Deleted docs forever');
	await page.keyboard.press('Control+z');
	await expectNotice(page, 'Cannot undo: what is deleted forever cannot be restored.');
	await expectOnDisk(t, app.home, ['Public/']);
	await page.keyboard.press('Control+z');
	await expectNotice(page, 'Restored y.txt');
	await expectOnDisk(t, app.home, ['Public/', 'y.txt']);
	t.deepEqual(app.faults, []);
});

test.serial('of several items those that can be brought back are, and the others are named', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c', 'docs/': '' });
	const page = await app.open('/browser?type=private');
	for (const name of ['a.txt', 'b.txt', 'c.txt']) await rowOf(page, name).click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+x');
	await mouse.open(page, 'docs');
	await page.keyboard.press('Control+v');
	await expectNotice(page, 'Pasted 3 items');
	await rm(path.join(app.home, 'docs/a.txt'));
	await rm(path.join(app.home, 'docs/b.txt'));
	await page.getByRole('button', { name: 'Undo' }).click();
	await expectNotice(page, 'Moved c.txt back');
	await expectNotice(page, 'Cannot undo for 2 items', '"b.txt" is not in docs any more.');
	await expectOnDisk(t, app.home, ['Public/', 'c.txt', 'docs/']);
	await page.keyboard.press('Control+z');
	await expectNotice(page, 'Nothing to undo');
	t.deepEqual(app.faults, []);
});

test.serial(
	'what a user has done is not undone by the next one of the same tab, who has a file of that name',
	async (t) => {
		const bob = await fixture.enter(t);
		await writeFiles(bob.home, { 'b.txt': 'of bob' });
		const ada = await fixture.enter(t);
		await writeFiles(ada.home, { 'a.txt': 'of ada' });
		await holdTimers(ada.context, 10_000);
		const page = await ada.open('/browser?type=private');
		await mouse.onEntry(page, 'a.txt', 'Rename');
		await mouse.confirm(page, 'Rename', 'b.txt');
		await expectNotice(page, 'Renamed to b.txt');
		await page.getByRole('button', { name: ada.username }).click();
		await page.getByRole('menuitem', { name: 'Logout' }).click();
		await page.getByRole('banner').getByRole('button', { name: 'Sign In' }).click();
		const dialog = page.getByRole('dialog', { name: 'Sign In' });
		await dialog.getByLabel('Username').fill(bob.username);
		await dialog.getByLabel('Password').fill('correct horse');
		await dialog.getByRole('button', { name: 'Sign In' }).click();
		await page.getByRole('button', { name: bob.username }).waitFor();
		await overlaysClosed(page);
		await page.getByRole('banner').getByRole('button', { name: 'Private Files' }).click();
		await rowOf(page, 'b.txt').waitFor();
		await page.getByRole('button', { name: 'Undo' }).click();
		await expectNotice(page, 'Nothing to undo');
		await page.keyboard.press('Control+z');
		await expectNotice(page, 'Nothing to undo');
		await expectOnDisk(t, bob.home, ['Public/', 'b.txt']);
		await expectOnDisk(t, ada.home, ['Public/', 'b.txt']);
		t.deepEqual([...ada.faults, ...bob.faults], []);
	},
);

const offered = async (t: ExecutionContext, viewport: typeof desktop | undefined) => {
	const app = await fixture.enter(t, viewport ? { viewport, hasTouch: true } : {});
	await holdTimers(app.context, 10_000);
	await holdTimers(app.context, noticeMs);
	await writeFiles(app.home, contents);
	const page = await app.open('/browser?type=private');
	await rowOf(page, 'b.txt').focus();
	await page.keyboard.press('Delete');
	await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
	await overlaysClosed(page);
	await expectNotice(page, 'Deleted b.txt');
	await assertAccessible(t, page, 'Undo is offered');
	const button = page.getByRole('button', { name: 'Undo' });
	await (viewport ? button.tap() : button.press('Enter'));
	await expectNotice(page, 'Restored b.txt');
	await expectFocusInList(page);
	await assertAccessible(t, page, 'undone');
	await expectOnDisk(t, app.home, initial);
	t.deepEqual(app.faults, []);
};

test.serial('axe finds no violation where an undo is offered and done by the keyboard', offered, undefined);
test.serial('axe finds no violation where an undo is offered and done with a finger on a phone', offered, phone);

test.serial('on a phone the notices of three long names leave room for the page, and each can be undone', async (t) => {
	const app = await fixture.enter(t, { viewport: phone, hasTouch: true });
	await holdTimers(app.context, 10_000);
	const names = ['a', 'b', 'c'].map((letter) => `${letter} ${'holiday by the sea '.repeat(12)}.jpg`);
	await writeFiles(app.home, Object.fromEntries(names.map((name) => [name, 'x'])));
	const page = await app.open('/browser?type=private');
	for (const name of names) {
		await rowOf(page, name).focus();
		await page.keyboard.press('Delete');
		await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
		await overlaysClosed(page);
		await expectNotice(page, `Deleted ${name}`);
	}
	const buttons = page.getByRole('button', { name: 'Undo' });
	await eventually(t, () => buttons.count(), 3);
	const notices = page.getByRole('status').filter({ has: buttons });
	const tops = await notices.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
	t.true(Math.min(...tops) > phone.height / 3, `the notices begin at ${tops.join(', ')}`);
	// From below: the others stay where they are, and a second tap at one place would be that of a double tap.
	for (const name of names.toReversed()) {
		await buttons.last().tap();
		await page
			.getByRole('status')
			.filter({ hasText: `Restored ${name}` })
			.waitFor();
	}
	await gone(t, buttons);
	await expectOnDisk(t, app.home, ['Public/', ...names]);
	t.deepEqual(app.faults, []);
});

test.serial('keys that are held undo, paste and open once', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a', 'b.txt': 'b', 'docs/': '' });
	const page = await app.open('/browser?type=private');
	for (const name of ['a', 'b']) {
		await mouse.onEntry(page, `${name}.txt`, 'Rename');
		await mouse.confirm(page, 'Rename', `${name}${name}.txt`);
		await expectNotice(page, `Renamed to ${name}${name}.txt`);
	}
	/** All presses but the first are repeats. */
	const hold = async (key: string) => {
		await page.keyboard.down('Control');
		for (let times = 0; times < 5; times++) await page.keyboard.down(key);
		await page.keyboard.up(key);
		await page.keyboard.up('Control');
	};
	await hold('z');
	await expectNotice(page, 'Renamed back to b.txt');
	await rowOf(page, 'b.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+c');
	await mouse.open(page, 'docs');
	await hold('v');
	await expectNotice(page, 'Pasted b.txt');
	await rowOf(page, 'b.txt').waitFor();
	// What was pasted after it would be there when this is.
	await mouse.onEntry(page, 'b.txt', 'Rename');
	await mouse.confirm(page, 'Rename', 'z.txt');
	await expectNotice(page, 'Renamed to z.txt');
	await expectOnDisk(t, app.home, ['Public/', 'aa.txt', 'b.txt', 'docs/', 'docs/z.txt']);
	t.deepEqual(app.faults, []);
});
