import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { desktop, phone } from '../support/browser.js';
import { absent, eventually, gone } from '../support/expect.js';
import {
	type FileManager,
	fadedOut,
	holdRequest,
	rowOf,
	setUpFixture,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { expectNotice } from '../support/notices.js';

const fixture = withKeptPages(setUpFixture(test));

/** Replaces a file of the home by these contents, one after another. */
async function replace(page: Page, name: string, ...contents: string[]): Promise<void> {
	for (const content of contents) {
		const status = await page.evaluate(
			async ([fileName, text]) => {
				const form = new FormData();
				form.set('type', 'private');
				form.set('onConflict', 'replace');
				form.set('file', new File([text as string], fileName as string), fileName);
				return (await fetch('/api/upload', { method: 'POST', body: form })).status;
			},
			[name, content],
		);
		if (status !== 200) throw new Error(`The server answered with ${status}.`);
		await rowOf(page, name).getByText(`${content.length} B`).waitFor();
	}
}

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Versions', exact: true });
const rows = (page: Page) => dialog(page).getByRole('listitem');
const button = (page: Page, index: number, name: string) => rows(page).nth(index).getByRole('button', { name });

async function openVersions(page: Page, count: number): Promise<void> {
	await rowOf(page, 'a.txt').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Versions' }).press('Enter');
	await rows(page)
		.nth(count - 1)
		.waitFor();
}

/** Confirms a deletion by Enter, on what has the focus in the dialog that asks. */
async function confirmDeletion(t: ExecutionContext, page: Page): Promise<void> {
	const question = page.getByRole('dialog', { name: 'Delete forever' });
	await eventually(t, () => question.locator(':focus').count(), 1);
	await page.keyboard.press('Enter');
	await gone(t, question);
}

const contentOf = (app: FileManager) => readFile(path.join(app.home, 'a.txt'), 'utf8');

const everyAction = async (t: ExecutionContext, viewport: typeof desktop) => {
	const app = await fixture.enter(t, { viewport });
	await writeFiles(app.home, { 'a.txt': 'one', 'b.txt': 'b' });
	const page = await app.open('/browser?type=private');
	await replace(page, 'a.txt', 'two!', 'three', 'fourth');
	// A file without versions has none to show.
	await rowOf(page, 'b.txt').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Rename' }).waitFor();
	await absent(t, page.getByRole('menuitem', { name: 'Versions' }));
	await page.keyboard.press('Escape');
	await page.getByRole('menu').waitFor({ state: 'detached' });

	await openVersions(page, 3);
	await assertAccessible(t, page, 'versions');
	const [download] = await Promise.all([
		page.waitForEvent('download'),
		rows(page).nth(1).getByRole('link', { name: 'Download' }).click(),
	]);
	t.is(download.suggestedFilename(), 'a.txt');
	t.is(await readFile(await download.path(), 'utf8'), 'two!');

	// The focus goes to the next one, and from the last to the one before.
	await button(page, 1, 'Delete').press('Enter');
	await page.getByRole('dialog', { name: 'Delete forever' }).waitFor();
	await assertAccessible(t, page, 'delete a version');
	await confirmDeletion(t, page);
	await eventually(t, () => rows(page).count(), 2);
	await eventually(t, () => button(page, 1, 'Delete').and(page.locator(':focus')).count(), 1);

	await button(page, 1, 'Restore').press('Enter');
	await gone(t, dialog(page));
	await expectNotice(page, 'Restored a.txt as it was on ');
	t.is(await contentOf(app), 'one');
	await page.getByRole('button', { name: 'Undo' }).click();
	await expectNotice(page, 'Restored what a.txt had before');
	t.is(await contentOf(app), 'fourth');

	// Once the last is deleted, the dialog says that there are none.
	await openVersions(page, 2);
	for (const left of [1, 0]) {
		await button(page, 0, 'Delete').press('Enter');
		await page.getByRole('dialog', { name: 'Delete forever' }).waitFor();
		await confirmDeletion(t, page);
		await eventually(t, () => rows(page).count(), left);
	}
	await dialog(page).getByText('There are no versions of this file').waitFor();
	await assertAccessible(t, page, 'no versions');
	await eventually(t, () => dialog(page).getByRole('button', { name: 'Close' }).and(page.locator(':focus')).count(), 1);
	await page.keyboard.press('Enter');
	await eventually(t, () => rowOf(page, 'a.txt').and(page.locator(':focus')).count(), 1);
	t.deepEqual(app.faults, []);
};
test.serial('versions are downloaded, deleted and restored, on a desktop', everyAction, desktop);
test.serial('versions are downloaded, deleted and restored, on a phone', everyAction, phone);

test.serial('a version or a file that is gone meanwhile is said to be, and nothing changes', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'one' });
	const page = await app.open('/browser?type=private');
	await replace(page, 'a.txt', 'two!', 'three');
	await openVersions(page, 2);
	await page.evaluate(async () => {
		const { versions } = await (await fetch('/api/versions/a.txt?type=private')).json();
		await fetch(`/api/versions/${versions[0].id}`, { method: 'DELETE' });
	});
	await button(page, 0, 'Restore').click();
	await expectNotice(page, 'The version could not be restored', 'There is no such version of this file any more.');
	await eventually(t, () => rows(page).count(), 1);
	t.is(await contentOf(app), 'three');
	await page.keyboard.press('Escape');
	await gone(t, dialog(page));

	await page.route(
		'**/api/versions/a.txt*',
		async (route) => {
			await page.evaluate(() =>
				fetch('/api/deleteItem', {
					method: 'DELETE',
					headers: { 'content-type': 'application/json' },
					body: JSON.stringify({ filePath: 'a.txt', type: 'private' }),
				}),
			);
			await route.continue();
		},
		{ times: 1 },
	);
	await rowOf(page, 'a.txt').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Versions' }).click();
	await page.getByRole('alert').getByText('The versions could not be loaded').waitFor();
	await assertAccessible(t, page, 'versions that could not be loaded');
	t.deepEqual(app.faults, []);
});

