import test from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { openPage, phone } from '../support/browser.js';
import { absent } from '../support/expect.js';
import { rowOf, setUpFixture, writeFiles } from '../support/fileManager.js';

const reading = setUpFixture(test, ['--visitors', 'read']);
const closed = setUpFixture(test, ['--visitors', 'off']);

async function signIn(page: Page, username: string) {
	const dialog = page.getByRole('dialog');
	await dialog.getByLabel('Username').fill(username);
	await dialog.getByLabel('Password', { exact: true }).fill('correct horse');
	await dialog.getByRole('button', { name: 'Sign In' }).click();
	await dialog.waitFor({ state: 'hidden' });
}

test.serial(
	'where visitors may only read, their page says so, and what they drop waits until they sign in',
	async (t) => {
		const app = await reading.enter(t, { isVisitor: true });
		await writeFiles(`${app.files}/Public`, { 'shown.txt': 'shown' });
		const list = await app.open('/browser');
		await rowOf(list, 'shown.txt').click({ button: 'right' });
		await list.getByRole('menuitem', { name: 'Download' }).waitFor();
		await list.keyboard.press('Escape');
		await list.getByRole('grid', { name: 'Files' }).click({ button: 'right', position: { x: 300, y: 300 } });
		await list.getByRole('menuitem', { name: 'Refresh' }).waitFor();
		await absent(t, list.getByRole('menuitem', { name: 'Upload Files' }));

		const { page } = await openPage(app.context, app.url, app.faults);
		await page.getByText('Sign in to upload.').waitFor();
		await page
			.locator('input[type=file]')
			.setInputFiles({ name: 'mine.txt', mimeType: 'text/plain', buffer: Buffer.from('m') });
		await page.getByText('Sign in to upload these files. Until then they wait here.').waitFor();
		await assertAccessible(t, page, 'landing page for visitors who may only read');
		await page.getByRole('button', { name: 'Upload All' }).click();
		await signIn(page, app.username);
		await page.getByRole('button', { name: 'Upload All' }).click();
		await page.getByText('File uploaded successfully!').waitFor();
		t.deepEqual(app.faults, []);
	},
);

test.serial('where visitors are off, they see no files and are asked to sign in', async (t) => {
	const app = await closed.enter(t, { isVisitor: true, viewport: phone });
	await writeFiles(`${app.files}/Public`, { 'shown.txt': 'shown' });
	const { page } = await openPage(app.context, `${app.url}/browser`, app.faults);
	await page.getByRole('heading', { name: 'Sign in to see these files' }).waitFor();
	await absent(t, page.getByRole('button', { name: 'Public Files' }));
	await assertAccessible(t, page, 'file browser for visitors who may do nothing');
	await page.getByRole('main').getByRole('button', { name: 'Sign In' }).click();
	await signIn(page, app.username);
	await rowOf(page, 'shown.txt').waitFor();
	t.deepEqual(app.faults, []);
});
