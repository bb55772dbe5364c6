import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { absent, eventually, gone } from '../support/expect.js';
import {
	expectOnDisk,
	type FileManager,
	fadedOut,
	holdRequest,
	keepBoth,
	menuItems,
	overlaysClosed,
	rowOf,
	setUpFixture,
	treeOf,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { type InputMethod, keyboard, mouse } from '../support/inputMethods.js';
import { expectNotice } from '../support/notices.js';

const fixture = withKeptPages(setUpFixture(test));

const contents = {
	'a.txt': 'a',
	'b.txt': 'b',
	'photos.2024/one.jpg': '1',
	'old/deep/down.txt': 'x',
	'old/up.txt': 'y',
};

/** The operations of both areas, in the folder of the disk that the page shows as the root of an area. */
async function everyOperation(t: ExecutionContext, page: Page, input: InputMethod, root: string): Promise<void> {
	const others = (await treeOf(root)).filter((name) => name.startsWith('Public'));
	const expectFiles = (...names: string[]) => expectOnDisk(t, root, [...names, ...others]);
	const old = ['old/', 'old/deep/', 'old/deep/down.txt', 'old/up.txt'];
	const photos = ['photos.2024/', 'photos.2024/one.jpg'];

	await input.inFolder(page, 'Create Folder');
	await input.confirm(page, 'Create', '  Projects ');
	await rowOf(page, 'Projects').waitFor();
	await expectFiles('a.txt', 'b.txt', ...old, ...photos, 'Projects/');

	await input.onEntry(page, 'a.txt', 'Rename');
	await input.confirm(page, 'Rename', 'first.txt');
	await rowOf(page, 'first.txt').waitFor();
	await gone(t, rowOf(page, 'a.txt'));
	await expectFiles('first.txt', 'b.txt', ...old, ...photos, 'Projects/');

	// Into another folder, twice: the second copy gets another name.
	await input.onEntry(page, 'first.txt', 'Copy');
	await input.open(page, 'Projects');
	await input.inFolder(page, 'Paste');
	await rowOf(page, 'first.txt').waitFor();
	await input.inFolder(page, 'Paste');
	await keepBoth(page);
	await rowOf(page, 'first (1).txt').waitFor();
	const copies = ['Projects/', 'Projects/first.txt', 'Projects/first (1).txt'];
	await expectFiles('first.txt', 'b.txt', ...old, ...photos, ...copies);

	// Cut here and pasted into the folder above; then the clipboard is empty.
	await input.onEntry(page, 'first (1).txt', 'Cut');
	await rowOf(page, 'first (1).txt').and(page.locator('[data-cut]')).waitFor();
	await input.goUp(page);
	await input.inFolder(page, 'Paste');
	await rowOf(page, 'first (1).txt').waitFor();
	// The row may appear before the answer.
	await expectNotice(page, 'Pasted first (1).txt');
	const moved = ['Projects/', 'Projects/first.txt', 'first (1).txt'];
	await expectFiles('first.txt', 'b.txt', ...old, ...photos, ...moved);
	await page.keyboard.press('Control+v');
	await expectNotice(page, 'Nothing to paste');

	// In the same folder a copy gets the next free name; a cut entry stays where it is, and a notice says why.
	await input.onEntry(page, 'photos.2024', 'Copy');
	await input.inFolder(page, 'Paste');
	await rowOf(page, 'photos.2024 (1)').waitFor();
	const twin = ['photos.2024 (1)/', 'photos.2024 (1)/one.jpg'];
	await expectFiles('first.txt', 'b.txt', ...old, ...photos, ...twin, ...moved);
	await input.onEntry(page, 'b.txt', 'Cut');
	await expectNotice(page, 'Cut b.txt');
	await page.keyboard.press('Control+v');
	await expectNotice(page, 'Failed to paste items', 'Cannot move an item into the folder that it is in');
	// A folder can't be moved into itself.
	await input.onEntry(page, 'old', 'Copy');
	await input.open(page, 'old');
	await page.keyboard.press('Control+v');
	await expectNotice(page, 'Failed to paste items', 'Cannot copy a folder into itself');
	await input.goUp(page);

	await input.onEntry(page, 'old', 'Delete');
	await input.cancel(page);
	await expectFiles('first.txt', 'b.txt', ...old, ...photos, ...twin, ...moved);
	await input.onEntry(page, 'old', 'Delete');
	await input.confirm(page, 'Delete');
	await rowOf(page, 'old').waitFor({ state: 'detached' });
	await expectFiles('first.txt', 'b.txt', ...photos, ...twin, ...moved);
}

const onPrivateFiles = async (t: ExecutionContext, input: InputMethod) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, contents);
	const page = await app.open('/browser?type=private');
	await everyOperation(t, page, input, app.home);

	// A nested folder keeps its path below Public, and returns to its place although the folder above it was removed.
	await writeFiles(app.home, { 'work/reports/q1.txt': 'q1', 'work/reports/q2.txt': 'q2' });
	await page.getByRole('button', { name: 'Actions', exact: true }).click();
	await page.getByRole('menuitem', { name: 'Refresh' }).click();
	await input.open(page, 'work');
	await input.onEntry(page, 'reports', 'Move to Public');
	await eventually(t, () => page.getByRole('dialog').getByRole('listitem').textContent(), 'work/reports');
	await input.confirm(page, 'Move');
	await rowOf(page, 'reports').waitFor({ state: 'detached' });
	const rest = (await treeOf(app.home)).filter((name) => !/^(Public|work)\//.test(name));
	const reports = ['work/', 'work/reports/', 'work/reports/q1.txt', 'work/reports/q2.txt'];
	await expectOnDisk(t, app.home, [...rest, 'Public/', ...reports.map((name) => `Public/${name}`), 'work/']);
	await input.goUp(page);
	await input.onEntry(page, 'work', 'Delete');
	await input.confirm(page, 'Delete');
	await input.toArea(page, 'public');
	await input.open(page, 'work');
	await input.open(page, 'reports');

	await input.onEntry(page, 'q1.txt', 'Copy Link');
	await expectNotice(page, 'Link copied');
	await checkLink(t, app, page, input);

	await input.goUp(page);
	await input.onEntry(page, 'reports', 'Move back to Private');
	await input.confirm(page, 'Move');
	await rowOf(page, 'reports').waitFor({ state: 'detached' });
	await expectOnDisk(t, app.home, [...rest, 'Public/', 'Public/work/', ...reports]);
	t.deepEqual(app.faults, []);
};

