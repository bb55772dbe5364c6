import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { serveArgs, startServer } from '../serverProcess.js';
import { desktop, openBrowser, openPage, phone, plainName } from './support/browser.js';
import { holdTimers, releaseTimers } from './support/heldTimers.js';
import { uploadTimeoutMs } from './support/timeouts.js';
import { successMs } from './support/uploads.js';

const megabyte = 1024 * 1024;

/** Five files: a large one, an empty one, and some with unusual names. */
const files = [
	{ name: 'holiday video.mp4', size: 200 * megabyte, shown: '200.0 MB' },
	{ name: 'empty.dat', size: 0, shown: '0 B' },
	{ name: 'naïve – 日本 🎉.txt', size: 1500, shown: '1.5 KB' },
	{ name: '-rf.txt', size: 12, shown: '12 B' },
	{ name: 'no extension', size: 3 * megabyte, shown: '3.0 MB' },
];

async function sha256(file: string): Promise<string> {
	const hash = createHash('sha256');
	await pipeline(createReadStream(file), hash);
	return hash.digest('hex');
}

async function makeFiles(folder: string): Promise<string[]> {
	return Promise.all(
		files.map(async ({ name, size }) => {
			const file = path.join(folder, name);
			const pieces = Array.from({ length: Math.ceil(size / megabyte) }, (_, at) =>
				Math.min(megabyte, size - at * megabyte),
			);
			await pipeline(Readable.from(pieces.map((length) => randomBytes(length))), createWriteStream(file));
			return file;
		}),
	);
}

/** Drops files onto the drop zone, as from the desktop. */
async function dropFiles(page: Page, paths: string[]): Promise<void> {
	// Playwright can give large real files only to an input. They are passed to the page's own handler in a real drop event.
	await page.evaluate(() => {
		const input = document.createElement('input');
		input.type = 'file';
		input.multiple = true;
		input.id = 'files-to-drop';
		input.hidden = true;
		document.body.append(input);
	});
	await page.setInputFiles('#files-to-drop', paths);
	await page.getByText('Drop files or click to upload').evaluate((zone) => {
		const input = document.querySelector<HTMLInputElement>('#files-to-drop');
		const transfer = new DataTransfer();
		for (const file of input?.files ?? []) transfer.items.add(file);
		for (const type of ['dragenter', 'dragover', 'drop']) {
			zone.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
		}
		input?.remove();
	});
}

async function mainJob(t: ExecutionContext, visitor: boolean): Promise<void> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-e2e-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const sources = path.join(folder, 'sources');
	await mkdir(sources);
	const paths = await makeFiles(sources);
	const server = await startServer(t, { args: serveArgs(path.join(folder, 'data')) });
	const context = await openBrowser(t);
	await holdTimers(context, successMs);
	const { page, faults } = await openPage(context, plainName(server.url));

	if (!visitor) {
		await page.getByRole('button', { name: 'Sign Up' }).click();
		const dialog = page.getByRole('dialog', { name: 'Sign Up' });
		await dialog.getByLabel('Username').fill('ada');
		await dialog.getByLabel('Password', { exact: true }).fill('correct horse');
		await dialog.getByLabel('Confirm Password').fill('correct horse');
		await dialog.getByRole('button', { name: 'Sign Up' }).click();
		await page.getByRole('button', { name: 'ada' }).waitFor();
	}

	await dropFiles(page, paths);
	await page.getByText('Upload Queue (5 files)').waitFor();
	await page.getByRole('textbox', { name: 'File name' }).nth(4).waitFor();
	if (visitor) t.is(await page.getByText('Public Only').count(), 5);
	await page.getByRole('button', { name: 'Upload All' }).click();
	await page.getByText('File uploaded successfully!').waitFor({ timeout: uploadTimeoutMs });
	await releaseTimers(page);

	await page.getByRole('button', { name: visitor ? 'Public Files' : 'Private Files' }).click();
	const grid = page.getByRole('grid', { name: 'Files' });
	for (const { name, shown, size } of files) {
		const row = grid.getByRole('row', { name });
		await row.waitFor();
		const text = (await row.textContent()) ?? '';
		t.true(text.includes(shown), `${name} is shown with ${shown}: ${text}`);
		t.true(text.includes(new Date().getFullYear().toString()), `${name} is shown with its date: ${text}`);
		const [download] = await Promise.all([page.waitForEvent('download'), row.getByText(name, { exact: true }).click()]);
		t.is(download.suggestedFilename(), name);
		const saved = path.join(folder, 'saved', name);
		await download.saveAs(saved);
		t.is((await stat(saved)).size, size);
		t.is(await sha256(saved), await sha256(path.join(sources, name)));
	}
	const tree = path.join(folder, 'data/files/users', visitor ? 'anonymous/Public' : 'ada');
	t.deepEqual((await readdir(tree)).filter((name) => name !== 'Public').sort(), files.map(({ name }) => name).sort());
	t.deepEqual(faults, []);
}

test.serial('a new user signs up, drops five files, finds them and downloads them byte for byte', (t) =>
	mainJob(t, false),
);

test.serial('a visitor does the same in the public area', (t) => mainJob(t, true));

test.serial('files that were copied into the data folder show up', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-e2e-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const server = await startServer(t, { args: serveArgs(folder) });
	await writeFile(path.join(folder, 'files/Public/from the shell.txt'), 'hello');
	const { page } = await openPage(await openBrowser(t, phone), `${plainName(server.url)}/browser`);
	await page.getByRole('grid', { name: 'Files' }).getByRole('row', { name: 'from the shell.txt' }).waitFor();
	t.pass();
});

test.serial('the picture in the README is the page as it is', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-e2e-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const server = await startServer(t, { args: serveArgs(folder) });
	await server.register('ada');
	const { page, faults } = await openPage(await openBrowser(t, desktop), plainName(server.url));
	await page.getByText('Drop files or click to upload').waitFor();
	const picture = await page.screenshot(process.env.UPDATE_PICTURES === '1' ? { path: 'docs/images/landing.png' } : {});
	t.true(picture.length > 10_000);
	t.deepEqual(faults, []);
});
