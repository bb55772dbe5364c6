import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import {
	type FileManager,
	menuItems,
	nameIn,
	onDisk,
	plant,
	prepareStage,
	rowOf,
	settled,
	treeOf,
} from '../support/fileManager.js';
import { type Hand, keyboard, mouse } from '../support/hands.js';
import { said } from '../support/notices.js';

const stage = prepareStage(test);

const planted = { 'a.txt': 'a', 'b.txt': 'b', 'photos.2024/one.jpg': '1', 'old/deep/down.txt': 'x', 'old/up.txt': 'y' };

/** What both areas have in common, in a folder of the disk that the page shows as the root of an area. */
async function everyOperation(t: ExecutionContext, page: Page, hand: Hand, root: string): Promise<void> {
	const others = (await treeOf(root)).filter((name) => name.startsWith('Public'));
	const holds = (...names: string[]) => onDisk(t, root, [...names, ...others]);
	const old = ['old/', 'old/deep/', 'old/deep/down.txt', 'old/up.txt'];
	const photos = ['photos.2024/', 'photos.2024/one.jpg'];

	await hand.inFolder(page, 'Create Folder');
	await hand.confirm(page, 'Create', '  Projects ');
	await rowOf(page, 'Projects').waitFor();
	await holds('a.txt', 'b.txt', ...old, ...photos, 'Projects/');

	await hand.onEntry(page, 'a.txt', 'Rename');
	await hand.confirm(page, 'Rename', 'first.txt');
	await rowOf(page, 'first.txt').waitFor();
	t.is(await rowOf(page, 'a.txt').count(), 0);
	await holds('first.txt', 'b.txt', ...old, ...photos, 'Projects/');

	// Into another folder, twice: the second copy gets a name of its own.
	await hand.onEntry(page, 'first.txt', 'Copy');
	await hand.open(page, 'Projects');
	await hand.inFolder(page, 'Paste');
	await rowOf(page, 'first.txt').waitFor();
	await hand.inFolder(page, 'Paste');
	await rowOf(page, 'first (1).txt').waitFor();
	const copies = ['Projects/', 'Projects/first.txt', 'Projects/first (1).txt'];
	await holds('first.txt', 'b.txt', ...old, ...photos, ...copies);

	// Cut here and pasted above; then nothing is left to paste.
	await hand.onEntry(page, 'first (1).txt', 'Cut');
	await rowOf(page, 'first (1).txt').and(page.locator('[data-cut]')).waitFor();
	await hand.goUp(page);
	await hand.inFolder(page, 'Paste');
	await rowOf(page, 'first (1).txt').waitFor();
	const moved = ['Projects/', 'Projects/first.txt', 'first (1).txt'];
	await holds('first.txt', 'b.txt', ...old, ...photos, ...moved);
	await page.keyboard.press('Control+v');
	await said(page, 'Nothing to paste');

	// In the same folder a copy is made under the next free name; what was cut stays where it is, with a reason.
	await hand.onEntry(page, 'photos.2024', 'Copy');
	await hand.inFolder(page, 'Paste');
	await rowOf(page, 'photos.2024 (1)').waitFor();
	const twin = ['photos.2024 (1)/', 'photos.2024 (1)/one.jpg'];
	await holds('first.txt', 'b.txt', ...old, ...photos, ...twin, ...moved);
	await hand.onEntry(page, 'b.txt', 'Cut');
	await said(page, 'Cut b.txt');
	await page.keyboard.press('Control+v');
	await said(page, 'Failed to paste items', 'Cannot move an item into the folder that it is in');
	// A folder does not go into itself.
	await hand.onEntry(page, 'old', 'Copy');
	await hand.open(page, 'old');
	await page.keyboard.press('Control+v');
	await said(page, 'Failed to paste items', 'Cannot copy a folder into itself');
	await hand.goUp(page);

	await hand.onEntry(page, 'old', 'Delete');
	await hand.cancel(page);
	await holds('first.txt', 'b.txt', ...old, ...photos, ...twin, ...moved);
	await hand.onEntry(page, 'old', 'Delete');
	await hand.confirm(page, 'Delete');
	await rowOf(page, 'old').waitFor({ state: 'detached' });
	await holds('first.txt', 'b.txt', ...photos, ...twin, ...moved);
}