/** Pastes the copied link where it can be read, and downloads it without a session. */
async function checkLink(t: ExecutionContext, app: FileManager, page: Page, input: InputMethod): Promise<void> {
	await input.onEntry(page, 'q1.txt', 'Rename');
	const field = page.getByRole('dialog').getByRole('textbox');
	await field.press('Control+a');
	await field.press('Control+v');
	const link = await field.inputValue();
	await input.cancel(page);
	t.true(link.startsWith(`${app.url}/api/download/work/reports/q1.txt?`), link);
	const answer = await fetch(link.replace('//nas:', '//127.0.0.1:'));
	t.is(await answer.text(), 'q1');
}

test.serial(
	'a paste that fails by an error of the server or the connection is reported as an error and can be repeated',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, { 'a.txt': 'a' });
		const page = await app.open('/browser?type=private');
		await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
		await page.keyboard.press('Control+c');
		await page.route('**/api/copyItem', (route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' }));
		await page.keyboard.press('Control+v');
		await expectNotice(page, 'Error pasting items', 'HTTP error! status: 502');
		await page.unroute('**/api/copyItem');
		await page.route('**/api/copyItem', (route) => route.abort());
		await page.keyboard.press('Control+v');
		await expectNotice(page, 'Error pasting items', 'Network error');
		await page.unroute('**/api/copyItem');
		// The clipboard still has the copied file.
		await page.keyboard.press('Control+v');
		await rowOf(page, 'a (1).txt').waitFor();
		t.deepEqual(app.faults, []);
	},
);

test.serial(
	'white space of any kind around a typed name is trimmed, and a name of only white space is refused',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, { 'a.txt': 'a' });
		const page = await app.open('/browser?type=private');
		const dialog = page.getByRole('dialog');
		await mouse.inFolder(page, 'Create Folder');
		await dialog.getByRole('textbox').fill('\u00A0\u3000');
		await dialog.getByRole('button', { name: 'Create' }).click();
		await dialog.getByText('Please enter a folder name').waitFor();
		await dialog.getByRole('textbox').fill(' ..\u00A0');
		await dialog.getByText('File name cannot be empty or contain invalid characters').waitFor();
		await dialog.getByRole('textbox').fill('\u3000Trip 2024\u00A0');
		await dialog.getByRole('button', { name: 'Create' }).click();
		await expectNotice(page, 'Created Trip 2024');
		await overlaysClosed(page);
		await mouse.onEntry(page, 'a.txt', 'Rename');
		await mouse.confirm(page, 'Rename', '\u00A0b.txt\u2003');
		await rowOf(page, 'b.txt').waitFor();
		await expectOnDisk(t, app.home, ['Public/', 'Trip 2024/', 'b.txt']);
		t.deepEqual(app.faults, []);
	},
);