test.serial('the versions on screen stay there while the server is away', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'one' });
	const page = await app.open('/browser?type=private');
	await replace(page, 'a.txt', 'two!', 'three');
	await openVersions(page, 2);
	const failures: string[] = [];
	page.on('requestfailed', (request) => failures.push(new URL(request.url()).pathname));
	await app.context.setOffline(true);
	t.teardown(() => app.context.setOffline(false));
	await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
	// It is tried twice.
	await eventually(t, async () => failures.filter((each) => each === '/api/versions/a.txt').length, 2);
	await page.getByText('You are offline.').waitFor();
	await absent(t, page.getByText('The versions could not be loaded'));
	await eventually(t, () => rows(page).count(), 2);
});

test.serial('a version that is restored late closes no dialog that was opened meanwhile', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'one' });
	const page = await app.open('/browser?type=private');
	await replace(page, 'a.txt', 'two!');
	await openVersions(page, 1);
	const release = await holdRequest(page, '**/api/versions/restore');
	await button(page, 0, 'Restore').press('Enter');
	await page.keyboard.press('Escape');
	await gone(t, dialog(page));
	await rowOf(page, 'a.txt').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Rename' }).press('Enter');
	const rename = page.getByRole('dialog', { name: 'Rename' });
	await rename.getByRole('textbox').fill('b.txt');
	release();
	await expectNotice(page, 'Restored a.txt as it was on ');
	await fadedOut();
	await rename.getByRole('textbox').press('Enter');
	await rowOf(page, 'b.txt').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('a dialog that can’t be loaded closes no other one that was opened meanwhile', async (t) => {
	const app = await setUpFixture(test).enter(t);
	await writeFiles(app.home, { 'a.txt': 'one' });
	const page = await app.open('/browser?type=private');
	await replace(page, 'a.txt', 'two!');
	let fail = () => {};
	const failed = new Promise<void>((resolve) => {
		fail = resolve;
	});
	const asked = page.waitForRequest('**/VersionsDialog*');
	await page.route('**/VersionsDialog*', (route) => failed.then(() => route.abort()));
	await rowOf(page, 'a.txt').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Versions' }).press('Enter');
	await asked;
	await rowOf(page, 'a.txt').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Rename' }).press('Enter');
	const rename = page.getByRole('dialog', { name: 'Rename' });
	await rename.getByRole('textbox').fill('b.txt');
	fail();
	await expectNotice(page, 'This could not be loaded.');
	await fadedOut();
	await rename.getByRole('textbox').press('Enter');
	await gone(t, rename);
	await rowOf(page, 'b.txt').waitFor();
});
