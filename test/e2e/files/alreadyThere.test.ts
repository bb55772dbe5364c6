import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { desktop, phone } from '../support/browser.js';
import { absent, eventually, gone } from '../support/expect.js';
import { expectOnDisk, nameIn, rowOf, setUpFixture, withKeptPages, writeFiles } from '../support/fileManager.js';
import { mouse } from '../support/inputMethods.js';
import { expectNotice } from '../support/notices.js';

const fixture = withKeptPages(setUpFixture(test));

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Already there' });
const button = (page: Page, name: string) => dialog(page).getByRole('button', { name });
const asked = (page: Page, name: string) => dialog(page).getByText(`“${name}” is already in docs.`).waitFor();

/** Answers the first question, after which there is another one. */
const confirmed = (page: Page, name: string) =>
	page.getByRole('dialog', { name }).getByRole('button', { name: 'Move', exact: true }).click();

test.serial('a paste asks about each name that is taken, and one undo takes all of it back', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'new', 'b.txt': 'new', 'c.txt': 'new', 'd.txt': 'new', 'f/x': '' });
	await writeFiles(app.home, { 'docs/a.txt': 'a', 'docs/b.txt': 'b', 'docs/c.txt': 'c', 'docs/f/': '' });
	const page = await app.open('/browser?type=private');
	const jobs: unknown[] = [];
	page.on('request', (request) => {
		if (request.method() === 'POST' && request.url().endsWith('/api/jobs')) jobs.push(request.postDataJSON());
	});
	for (const name of ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'f']) {
		await rowOf(page, name).click({ modifiers: ['Control'] });
	}
	await page.keyboard.press('Control+c');
	await mouse.open(page, 'docs');
	await page.keyboard.press('Control+v');
	// A folder is never replaced.
	await asked(page, 'f');
	await dialog(page).getByText('3 more names are taken').waitFor();
	await absent(t, button(page, 'Replace'));
	await assertAccessible(t, page, 'a folder is there');
	await button(page, 'Skip').press('Enter');
	await asked(page, 'a.txt');
	await assertAccessible(t, page, 'a file is there');
	// Each on one line.
	const heights = () =>
		dialog(page)
			.getByRole('button')
			.evaluateAll((buttons) => buttons.map((each) => each.getBoundingClientRect().height));
	await eventually(t, heights, [36, 36, 36, 36]);
	// On a phone they are two lines, which no notice covers.
	await page.setViewportSize(phone);
	const isClear = () =>
		page.evaluate(() => {
			const bottom = document.querySelector('div[aria-live="polite"]')?.getBoundingClientRect().bottom;
			const buttons = [...document.querySelectorAll('.bp6-dialog-footer-actions button')];
			return bottom !== undefined && buttons.every((each) => each.getBoundingClientRect().top >= bottom);
		});
	await eventually(t, isClear, true);
	await page.setViewportSize(desktop);
	t.deepEqual(jobs, []);
	await button(page, 'Keep both').press('Enter');
	await asked(page, 'b.txt');
	await page.getByRole('checkbox', { name: 'Do this for all' }).press('Space');
	await button(page, 'Replace').press('Enter');
	await gone(t, dialog(page));
	await expectNotice(page, 'Pasted 4 items', 'Skipped 1 item');
	const initial = ['Public/', 'a.txt', 'b.txt', 'c.txt', 'd.txt', 'f/', 'f/x'];
	const before = ['docs/', 'docs/a.txt', 'docs/b.txt', 'docs/c.txt', 'docs/f/'];
	await expectOnDisk(t, app.home, [...initial, ...before, 'docs/a (1).txt', 'docs/d.txt']);
	const contents = () =>
		Promise.all(['a', 'b', 'c'].map((name) => readFile(path.join(app.home, `docs/${name}.txt`), 'utf8')));
	t.deepEqual(await contents(), ['a', 'new', 'new']);
	t.is(jobs.length, 2);
	await page.keyboard.press('Control+z');
	await expectNotice(page, 'Moved 2 items to the trash');
	await expectNotice(page, 'Restored what 2 items had before');
	await expectOnDisk(t, app.home, [...initial, ...before]);
	t.deepEqual(await contents(), ['a', 'b', 'c']);
	t.deepEqual(app.faults, []);
});