test.serial('an empty file is created, and a taken name is refused', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'taken.txt': 'kept' });
	const page = await app.open('/browser?type=private');
	const dialog = page.getByRole('dialog', { name: 'Create File' });
	await keyboard.inFolder(page, 'Create File');
	await dialog.getByRole('button', { name: 'Create' }).click();
	await dialog.getByText('Please enter a file name').waitFor();
	await dialog.getByRole('textbox', { name: 'File name' }).fill('taken.txt');
	await page.keyboard.press('Enter');
	await expectNotice(page, 'Error creating file');
	await dialog.getByRole('textbox', { name: 'File name' }).fill(' notes.md ');
	await page.keyboard.press('Enter');
	await expectNotice(page, 'Created notes.md');
	await rowOf(page, 'notes.md').waitFor();
	await expectOnDisk(t, app.home, ['Public/', 'notes.md', 'taken.txt']);
	t.is(await readFile(path.join(app.home, 'taken.txt'), 'utf8'), 'kept');
});

test.serial('every operation on private files changes the disk, by mouse', onPrivateFiles, mouse);
test.serial('every operation on private files changes the disk, by keyboard alone', onPrivateFiles, keyboard);

const onPublicFiles = async (t: ExecutionContext, input: InputMethod) => {
	const app = await fixture.enter(t);
	await writeFiles(`${app.home}/Public`, contents);
	await writeFiles(`${app.files}/Public`, { 'notice.pdf': 'n', 'old/other.txt': 'o' });
	const page = await app.open('/browser?type=public');
	// A folder of the same name without an owner stays; the user's own has a badge.
	await page.getByRole('row', { name: /^old, folder, no owner/ }).waitFor();
	await everyOperationAmongOthers(t, page, input, `${app.home}/Public`);
	t.deepEqual(await treeOf(`${app.files}/Public`), ['notice.pdf', 'old/', 'old/other.txt']);
	t.deepEqual(app.faults, []);
};

/** Without the parts that would match an entry of the same name of another owner as well. */
async function everyOperationAmongOthers(
	t: ExecutionContext,
	page: Page,
	input: InputMethod,
	root: string,
): Promise<void> {
	const old = ['old/', 'old/deep/', 'old/deep/down.txt', 'old/up.txt', 'photos.2024/', 'photos.2024/one.jpg'];
	await input.inFolder(page, 'Create Folder');
	await input.confirm(page, 'Create', 'Shared');
	await rowOf(page, 'Shared').waitFor();
	await expectOnDisk(t, root, [...old, 'a.txt', 'b.txt', 'Shared/']);

	await input.onEntry(page, 'a.txt', 'Rename');
	await input.confirm(page, 'Rename', 'first.txt');
	await input.onEntry(page, 'first.txt', 'Cut');
	await input.open(page, 'Shared');
	await input.inFolder(page, 'Paste');
	await rowOf(page, 'first.txt').waitFor();
	await expectOnDisk(t, root, [...old, 'b.txt', 'Shared/', 'Shared/first.txt']);

	// A public item of another owner can be copied, and the copy is the user's own.
	await input.goUp(page);
	// The rows below it have their places once what was moved is gone.
	await gone(t, rowOf(page, 'first.txt'));
	await input.onEntry(page, 'notice.pdf', 'Copy');
	await input.open(page, 'Shared');
	await input.inFolder(page, 'Paste');
	await page.getByRole('row', { name: /^notice\.pdf.*owner ada\d/ }).waitFor();
	await expectOnDisk(t, root, [...old, 'b.txt', 'Shared/', 'Shared/first.txt', 'Shared/notice.pdf']);

	await input.onEntry(page, 'first.txt', 'Delete');
	await input.confirm(page, 'Delete');
	await input.onEntry(page, 'notice.pdf', 'Move back to Private');
	await input.confirm(page, 'Move');
	await rowOf(page, 'notice.pdf').waitFor({ state: 'detached' });
	await expectOnDisk(t, root, [...old, 'b.txt', 'Shared/']);
	t.true((await treeOf(`${root}/..`)).includes('Shared/notice.pdf'));
}

