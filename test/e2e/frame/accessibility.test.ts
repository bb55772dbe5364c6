import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { serveArgs, startServer } from '../../serverProcess.js';
import { assertAccessible } from '../support/axe.js';
import { desktop, openBrowser, openPage, phone, plainName } from '../support/browser.js';

async function signIn(page: Page): Promise<void> {
	await page.getByRole('button', { name: 'Sign In' }).click();
	const dialog = page.getByRole('dialog', { name: 'Sign In' });
	await dialog.getByLabel('Username').fill('ada');
	await dialog.getByLabel('Password').fill('correct horse');
	await dialog.getByRole('button', { name: 'Sign In' }).click();
	await page.getByRole('button', { name: 'ada' }).waitFor();
}

const everyState = async (t: ExecutionContext, viewport: typeof desktop) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-axe-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const server = await startServer(t, { args: serveArgs(folder) });
	await server.register('ada');
	const home = path.join(folder, 'files/users/ada');
	for (const name of ['Photos', 'Music', 'Tax 2024']) await mkdir(path.join(home, name));
	for (const name of ['readme.txt', 'holiday.mp4', 'budget.xlsx', 'portrait.jpg', 'notes.md', 'song.flac']) {
		await writeFile(path.join(home, name), 'x'.repeat(1500));
		await writeFile(path.join(folder, 'files/Public', name), name);
	}
	const { page, faults } = await openPage(await openBrowser(t, viewport), plainName(server.url));

	await page.getByText('Drop files or click to upload').waitFor();
	await assertAccessible(t, page, 'landing page');
	await page.getByRole('button', { name: 'Sign Up' }).click();
	await page.getByRole('dialog', { name: 'Sign Up' }).locator(':focus').waitFor();
	await assertAccessible(t, page, 'sign-up dialog');
	await page.keyboard.press('Escape');
	await page.getByRole('dialog').waitFor({ state: 'detached' });
	await signIn(page);
	await page.setInputFiles('input[type=file]', [path.join(home, 'readme.txt'), path.join(home, 'song.flac')]);
	await page.getByText('Upload Queue (2 files)').waitFor();
	await assertAccessible(t, page, 'landing page with a queue');
	await page.getByRole('button', { name: 'Cancel' }).click();

	await page.goto(`${plainName(server.url)}/browser?type=private`);
	const grid = page.getByRole('grid', { name: 'Files' });
	await grid.getByRole('row', { name: 'readme.txt' }).waitFor();
	if (process.env.UPDATE_PICTURES === '1' && viewport === desktop)
		await page.screenshot({ path: 'docs/images/browser.png' });
	await assertAccessible(t, page, 'private files');
	await grid.getByRole('row', { name: 'readme.txt' }).click({ modifiers: ['Control'] });
	await page.keyboard.press('Shift+F10');
	await page.getByRole('menu').first().waitFor();
	await assertAccessible(t, page, 'menu of an item');
	await page.keyboard.press('Escape');
	await page.keyboard.press('F2');
	await page.getByRole('dialog', { name: 'Rename' }).waitFor();
	await assertAccessible(t, page, 'rename dialog');
	await page.keyboard.press('Escape');
	await page.goto(`${plainName(server.url)}/browser?type=public`);
	await grid.getByRole('row', { name: 'readme.txt' }).waitFor();
	await assertAccessible(t, page, 'public files');
	await page.goto(`${plainName(server.url)}/browser/nowhere?type=private`);
	await page.getByText('Error loading files').first().waitFor();
	await assertAccessible(t, page, 'missing folder');
	t.deepEqual(faults, []);
};

test.serial('axe finds no violation on any screen on a desktop', everyState, desktop);
test.serial('axe finds no violation on any screen on a phone', everyState, phone);