test.serial('a dragged file replaces another one, stays where it is, or is given up', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'new', 'docs/a.txt': 'a' });
	const page = await app.open('/browser?type=private');
	await nameIn(page, 'a.txt').dragTo(rowOf(page, 'docs'));
	await asked(page, 'a.txt');
	// For one there is nothing to do for all.
	await absent(t, page.getByRole('checkbox', { name: 'Do this for all' }));
	await page.keyboard.press('Escape');
	await gone(t, dialog(page));
	await nameIn(page, 'a.txt').dragTo(rowOf(page, 'docs'));
	await button(page, 'Skip').click();
	await expectNotice(page, 'Skipped a.txt');
	await expectOnDisk(t, app.home, ['Public/', 'a.txt', 'docs/', 'docs/a.txt']);
	await nameIn(page, 'a.txt').dragTo(rowOf(page, 'docs'));
	await button(page, 'Replace').click();
	await expectNotice(page, 'Moved a.txt');
	await expectOnDisk(t, app.home, ['Public/', 'docs/', 'docs/a.txt']);
	t.is(await readFile(path.join(app.home, 'docs/a.txt'), 'utf8'), 'new');
	await eventually(t, () => page.getByRole('button', { name: 'Undo' }).count(), 0);
	await page.keyboard.press('Control+z');
	await expectNotice(page, 'Cannot undo: “a.txt” has replaced a file, which is among its versions now.');
	t.deepEqual(app.faults, []);
});

test.serial('what is moved to the public area or back asks about taken names, too', async (t) => {
	const app = await fixture.enter(t);
	const read = (name: string) => readFile(path.join(app.home, name), 'utf8');
	await writeFiles(app.home, { 'docs/a.txt': 'new', 'docs/b.txt': 'new', 'docs/c.txt': 'new' });
	await writeFiles(app.home, { 'Public/docs/a.txt': 'a', 'Public/docs/b.txt': 'b' });
	const page = await app.open('/browser/docs?type=private');
	for (const name of ['a.txt', 'b.txt', 'c.txt']) await rowOf(page, name).click({ modifiers: ['Control'] });
	await mouse.onEntry(page, 'c.txt', 'Move to Public');
	await confirmed(page, 'Move to Public');
	await asked(page, 'a.txt');
	await button(page, 'Replace').click();
	await asked(page, 'b.txt');
	await button(page, 'Skip').click();
	await expectNotice(page, 'Moved 2 items to public', 'Skipped 1 item');
	const both = ['Public/', 'Public/docs/', 'Public/docs/a.txt', 'Public/docs/b.txt', 'Public/docs/c.txt', 'docs/'];
	await expectOnDisk(t, app.home, [...both, 'docs/b.txt']);
	t.deepEqual([await read('Public/docs/a.txt'), await read('Public/docs/b.txt')], ['new', 'b']);

	await mouse.toArea(page, 'public');
	await mouse.open(page, 'docs');
	await mouse.onEntry(page, 'b.txt', 'Move back to Private');
	await confirmed(page, 'Move back to Private');
	await asked(page, 'b.txt');
	await page.keyboard.press('Escape');
	await gone(t, dialog(page));
	await mouse.onEntry(page, 'b.txt', 'Move back to Private');
	await confirmed(page, 'Move back to Private');
	await asked(page, 'b.txt');
	await button(page, 'Keep both').click();
	await expectNotice(page, 'Moved b.txt back to private');
	await expectOnDisk(t, app.home, [...both.filter((name) => !name.endsWith('b.txt')), 'docs/b.txt', 'docs/b (1).txt']);
	t.deepEqual(app.faults, []);
});

test.serial('a double click answers one question, and not also the one that is asked next', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'new', 'b.txt': 'new', 'c.txt': 'new', 'f/x': '' });
	await writeFiles(app.home, { 'docs/a.txt': 'a', 'docs/b.txt': 'b', 'docs/c.txt': 'c', 'docs/f/': '' });
	const page = await app.open('/browser?type=private');
	for (const name of ['a.txt', 'b.txt', 'c.txt', 'f']) await rowOf(page, name).click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+c');
	await mouse.open(page, 'docs');
	await page.keyboard.press('Control+v');
	const doubleClick = async (name: string, next: string) => {
		await button(page, name).hover();
		await page.mouse.down();
		await page.mouse.up();
		await asked(page, next);
		await page.mouse.down({ clickCount: 2 });
		await page.mouse.up({ clickCount: 2 });
	};
	await asked(page, 'f');
	// Where `Keep both` was, there is `Replace` next.
	await doubleClick('Keep both', 'a.txt');
	await doubleClick('Replace', 'b.txt');
	await doubleClick('Skip', 'c.txt');
	await button(page, 'Skip').click();
	await gone(t, dialog(page));
	await expectNotice(page, 'Pasted 2 items', 'Skipped 2 items');
	const before = ['Public/', 'a.txt', 'b.txt', 'c.txt', 'f/', 'f/x', 'docs/', 'docs/b.txt', 'docs/c.txt', 'docs/f/'];
	await expectOnDisk(t, app.home, [...before, 'docs/a.txt', 'docs/f (1)/', 'docs/f (1)/x']);
	const contents = ['a', 'b', 'c'].map((name) => readFile(path.join(app.home, `docs/${name}.txt`), 'utf8'));
	t.deepEqual(await Promise.all(contents), ['new', 'b', 'c']);
	t.deepEqual(app.faults, []);
});