test.serial('every operation on the user’s public files changes the disk, by mouse', onPublicFiles, mouse);

test.serial('the menu of a visitor offers only permitted actions, and refused keys show the reason', async (t) => {
	const app = await fixture.enter(t, { isVisitor: true });
	await writeFiles(`${app.files}/Public`, { 'notice.pdf': 'n' });
	await writeFiles(`${app.files}/users/anonymous/Public`, { 'guest.txt': 'g' });
	await writeFiles(`${app.home}/Public`, { 'hers.txt': 'h' });
	const tree = async () => (await treeOf(app.files)).filter((name) => !name.startsWith('.stowage/'));
	const before = await tree();
	const page = await app.open('/browser?type=private');
	await page.waitForURL('**/browser?type=public');
	await absent(t, rowOf(page, 'hers.txt'));
	await eventually(
		t,
		() => page.getByRole('combobox', { name: 'Area' }).locator('option[value=private]').isDisabled(),
		true,
	);
	await absent(t, page.getByRole('button', { name: 'Settings' }));

	await page.getByRole('button', { name: 'Actions', exact: true }).click();
	await eventually(t, () => menuItems(page), ['Upload Files', 'Select All', 'Refresh']);
	await page.keyboard.press('Escape');
	await overlaysClosed(page);

	await rowOf(page, 'guest.txt').click({ modifiers: ['Control'] });
	const refused = async (key: string, message: string) => {
		await page.keyboard.press(key);
		await expectNotice(page, message);
		await absent(t, page.getByRole('dialog'));
	};
	await refused('Delete', 'You do not own any of the selected items');
	await refused('Control+x', 'Cannot cut files you do not own');
	await refused('Control+c', 'You must be logged in to do that.');
	await refused('Control+v', 'Nothing to paste');

	t.deepEqual(await tree(), before);
	t.deepEqual(app.faults, []);
});

test.serial('an answer that comes late closes no dialog that was opened meanwhile', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a' });
	const page = await app.open('/browser?type=private');
	await mouse.onEntry(page, 'a.txt', 'Rename');
	const rename = page.getByRole('dialog', { name: 'Rename' });
	await rename.getByRole('textbox').fill('b.txt');
	const release = await holdRequest(page, '**/api/renameItem');
	await page.keyboard.press('Enter');
	await page.keyboard.press('Escape');
	await gone(t, rename);
	await mouse.inFolder(page, 'Create Folder');
	const create = page.getByRole('dialog', { name: 'Create Folder' });
	await create.getByRole('textbox').fill('Projects');
	release();
	await expectNotice(page, 'Renamed to b.txt');
	await fadedOut();
	await create.getByRole('textbox').press('Enter');
	await rowOf(page, 'Projects').waitFor();
	await expectOnDisk(t, app.home, ['Projects/', 'Public/', 'b.txt']);
	t.deepEqual(app.faults, []);
});

test.serial('a click beside a dialog closes it only while nothing was typed in it', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a' });
	const page = await app.open('/browser?type=private');
	const beside = () => page.mouse.click(5, 400);
	const rename = page.getByRole('dialog', { name: 'Rename' });
	await mouse.onEntry(page, 'a.txt', 'Rename');
	await rename.getByRole('textbox').waitFor();
	await beside();
	await gone(t, rename);
	await mouse.onEntry(page, 'a.txt', 'Rename');
	await rename.getByRole('textbox').fill('b.txt');
	await beside();
	await rename.getByRole('textbox').press('Enter');
	await expectNotice(page, 'Renamed to b.txt');
	await gone(t, rename);

	await page.getByRole('button', { name: app.username }).click();
	await page.getByRole('menuitem', { name: 'Settings' }).click();
	const settings = page.getByRole('dialog', { name: 'Settings' });
	await settings.getByLabel('Current password').fill('correct');
	await beside();
	await fadedOut();
	await eventually(t, () => settings.getByLabel('Current password').inputValue(), 'correct');
	await page.keyboard.press('Escape');
	await gone(t, settings);
});
