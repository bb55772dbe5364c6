import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { openPage, phone } from './support/browser.js';
import { eventually } from './support/expect.js';
import { rowOf, setUpFixture, writeFiles } from './support/fileManager.js';
import { holdTimers, releaseTimers } from './support/heldTimers.js';
import { timeoutMs, uploadTimeoutMs } from './support/timeouts.js';
import { successMs } from './support/uploads.js';

const fixture = setUpFixture(test);
const megabyte = 1024 * 1024;

/** Five files: a large one, an empty one, and some with unusual names. */
const filesWith = (large: { size: number; shown: string }) => [
	{ name: 'holiday video.mp4', ...large },
	{ name: 'empty.dat', size: 0, shown: '0 B' },
	{ name: 'naïve – 日本 🎉.txt', size: 1500, shown: '1.5 KB' },
	{ name: '-rf.txt', size: 12, shown: '12 B' },
	{ name: 'no extension', size: 3 * megabyte, shown: '3.0 MB' },
];
type Files = ReturnType<typeof filesWith>;

async function sha256(file: string): Promise<string> {
	const hash = createHash('sha256');
	await pipeline(createReadStream(file), hash);
	return hash.digest('hex');
}

async function makeFiles(folder: string, files: Files): Promise<string[]> {
	return Promise.all(
		files.map(async ({ name, size }) => {
			const file = path.join(folder, name);
			const chunks = Array.from({ length: Math.ceil(size / megabyte) }, (_, at) =>
				Math.min(megabyte, size - at * megabyte),
			);
			await pipeline(Readable.from(chunks.map((length) => randomBytes(length))), createWriteStream(file));
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

async function mainJob(t: ExecutionContext, files: Files, visitor: boolean): Promise<void> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-e2e-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const sources = path.join(folder, 'sources');
	await mkdir(sources);
	const paths = await makeFiles(sources, files);
	const app = await fixture.enter(t, { isVisitor: true });
	await holdTimers(app.context, successMs);
	const { page, faults } = await openPage(app.context, app.url);

	if (!visitor) {
		await page.getByRole('button', { name: 'Sign Up' }).click();
		const dialog = page.getByRole('dialog', { name: 'Sign Up' });
		await dialog.getByLabel('Username').fill('grace');
		await dialog.getByLabel('Password', { exact: true }).fill('correct horse');
		await dialog.getByLabel('Confirm Password').fill('correct horse');
		await dialog.getByRole('button', { name: 'Sign Up' }).click();
		await page.getByRole('button', { name: 'grace' }).waitFor();
	}

	await dropFiles(page, paths);
	await page.getByText('Upload Queue (5 files)').waitFor();
	await page.getByRole('textbox', { name: 'File name' }).nth(4).waitFor();
	if (visitor) await eventually(t, () => page.getByText('Public Only').count(), 5);
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
		await row.getByText(name, { exact: true }).click({ button: 'right' });
		const item = page.getByRole('menuitem', { name: 'Download', exact: true });
		const [download] = await Promise.all([page.waitForEvent('download'), item.click()]);
		t.is(download.suggestedFilename(), name);
		const saved = path.join(folder, 'saved', name);
		await download.saveAs(saved);
		t.is((await stat(saved)).size, size);
		t.is(await sha256(saved), await sha256(path.join(sources, name)));
	}
	const tree = path.join(app.files, 'users', visitor ? 'anonymous/Public' : 'grace');
	t.deepEqual((await readdir(tree)).filter((name) => name !== 'Public').sort(), files.map(({ name }) => name).sort());
	t.deepEqual(faults, []);
}

test.serial('a new user signs up, drops five files, and can list and download them byte for byte', (t) =>
	mainJob(t, filesWith({ size: 200 * megabyte, shown: '200.0 MB' }), false),
);

test.serial('a visitor drops five files, and can list and download them byte for byte in the public area', (t) =>
	mainJob(t, filesWith({ size: 40 * megabyte, shown: '40.0 MB' }), true),
);

test.serial('files that were copied into the data folder are listed', async (t) => {
	const app = await fixture.enter(t, { viewport: phone, isVisitor: true });
	await writeFiles(app.files, { 'Public/from the shell.txt': 'hello' });
	const page = await app.open('/browser');
	await rowOf(page, 'from the shell.txt').waitFor();
	t.pass();
});

test.serial('the picture in the README matches the landing page', async (t) => {
	const app = await fixture.enter(t, { isVisitor: true });
	const { page, faults } = await openPage(app.context, app.url);
	await page.getByText('Drop files or click to upload').waitFor();
	await page.evaluate(async () => void (await document.fonts.ready));
	const picture = 'docs/images/landing.png';
	if (process.env.UPDATE_PICTURES === '1') await page.screenshot({ path: picture });
	const recorded = await readFile(picture);
	const difference = async () => differences(page, recorded, await page.screenshot());
	// The capabilities of the server may arrive a little later.
	for (const limit = performance.now() + timeoutMs; performance.now() < limit; await wait(100)) {
		if ((await difference()).length === 0) break;
	}
	t.deepEqual(await difference(), [], 'UPDATE_PICTURES=1 takes a new picture');

	// A missing hint makes a difference.
	const without = page.getByText('Without an account');
	await without.evaluate((hint) => hint.style.setProperty('visibility', 'hidden'));
	t.not((await difference()).length, 0);
	t.deepEqual(faults, []);
});

/**
 * Where two pictures differ: squares of 8 pixels whose mean colour is another one. Another Chromium may draw letters
 * slightly differently.
 */
function differences(page: Page, ...pictures: [Buffer, Buffer]): Promise<string[]> {
	return page.evaluate(
		async (encoded) => {
			const side = 8;
			const [recorded, shown] = await Promise.all(
				encoded.map(async (data) => {
					const image = new Image();
					image.src = `data:image/png;base64,${data}`;
					await image.decode();
					const canvas = new OffscreenCanvas(image.width / side, image.height / side);
					const context = canvas.getContext('2d');
					if (context === null) throw new Error('There is no canvas.');
					context.imageSmoothingQuality = 'high';
					context.drawImage(image, 0, 0, canvas.width, canvas.height);
					return context.getImageData(0, 0, canvas.width, canvas.height);
				}),
			);
			if (recorded === undefined || shown === undefined) throw new Error('A picture is missing.');
			if (recorded.width !== shown.width || recorded.height !== shown.height) return ['They have not the same size.'];
			const differing: string[] = [];
			for (let at = 0; at < recorded.data.length; at += 4) {
				const most = Math.max(
					...[0, 1, 2].map((c) => Math.abs((recorded.data[at + c] ?? 0) - (shown.data[at + c] ?? 0))),
				);
				const square = at / 4;
				if (most > 32)
					differing.push(`${(square % recorded.width) * side}, ${Math.floor(square / recorded.width) * side}`);
			}
			return differing;
		},
		pictures.map((picture) => picture.toString('base64')),
	);
}
