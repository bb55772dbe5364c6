import { randomBytes } from 'node:crypto';
import { readFile, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { desktop, openPage, phone } from '../support/browser.js';
import { dropFromDisk } from '../support/devtools.js';
import { absent, eventually, gone } from '../support/expect.js';
import {
	expectOnDisk,
	holdRequest,
	overlaysClosed,
	rowOf,
	setUpFixture,
	treeOf,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { holdTimers, releaseTimers } from '../support/heldTimers.js';
import { expectNotice } from '../support/notices.js';
import { queueClosed, sourceFolder, successMs, uploadAll, uploadMany } from '../support/uploads.js';

const fixture = withKeptPages(setUpFixture(test));

async function middleOf(page: Page, name: string): Promise<{ x: number; y: number }> {
	const box = await rowOf(page, name).boundingBox();
	if (!box) throw new Error(`There is no row ${name}.`);
	return { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
}

test.serial(
	'a dropped folder keeps its structure, its empty folders and its times, and merges into an existing one',
	async (t) => {
		const manager = await fixture.enter(t);
		const sources = await sourceFolder(t);
		await writeFiles(sources, { 'photos/2024/a.jpg': 'a', 'photos/b.jpg': 'b', 'photos/raw/': '', 'photos/x/y/': '' });
		const taken = new Date('2019-05-04T12:00:00Z');
		await utimes(path.join(sources, 'photos/2024/a.jpg'), taken, taken);
		await writeFiles(manager.home, { 'photos/b.jpg': 'older' });
		await holdTimers(manager.context, successMs);
		const page = await manager.open('/browser?type=private');
		await dropFromDisk(page, { x: 600, y: 600 }, [path.join(sources, 'photos')]);
		await page.getByRole('dialog', { name: 'Upload Queue (2 files)' }).waitFor();
		await uploadAll(page);
		await page.getByRole('dialog').getByText('File uploaded successfully!').waitFor();
		await releaseTimers(page);
		await queueClosed(page);
		await expectOnDisk(t, manager.home, [
			'Public/',
			'photos/',
			'photos/2024/',
			'photos/2024/a.jpg',
			'photos/b.jpg',
			'photos/b (1).jpg',
			'photos/raw/',
			'photos/x/',
			'photos/x/y/',
		]);
		t.is(await readFile(path.join(manager.home, 'photos/b.jpg'), 'utf8'), 'older');
		t.is((await stat(path.join(manager.home, 'photos/2024/a.jpg'))).mtimeMs, taken.getTime());
		t.deepEqual(manager.faults, []);
	},
);

test.serial('a dropped folder that has only folders is created at once', async (t) => {
	const manager = await fixture.enter(t);
	const sources = await sourceFolder(t);
	await writeFiles(sources, { 'plan/a/': '', 'plan/b/': '' });
	const page = await manager.open('/browser?type=private');
	await dropFromDisk(page, { x: 600, y: 600 }, [path.join(sources, 'plan')]);
	await expectNotice(page, 'Created 2 folders');
	await expectOnDisk(t, manager.home, ['Public/', 'plan/', 'plan/a/', 'plan/b/']);
	t.deepEqual(manager.faults, []);
});

test.serial('folders that wait for their user to sign in can be cancelled, and are nobody else’s', async (t) => {
	const manager = await fixture.enter(t);
	const bob = await fixture.enter(t);
	const sources = await sourceFolder(t);
	await writeFiles(sources, { 'plan/a/': '' });
	const page = await manager.open('/browser?type=private');
	const own = await manager.context.cookies();
	const [cookie] = await bob.context.cookies();
	await manager.context.addCookies(own.map((each) => ({ ...each, value: cookie?.value ?? '' })));
	t.teardown(() => manager.context.addCookies(own));
	// For a second the page trusts in what it has asked.
	await wait(1100);
	await dropFromDisk(page, { x: 600, y: 600 }, [path.join(sources, 'plan')]);
	const notice = page.getByRole('status').filter({ hasText: `Sign in as ${manager.username}, and the folders are` });
	await notice.getByRole('button', { name: 'Cancel' }).click();
	await gone(t, notice);
	await absent(t, page.getByText('Creating folders...'));
	for (const { home } of [manager, bob]) {
		const found = await treeOf(home).catch(() => []);
		t.false(found.some((name) => name.startsWith('plan')));
	}
	t.deepEqual(manager.faults, []);
});

test.serial('files dropped onto a folder are uploaded into it', async (t) => {
	const manager = await fixture.enter(t);
	const sources = await sourceFolder(t);
	await writeFiles(sources, { 'a.txt': 'a', 'notes/b.txt': 'b' });
	await writeFiles(manager.home, { 'docs/': '' });
	const page = await manager.open('/browser?type=private');
	await rowOf(page, 'docs').waitFor();
	const names = ['a.txt', 'notes'].map((name) => path.join(sources, name));
	await dropFromDisk(page, await middleOf(page, 'docs'), names);
	await page.getByRole('dialog').getByText('docs/notes').waitFor();
	await uploadAll(page);
	await queueClosed(page);
	await expectOnDisk(t, manager.home, ['Public/', 'docs/', 'docs/a.txt', 'docs/notes/', 'docs/notes/b.txt']);
	t.deepEqual(manager.faults, []);
});

test.serial('files dropped onto the open queue go into the folder on screen, like those before', async (t) => {
	const manager = await fixture.enter(t);
	const sources = await sourceFolder(t);
	await writeFiles(sources, { 'cv.pdf': 'a', 'taxes.pdf': 'b' });
	await writeFiles(manager.home, { 'first of the list/': '' });
	const page = await manager.open('/browser?type=private');
	await rowOf(page, 'first of the list').waitFor();
	await dropFromDisk(page, { x: 600, y: 600 }, [path.join(sources, 'cv.pdf')]);
	const queued = page.getByRole('dialog', { name: 'Upload Queue (1 file)' }).getByRole('listitem').first();
	const box = await queued.boundingBox();
	if (!box) throw new Error('There is no row of the queue.');
	const onQueue = { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
	await dropFromDisk(page, onQueue, [path.join(sources, 'taxes.pdf')]);
	await page.getByRole('dialog', { name: 'Upload Queue (2 files)' }).waitFor();
	await uploadAll(page);
	await queueClosed(page);
	await expectOnDisk(t, manager.home, ['Public/', 'cv.pdf', 'first of the list/', 'taxes.pdf']);
});

test.serial('white space around the name of a dropped folder or file is trimmed', async (t) => {
	const manager = await fixture.enter(t);
	const sources = await sourceFolder(t);
	await writeFiles(sources, { '\u00A0photos\u3000/\uFEFFa.txt\u00A0': 'a', 'empty\u00A0/': '' });
	const page = await manager.open('/browser?type=private');
	const names = ['\u00A0photos\u3000', 'empty\u00A0'].map((name) => path.join(sources, name));
	await dropFromDisk(page, { x: 600, y: 600 }, names);
	await page.getByRole('dialog', { name: 'Upload Queue (1 file)' }).waitFor();
	await uploadAll(page);
	await queueClosed(page);
	await expectOnDisk(t, manager.home, ['Public/', 'empty/', 'photos/', 'photos/a.txt']);
	t.deepEqual(manager.faults, []);
});

test.serial(
	'a drop without readable files is reported as an error, and so is one that the browser denies',
	async (t) => {
		const manager = await fixture.enter(t);
		const sources = await sourceFolder(t);
		await writeFiles(sources, { 'back\\slash/a.txt': 'a', 'b.txt': 'b' });
		const page = await manager.open('/browser?type=private');
		await dropFromDisk(page, { x: 600, y: 600 }, [path.join(sources, 'back\\slash')]);
		await expectNotice(page, 'Error uploading files', '1 item could not be read and will not be uploaded: back\\slash');

		await page.evaluate(() => {
			DataTransferItem.prototype.webkitGetAsEntry = () => {
				throw new DOMException('Access to the file was denied.', 'NotAllowedError');
			};
		});
		await dropFromDisk(page, { x: 600, y: 600 }, [path.join(sources, 'b.txt')]);
		await expectNotice(page, 'Error uploading files', 'Access to the file was denied.');
		await absent(t, page.getByText('Upload Queue'));
		await expectOnDisk(t, manager.home, ['Public/']);
		t.deepEqual(manager.faults, []);
	},
);

test.serial('a visitor’s folder is refused as a whole, on the landing page and in the browser', async (t) => {
	const manager = await fixture.enter(t, { isVisitor: true });
	const sources = await sourceFolder(t);
	await writeFiles(sources, { 'photos/a.jpg': 'a', 'b.txt': 'b' });
	const names = ['photos', 'b.txt'].map((name) => path.join(sources, name));
	const page = await manager.open('/browser');
	await dropFromDisk(page, { x: 600, y: 600 }, names);
	await expectNotice(page, 'You must be logged in to create folders in public.');
	await page.goto(`${manager.url}/`);
	await page.getByText('Drop files or click to upload').waitFor();
	await dropFromDisk(page, { x: 600, y: 400 }, names);
	await expectNotice(page, 'You must be logged in to create folders in public.');
	await absent(t, page.getByText('Upload Queue'));
	t.deepEqual(await treeOf(path.join(manager.files, 'users/anonymous/Public')), []);
	t.deepEqual(manager.faults, []);
});

test.serial('a pasted picture uploads, on the landing page and in the browser', async (t) => {
	const manager = await fixture.enter(t);
	const picture = randomBytes(5000);
	const paste = (page: Page) =>
		page.evaluate(
			(bytes) => {
				const transfer = new DataTransfer();
				transfer.items.add(new File([new Uint8Array(bytes)], 'image.png', { type: 'image/png' }));
				const event = new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true, cancelable: true });
				document.body.dispatchEvent(event);
			},
			[...picture],
		);
	const page = await manager.open('/browser?type=private');
	await paste(page);
	await page.getByRole('dialog', { name: 'Upload Queue (1 file)' }).waitFor();
	await uploadAll(page);
	await queueClosed(page);
	await page.goto(`${manager.url}/`);
	await page.getByRole('button', { name: 'Choose Folder' }).waitFor();
	await paste(page);
	await uploadAll(page);
	await queueClosed(page);
	for (const name of ['image.png', 'image (1).png']) {
		t.deepEqual(await readFile(path.join(manager.home, name)), picture);
	}
	t.deepEqual(manager.faults, []);
});

test.serial('what one user has queued is neither changed, published nor removed by those after them', async (t) => {
	const ada = await fixture.enter(t);
	const bob = await fixture.enter(t);
	const sources = await sourceFolder(t);
	await writeFiles(sources, { 'cv.pdf': 'a', 'taxes.pdf': 'a', 'of-bob.txt': 'b' });
	const sourceOf = (name: string) => path.join(sources, name);
	const { page } = await openPage(ada.context, `${ada.url}/`, ada.faults);
	const own = await ada.context.cookies();
	const [cookie] = await bob.context.cookies();
	t.teardown(() => ada.context.addCookies(own));
	/** As in another tab. */
	const signIn = async (username: string, value: string | undefined) => {
		await ada.context.addCookies(own.map((each) => ({ ...each, ...(value !== undefined && { value }) })));
		await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
		await page.getByRole('button', { name: username, exact: true }).waitFor();
	};
	await page.setInputFiles('input[type=file]', ['cv.pdf', 'taxes.pdf'].map(sourceOf));
	await page.getByText('Upload Queue (2 files)').waitFor();
	await signIn(bob.username, cookie?.value);
	await page.getByText(`Sign in as ${ada.username} to upload these files.`).waitFor();
	await eventually(t, () => page.getByText(`Added by ${ada.username}`).count(), 2);
	await gone(t, page.getByLabel('Set all to'));
	await eventually(t, () => page.getByRole('textbox', { name: 'File name' }).first().isDisabled(), true);
	await eventually(t, () => page.getByRole('button', { name: 'Remove' }).first().isDisabled(), true);
	await assertAccessible(t, page, 'files of another user');

	await page.setInputFiles('input[type=file]', sourceOf('of-bob.txt'));
	await page.getByText('Upload Queue (3 files)').waitFor();
	await page.getByLabel('Set all to').selectOption('Public');
	await page.getByRole('button', { name: 'Cancel' }).click();
	await page.getByText('Upload Queue (2 files)').waitFor();
	await page.getByRole('button', { name: bob.username, exact: true }).click();
	await page.getByRole('menuitem', { name: 'Logout' }).click();
	await page.getByRole('button', { name: 'Sign In' }).first().waitFor();
	await eventually(t, () => page.getByText(`Added by ${ada.username}`).count(), 2);
	await absent(t, page.getByText('Public Only'));
	await page.getByRole('button', { name: 'Cancel' }).click();
	const question = page.getByRole('dialog', { name: 'Remove files' });
	await question.getByText(`Remove what ${ada.username} added from the queue?`).waitFor();
	await question.getByRole('button', { name: 'Cancel' }).click();
	await gone(t, question);

	await signIn(ada.username, undefined);
	await gone(t, page.getByText(`Added by ${ada.username}`));
	await uploadAll(page);
	await queueClosed(page);
	await expectOnDisk(t, ada.home, ['Public/', 'cv.pdf', 'taxes.pdf']);

	await page.setInputFiles('input[type=file]', sourceOf('cv.pdf'));
	await page.getByText('Upload Queue (1 file)').waitFor();
	await ada.context.clearCookies();
	await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
	await page.getByText(`Added by ${ada.username}`).waitFor();
	await page.getByRole('button', { name: 'Cancel' }).click();
	await question.getByRole('button', { name: 'Remove' }).click();
	await queueClosed(page);
	t.deepEqual(ada.faults, []);
});

test.serial(
	'the trash shows how far uploads are, reopens their queue, and is not left for a file that is dropped on it',
	async (t) => {
		const manager = await fixture.enter(t);
		const sources = await sourceFolder(t);
		await writeFiles(sources, { 'a.txt': 'a', 'b.txt': 'b' });
		const page = await manager.open('/browser?type=private');
		const release = await holdRequest(page, '**/api/upload');
		await page.setInputFiles('input[type=file]', path.join(sources, 'a.txt'));
		await uploadAll(page);
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
		await page.getByRole('button', { name: manager.username }).click();
		await page.getByRole('menuitem', { name: 'Trash' }).click();
		await page.getByRole('heading', { name: 'Trash', exact: true }).waitFor();
		await dropFromDisk(page, { x: 600, y: 400 }, [path.join(sources, 'b.txt')]);
		const notice = page.getByRole('status').filter({ hasText: 'Uploading... 0 of 1 done' });
		await notice.getByRole('button', { name: 'Show' }).click();
		await page.getByRole('dialog', { name: 'Upload Queue (1 file)' }).waitFor();
		release();
		await queueClosed(page);
		await page.getByRole('heading', { name: 'Trash', exact: true }).waitFor();
		await page.getByRole('grid', { name: 'Files' }).locator(':focus').or(page.locator('[role=grid]:focus')).waitFor();
		t.is(await readFile(path.join(manager.home, 'a.txt'), 'utf8'), 'a');
		t.deepEqual(manager.faults, []);
	},
);

// The long form has two thousand.
test.serial('two hundred small files are uploaded complete, and at most one row is shown as uploading', (t) =>
	uploadMany(t, fixture, 200),
);

const everyState = async (t: ExecutionContext, viewport: typeof desktop) => {
	const manager = await fixture.enter(t, { viewport });
	const sources = await sourceFolder(t);
	await writeFiles(sources, { 'refused.txt': 'a', 'done.txt': 'b', 'held.txt': 'c', 'waiting.txt': 'd' });
	await holdTimers(manager.context, successMs);
	const { page } = await openPage(manager.context, `${manager.url}/`, manager.faults);
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	await page.route('**/api/upload', async (route) => {
		const body = route.request().postDataBuffer()?.toString('latin1') ?? '';
		if (body.includes('refused.txt')) {
			const message = 'That name is not allowed here.';
			const json = { statusCode: 400, code: 'INVALID_NAME', error: message, message };
			return route.fulfill({ status: 400, json });
		}
		if (body.includes('held.txt')) await held;
		return route.continue();
	});
	const names = ['refused.txt', 'done.txt', 'held.txt', 'waiting.txt'].map((name) => path.join(sources, name));
	await page.setInputFiles('input[type=file]', names);
	await page.getByText('Upload Queue (4 files)').waitFor();
	await page.getByRole('textbox', { name: 'File name' }).first().fill('a:b');
	await page.getByText('File name cannot be empty').waitFor();
	await eventually(t, () => page.getByRole('button', { name: 'Upload All' }).isDisabled(), true);
	await assertAccessible(t, page, 'invalid name');
	await page.getByRole('button', { name: 'Restore original name' }).click();
	await page.getByRole('button', { name: 'Remove' }).first().click();
	await page.getByRole('dialog', { name: 'Remove file' }).waitFor();
	await assertAccessible(t, page, 'removal');
	await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
	await page.getByRole('dialog').waitFor({ state: 'detached' });
	await uploadAll(page);
	await page.locator('[data-status=uploading]').waitFor();
	await page.locator('[data-status=error]').waitFor();
	await page.locator('[data-status=completed]').waitFor();
	await eventually(t, () => page.getByRole('button', { name: 'Uploading...' }).isDisabled(), true);
	await assertAccessible(t, page, 'uploading, failed and completed');
	release();
	await page.getByRole('alert').getByText('Upload failed: That name is not allowed here.').waitFor();
	await page.getByRole('button', { name: 'Upload All' }).waitFor();
	await eventually(t, () => page.getByText('Upload complete ✓').count(), 3);
	await eventually(t, () => page.getByText('Verified', { exact: true }).count(), 3);
	await assertAccessible(t, page, 'failed');
	await page.unroute('**/api/upload');
	await page.getByRole('button', { name: 'Try Again' }).click();
	await page.getByText('File uploaded successfully!').waitFor();
	await assertAccessible(t, page, 'success');
	await releaseTimers(page);
	await queueClosed(page);
	t.is((await treeOf(manager.home)).length, 5);
	t.deepEqual(manager.faults, []);
};
test.serial('axe finds no violation in any state of the upload queue on a desktop', everyState, desktop);
test.serial('axe finds no violation in any state of the upload queue on a phone', everyState, phone);