const privately = async (t: ExecutionContext, hand: Hand) => {
	const app = await stage.enter(t);
	await plant(app.home, planted);
	const page = await app.open('/browser?type=private');
	await everyOperation(t, page, hand, app.home);

	// A nested folder keeps its path under Public, and comes back to where it was, though the folder above it has gone.
	await plant(app.home, { 'work/reports/q1.txt': 'q1', 'work/reports/q2.txt': 'q2' });
	await page.getByRole('button', { name: 'Actions', exact: true }).click();
	await page.getByRole('menuitem', { name: 'Refresh' }).click();
	await hand.open(page, 'work');
	await hand.onEntry(page, 'reports', 'Move to Public');
	t.is(await page.getByRole('dialog').getByRole('listitem').textContent(), 'work/reports');
	await hand.confirm(page, 'Move');
	await rowOf(page, 'reports').waitFor({ state: 'detached' });
	const rest = (await treeOf(app.home)).filter((name) => !/^(Public|work)\//.test(name));
	const reports = ['work/', 'work/reports/', 'work/reports/q1.txt', 'work/reports/q2.txt'];
	await onDisk(t, app.home, [...rest, 'Public/', ...reports.map((name) => `Public/${name}`), 'work/']);
	await hand.goUp(page);
	await hand.onEntry(page, 'work', 'Delete');
	await hand.confirm(page, 'Delete');
	await hand.toArea(page, 'public');
	await hand.open(page, 'work');
	await hand.open(page, 'reports');

	await hand.onEntry(page, 'q1.txt', 'Copy Link');
	await said(page, 'Link copied');
	await checkLink(t, app, page, hand);

	await hand.goUp(page);
	await hand.onEntry(page, 'reports', 'Move back to Private');
	await hand.confirm(page, 'Move');
	await rowOf(page, 'reports').waitFor({ state: 'detached' });
	await onDisk(t, app.home, [...rest, 'Public/', 'Public/work/', ...reports]);
	t.deepEqual(app.faults, []);
};

/** Pastes the copied link where it can be read, and follows it as somebody who is not signed in. */
async function checkLink(t: ExecutionContext, app: FileManager, page: Page, hand: Hand): Promise<void> {
	await hand.onEntry(page, 'q1.txt', 'Rename');
	const field = page.getByRole('dialog').getByRole('textbox');
	await field.press('Control+a');
	await field.press('Control+v');
	const link = await field.inputValue();
	await hand.cancel(page);
	t.true(link.startsWith(`${app.url}/api/download/work/reports/q1.txt?`), link);
	const answer = await fetch(link.replace('//nas:', '//127.0.0.1:'));
	t.is(await answer.text(), 'q1');
}

test.serial('by mouse, every operation on private files does on the disk what it says', privately, mouse);
test.serial('by keyboard alone, every operation on private files does on the disk what it says', privately, keyboard);

const publicly = async (t: ExecutionContext, hand: Hand) => {
	const app = await stage.enter(t);
	await plant(`${app.home}/Public`, planted);
	await plant(`${app.files}/Public`, { 'notice.pdf': 'n', 'old/other.txt': 'o' });
	const page = await app.open('/browser?type=public');
	// The ownerless twin of the folder keeps its name; one's own is told apart by its badge.
	await page.getByRole('row', { name: /^old, folder, no owner/ }).waitFor();
	await everyOperationAmongOthers(t, page, hand, `${app.home}/Public`);
	t.deepEqual(await treeOf(`${app.files}/Public`), ['notice.pdf', 'old/', 'old/other.txt']);
	t.deepEqual(app.faults, []);
};

/** Without the parts in which a twin of another owner would be meant as well. */
async function everyOperationAmongOthers(t: ExecutionContext, page: Page, hand: Hand, root: string): Promise<void> {
	const old = ['old/', 'old/deep/', 'old/deep/down.txt', 'old/up.txt', 'photos.2024/', 'photos.2024/one.jpg'];
	await hand.inFolder(page, 'Create Folder');
	await hand.confirm(page, 'Create', 'Shared');
	await rowOf(page, 'Shared').waitFor();
	await onDisk(t, root, [...old, 'a.txt', 'b.txt', 'Shared/']);

	await hand.onEntry(page, 'a.txt', 'Rename');
	await hand.confirm(page, 'Rename', 'first.txt');
	await hand.onEntry(page, 'first.txt', 'Cut');
	await hand.open(page, 'Shared');
	await hand.inFolder(page, 'Paste');
	await rowOf(page, 'first.txt').waitFor();
	await onDisk(t, root, [...old, 'b.txt', 'Shared/', 'Shared/first.txt']);

	// What another owner published can be copied, and the copy is one's own.
	await hand.goUp(page);
	await hand.onEntry(page, 'notice.pdf', 'Copy');
	await hand.open(page, 'Shared');
	await hand.inFolder(page, 'Paste');
	await page.getByRole('row', { name: /^notice\.pdf.*owner ada\d/ }).waitFor();
	await onDisk(t, root, [...old, 'b.txt', 'Shared/', 'Shared/first.txt', 'Shared/notice.pdf']);

	await hand.onEntry(page, 'first.txt', 'Delete');
	await hand.confirm(page, 'Delete');
	await hand.onEntry(page, 'notice.pdf', 'Move back to Private');
	await hand.confirm(page, 'Move');
	await rowOf(page, 'notice.pdf').waitFor({ state: 'detached' });
	await onDisk(t, root, [...old, 'b.txt', 'Shared/']);
	t.true((await treeOf(`${root}/..`)).includes('Shared/notice.pdf'));
}

test.serial('by mouse, every operation on public files of one’s own does what it says', publicly, mouse);
test.serial('by keyboard alone, every operation on public files of one’s own does what it says', publicly, keyboard);

test.serial('a visitor is offered what a visitor may do, and the keys say why not', async (t) => {
	const app = await stage.enter(t, { isVisitor: true });
	await plant(`${app.files}/Public`, { 'notice.pdf': 'n', 'folder/inside.txt': 'i' });
	await plant(`${app.files}/users/anonymous/Public`, { 'guest.txt': 'g' });
	await plant(`${app.home}/Public`, { 'hers.txt': 'h' });
	const before = await treeOf(app.files);
	const page = await app.open('/browser?type=private');
	await page.waitForURL('**/browser?type=public');
	t.is(await rowOf(page, 'hers.txt').count(), 0);
	t.true(await page.getByRole('combobox', { name: 'Area' }).locator('option[value=private]').isDisabled());
	t.is(await page.getByRole('button', { name: 'Settings' }).count(), 0);

	await nameIn(page, 'guest.txt').click({ button: 'right' });
	t.deepEqual(await menuItems(page), ['Download', 'Copy Link']);
	await page.keyboard.press('Escape');
	await nameIn(page, 'folder').click({ button: 'right' });
	t.deepEqual(await menuItems(page), ['Open', 'Download as ZIP', 'Copy Link']);
	await page.keyboard.press('Escape');
	await page.getByRole('button', { name: 'Clear selection' }).click();
	await page.getByRole('button', { name: 'Actions', exact: true }).click();
	t.deepEqual(await menuItems(page), ['Upload Files', 'Select All', 'Refresh']);
	await page.keyboard.press('Escape');
	await settled(page);

	await rowOf(page, 'guest.txt').click({ modifiers: ['Control'] });
	const refused = async (key: string, message: string) => {
		await page.keyboard.press(key);
		await said(page, message);
		t.is(await page.getByRole('dialog').count(), 0);
	};
	await refused('Delete', 'You do not own any of the selected items');
	await refused('Control+x', 'Cannot cut files you do not own');
	await refused('Control+c', 'You must be logged in to do that.');
	await refused('Control+v', 'Nothing to paste');

	await page.keyboard.press('Escape');
	await nameIn(page, 'folder').click();
	await rowOf(page, 'inside.txt').waitFor();
	await page.getByRole('button', { name: 'Actions', exact: true }).click();
	t.deepEqual(await menuItems(page), ['Select All', 'Refresh']);
	await page.keyboard.press('Escape');
	t.deepEqual(await treeOf(app.files), before);
	t.deepEqual(app.faults, []);
});
