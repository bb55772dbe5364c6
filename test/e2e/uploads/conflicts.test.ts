import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { openPage, phone } from '../support/browser.js';
import { dropFromDisk } from '../support/devtools.js';
import { absent, eventually } from '../support/expect.js';
import { expectOnDisk, setUpFixture, treeOf, withKeptPages, writeFiles } from '../support/fileManager.js';
import { makeFile, queueClosed, sha256, sourceFolder, uploadAll } from '../support/uploads.js';

const fixture = withKeptPages(setUpFixture(test));

const taken = 'A file with this name is already there.';
const choices = (page: Page) => page.getByRole('combobox', { name: 'If it exists' });
const choiceForAll = (page: Page) => page.getByRole('combobox', { name: 'If they exist' });

test.serial(
	'a queued file whose name is taken says so, and replaces the other one or is skipped as was chosen',
	async (t) => {
		const manager = await fixture.enter(t);
		const sources = await sourceFolder(t);
		await writeFiles(sources, {
			'a.txt': 'new a',
			'b.txt': 'new b',
			'c.txt': 'new c',
			'd.txt': 'new d',
			folder: 'new',
		});
		await writeFiles(manager.home, { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c', 'folder/': '' });
		const page = await manager.open('/browser?type=private');
		const listings: string[] = [];
		page.on('request', (request) => {
			if (request.url().includes('/api/browse')) listings.push(request.url());
		});
		const uploaded: string[] = [];
		await page.route('**/api/upload', async (route) => {
			uploaded.push(/name="fileName"\r\n\r\n(.*)\r\n/.exec(route.request().postData() ?? '')?.[1] ?? '');
			await route.continue();
		});
		const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'folder'];
		await page.setInputFiles(
			'input[type=file]',
			names.map((name) => path.join(sources, name)),
		);
		await page.getByText('A folder with this name is already there.').waitFor();
		await eventually(t, () => page.getByText(taken).count(), 3);
		t.true(listings.length <= 1, `${listings}`);
		await assertAccessible(t, page, 'taken names');
		await eventually(t, () => choices(page).nth(0).getByRole('option').allTextContents(), [
			'Keep both',
			'Replace',
			'Skip',
		]);
		await eventually(t, () => choices(page).nth(3).getByRole('option').allTextContents(), ['Keep both', 'Skip']);
		await eventually(t, () => choiceForAll(page).inputValue(), 'rename');
		await choiceForAll(page).selectOption('Replace');
		await eventually(t, () => choices(page).nth(2).inputValue(), 'replace');
		await choices(page).nth(1).selectOption('Skip');
		await choices(page).nth(2).selectOption('Keep both');
		await eventually(t, () => choiceForAll(page).inputValue(), 'mixed');
		await uploadAll(page);
		await page.getByText('File uploaded successfully! Skipped 1 file.').waitFor();
		await queueClosed(page);
		await expectOnDisk(t, manager.home, [
			'Public/',
			'a.txt',
			'b.txt',
			'c (1).txt',
			'c.txt',
			'd.txt',
			'folder (1)',
			'folder/',
		]);
		const contents = ['a.txt', 'b.txt', 'c.txt', 'c (1).txt'].map((name) =>
			readFile(path.join(manager.home, name), 'utf8'),
		);
		t.deepEqual(await Promise.all(contents), ['new a', 'b', 'c', 'new c']);
		t.deepEqual(uploaded.sort(), ['a.txt', 'c.txt', 'd.txt', 'folder']);
		t.deepEqual(manager.faults, []);
	},
);

test.serial('files of a dropped folder replace those that it has already, below as well', async (t) => {
	const manager = await fixture.enter(t);
	const sources = await sourceFolder(t);
	await writeFiles(sources, { 'photos/a.jpg': 'new', 'photos/2024/b.jpg': 'new', 'photos/new/c.jpg': 'new' });
	await writeFiles(manager.home, { 'photos/a.jpg': 'old', 'photos/2024/b.jpg': 'old' });
	const page = await manager.open('/browser?type=private');
	await dropFromDisk(page, { x: 600, y: 600 }, [path.join(sources, 'photos')]);
	await eventually(t, () => page.getByText(taken).count(), 2);
	await choiceForAll(page).selectOption('Replace');
	await uploadAll(page);
	await queueClosed(page);
	const expected = ['Public/', 'photos/', 'photos/2024/', 'photos/2024/b.jpg', 'photos/a.jpg', 'photos/new/'];
	await expectOnDisk(t, manager.home, [...expected, 'photos/new/c.jpg']);
	for (const name of ['a.jpg', '2024/b.jpg']) {
		t.is(await readFile(path.join(manager.home, 'photos', name), 'utf8'), 'new');
	}
	t.deepEqual(manager.faults, []);
});

test.serial(
	'a file that is uploaded in chunks replaces another one, or is skipped without any of it being sent',
	async (t) => {
		const manager = await fixture.enter(t);
		const sources = await sourceFolder(t);
		const names = ['replaced.bin', 'skipped.bin'];
		for (const name of names) {
			await makeFile(path.join(sources, name), 2_000_000);
			await writeFiles(manager.home, { [name]: 'old' });
		}
		const page = await manager.open('/browser?type=private');
		const created: string[] = [];
		page.on('request', (request) => {
			if (request.method() === 'POST' && request.url().endsWith('/api/uploads')) {
				created.push(request.headers()['upload-metadata'] ?? '');
			}
		});
		await page.setInputFiles(
			'input[type=file]',
			names.map((name) => path.join(sources, name)),
		);
		await choices(page).nth(0).selectOption('Replace');
		await choices(page).nth(1).selectOption('Skip');
		await uploadAll(page);
		await queueClosed(page);
		await expectOnDisk(t, manager.home, ['Public/', ...names]);
		t.is(await sha256(path.join(manager.home, 'replaced.bin')), await sha256(path.join(sources, 'replaced.bin')));
		t.is(await readFile(path.join(manager.home, 'skipped.bin'), 'utf8'), 'old');
		t.is(created.length, 1);
		t.deepEqual(manager.faults, []);
	},
);

test.serial('a file that is skipped since its name was taken meanwhile says so, and changes nothing', async (t) => {
	const manager = await fixture.enter(t);
	const sources = await sourceFolder(t);
	await writeFiles(sources, { 'a.txt': 'new', 'b.txt': 'new' });
	await writeFiles(manager.home, { 'a.txt': 'old' });
	const { page } = await openPage(manager.context, `${manager.url}/`, manager.faults);
	await page.getByRole('button', { name: 'Choose Folder' }).waitFor();
	await page.setInputFiles(
		'input[type=file]',
		['a.txt', 'b.txt'].map((name) => path.join(sources, name)),
	);
	await choiceForAll(page).selectOption('Skip');
	await page.route('**/api/upload', async (route) => {
		await writeFiles(manager.home, { 'b.txt': 'meanwhile' });
		await route.continue();
	});
	await uploadAll(page);
	await page.getByText('Nothing was uploaded. Skipped 2 files.').waitFor();
	await queueClosed(page);
	await expectOnDisk(t, manager.home, ['Public/', 'a.txt', 'b.txt']);
	t.is(await readFile(path.join(manager.home, 'b.txt'), 'utf8'), 'meanwhile');
	t.deepEqual(manager.faults, []);
});

test.serial('a visitor keeps both or skips, and can replace nothing', async (t) => {
	const manager = await fixture.enter(t, { isVisitor: true, viewport: phone });
	const sources = await sourceFolder(t);
	const anonymous = path.join(manager.files, 'users/anonymous/Public');
	await writeFiles(sources, { 'a.txt': 'new', 'b.txt': 'new' });
	await writeFiles(anonymous, { 'a.txt': 'old' });
	await writeFiles(path.join(manager.files, 'Public'), { 'b.txt': 'the administrator’s' });
	const { page } = await openPage(manager.context, `${manager.url}/`, manager.faults);
	await page.getByRole('button', { name: 'Choose Files' }).waitFor();
	await page.setInputFiles(
		'input[type=file]',
		['a.txt', 'b.txt'].map((name) => path.join(sources, name)),
	);
	await page.getByText(taken).waitFor();
	await assertAccessible(t, page, 'taken name of a visitor');
	for (const choice of [choices(page), choiceForAll(page)]) {
		await eventually(t, () => choice.getByRole('option').allTextContents(), ['Keep both', 'Skip']);
	}
	await page.getByRole('textbox', { name: 'File name' }).first().fill('c');
	await page.getByText(taken).waitFor({ state: 'detached' });
	await absent(t, choiceForAll(page));
	await uploadAll(page);
	await queueClosed(page);
	t.deepEqual(await treeOf(anonymous), ['a.txt', 'b.txt', 'c.txt']);
	t.deepEqual(manager.faults, []);
});
