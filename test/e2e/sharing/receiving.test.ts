import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { desktop, phone } from '../support/browser.js';
import { absent, eventually, gone } from '../support/expect.js';
import {
	holdRequest,
	nameIn,
	namesOf,
	overlaysClosed,
	rowOf,
	setUpFixture,
	writeFiles,
} from '../support/fileManager.js';
import { receiveOverCuts } from '../support/receiving.js';
import { change, openStranger, share } from '../support/shares.js';
import { makeFile, queueClosed, sourceFolder, uploadAll } from '../support/uploads.js';

const fixture = setUpFixture(test);
const megabyte = 1024 * 1024;

const sentList = (page: Page) => page.getByRole('list', { name: 'What you have sent' });
const choose = (page: Page, ...files: { name: string; text: string }[]) =>
	page.setInputFiles(
		'input[type=file]',
		files.map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })),
	);

const received = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'inbox/secret.txt': 'Not shown.' });
	const shared = await share(ada, {
		...{ items: ['inbox'], mode: 'upload', askName: true },
		...{ title: 'Pictures of the party', message: 'Send me yours!' },
	});
	const { page, faults } = await openStranger(t, shared, viewport);
	const asked: string[] = [];
	page.on('request', (request) => asked.push(new URL(request.url()).pathname));
	await page.getByRole('heading', { level: 1, name: 'Pictures of the party' }).waitFor();
	await page.getByText('Send me yours!').waitFor();
	await page.getByText(`Only ${ada.username} sees what you send.`).waitFor();
	await eventually(t, () => page.title(), 'Pictures of the party – Stowage');
	await assertAccessible(t, page, 'a share that receives');
	await choose(page, { name: 'a.txt', text: 'The first.' }, { name: 'secret.txt', text: 'The second.' });
	await page.getByRole('heading', { name: 'Upload Queue (2 files)' }).waitFor();
	// Nothing that is chosen by who has an account, and no name is said to be taken.
	await absent(t, page.getByText('Public Only'));
	await absent(t, page.getByText('Set all to'));
	await absent(t, page.getByLabel('If it exists'));
	await assertAccessible(t, page, 'the queue of a share');

	await uploadAll(page);
	const name = page.getByLabel('Your name');
	await page.getByRole('alert').filter({ hasText: 'Please enter your name' }).waitFor();
	await name.and(page.locator(':focus')).waitFor();
	await page.keyboard.type('Grace / Hopper');
	await uploadAll(page);
	await page.getByRole('alert').filter({ hasText: 'A name can’t have these characters' }).waitFor();
	await assertAccessible(t, page, 'a name that is refused');
	await name.fill('Grace');
	await uploadAll(page);
	await sentList(page).getByText('secret.txt').waitFor();
	await queueClosed(page);
	t.deepEqual((await readdir(path.join(ada.home, 'inbox/Grace'))).sort(), ['a.txt', 'secret.txt']);
	t.is(await readFile(path.join(ada.home, 'inbox/Grace/secret.txt'), 'utf8'), 'The second.');
	t.is(await readFile(path.join(ada.home, 'inbox/secret.txt'), 'utf8'), 'Not shown.');
	await assertAccessible(t, page, 'what was sent to a share');

	// This browser remembers what it has sent, and by whom.
	await page.reload();
	await eventually(t, () => page.getByLabel('Your name').inputValue(), 'Grace');
	await page.getByRole('button', { name: 'Take back secret.txt' }).press('Enter');
	await gone(t, sentList(page).getByText('secret.txt'));
	await page.getByRole('button', { name: 'Take back a.txt' }).and(page.locator(':focus')).waitFor();
	t.deepEqual(await readdir(path.join(ada.home, 'inbox/Grace')), ['a.txt']);
	// No call of another part of the server was made.
	const calls = asked.filter((pathname) => pathname.includes('/api/') && !pathname.includes('/api/share/'));
	t.deepEqual(calls, []);
	t.deepEqual(faults, []);

	// Another browser has sent nothing.
	const { page: other } = await openStranger(t, shared, viewport);
	await other.getByText('Drop files or click to upload').waitFor();
	await absent(t, sentList(other));
};
test.serial('a stranger sends files to a share and takes one back, at a desk', received, desktop);
test.serial('a stranger sends files to a share and takes one back, on a phone', received, phone);

test.serial('the keyboard alone sends a file to a share and takes it back', async (t) => {
	const ada = await fixture.enter(t);
	await mkdir(path.join(ada.home, 'inbox'));
	const { page, faults } = await openStranger(t, await share(ada, { items: ['inbox'], mode: 'upload', askName: true }));
	const focused = (name: string) => page.getByRole('button', { name }).and(page.locator(':focus')).waitFor();
	await page.getByLabel('Your name').focus();
	await page.keyboard.type('Grace');
	await page.keyboard.press('Tab');
	await focused('Choose Files');
	const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
	await chooser.setFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('The first.') });
	await page.getByRole('heading', { name: 'Upload Queue (1 file)' }).waitFor();
	while (!(await page.getByRole('button', { name: 'Upload All' }).and(page.locator(':focus')).count()))
		await page.keyboard.press('Tab');
	await page.keyboard.press('Enter');
	// A second press cancels nothing.
	await page.keyboard.press('Enter');
	await sentList(page).getByText('a.txt').waitFor();
	await queueClosed(page);
	await focused('Choose Files');
	await page.keyboard.press('Tab');
	await page.keyboard.press('Tab');
	await focused('Take back a.txt');
	await page.keyboard.press('Enter');
	await gone(t, sentList(page));
	// Its list is gone with the last file.
	await page.getByRole('main').and(page.locator(':focus')).waitFor();
	t.deepEqual(await readdir(path.join(ada.home, 'inbox/Grace')), []);
	t.deepEqual(faults, []);
});

test.serial('all files of a run go into one folder, whatever is typed as the name meanwhile', async (t) => {
	const ada = await fixture.enter(t);
	await mkdir(path.join(ada.home, 'inbox'));
	const { page, faults } = await openStranger(t, await share(ada, { items: ['inbox'], mode: 'upload', askName: true }));
	const name = page.getByLabel('Your name');
	await name.fill('Grace');
	await choose(page, { name: 'a.txt', text: 'a' }, { name: 'b.txt', text: 'b' });
	const release = await holdRequest(page, '**/api/share/**');
	const begun = page.waitForRequest((request) => request.method() === 'POST');
	await uploadAll(page);
	await begun;
	await name.fill('Hopper');
	release();
	await sentList(page).getByText('b.txt').waitFor();
	await queueClosed(page);
	t.deepEqual((await readdir(path.join(ada.home, 'inbox'), { recursive: true })).sort(), [
		'Grace',
		'Grace/a.txt',
		'Grace/b.txt',
	]);
	await choose(page, { name: 'c.txt', text: 'c' });
	await uploadAll(page);
	await sentList(page).getByText('c.txt').waitFor();
	t.deepEqual(await readdir(path.join(ada.home, 'inbox/Hopper')), ['c.txt']);
	t.deepEqual(faults, []);
});

const told = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t, { viewport });
	await mkdir(path.join(ada.home, 'inbox'));
	const shared = await share(ada, { items: ['inbox'], mode: 'upload', askName: true, title: 'The party' });
	const { page } = await openStranger(t, shared);
	await page.getByLabel('Your name').fill('Grace');
	await choose(page, { name: 'a.txt', text: 'The first.' }, { name: 'b.txt', text: 'The second.' });
	await uploadAll(page);
	await sentList(page).getByText('b.txt').waitFor();

	const owner = await ada.open('/browser?type=private');
	const openMenu = async (item: string) => {
		await owner.getByRole('button', { name: ada.username }).click();
		await owner.getByRole('menuitem', { name: item }).click();
		return owner.getByRole('dialog', { name: item });
	};
	const activity = await openMenu('Activity');
	const line = activity.getByRole('listitem').filter({ hasText: 'Grace sent 2 files' });
	await line.getByText(/^By the share The party · 21 B · /).waitFor();
	await assertAccessible(t, owner, 'what a share has received');
	await owner.keyboard.press('Escape');
	await overlaysClosed(owner);
	const links = await openMenu('My links');
	await links
		.getByRole('listitem', { name: 'The party' })
		.getByText(/2 uploads \(21 B\) · last used /)
		.waitFor();
	t.deepEqual(ada.faults, []);
};
test.serial('the owner of a share reads who has sent what, at a desk', told, desktop);
test.serial('the owner of a share reads who has sent what, on a phone', told, phone);

const both = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'trip/notes.txt': 'Those of ada.', 'trip/day 1/walk.txt': 'We walked.' });
	const { page, faults } = await openStranger(t, await share(ada, { items: ['trip'], mode: 'both' }), viewport);
	await rowOf(page, 'notes.txt').waitFor();
	await absent(t, page.getByLabel('Your name'));
	await choose(page, { name: 'notes.txt', text: 'Mine.' });
	await uploadAll(page);
	await sentList(page).getByText('notes (1).txt').waitFor();
	await rowOf(page, 'notes (1).txt').waitFor();
	await queueClosed(page);
	await assertAccessible(t, page, 'a share that shows and receives');
	t.is(await readFile(path.join(ada.home, 'trip/notes.txt'), 'utf8'), 'Those of ada.');
	await page.getByRole('button', { name: 'Take back notes (1).txt' }).click();
	await eventually(t, () => namesOf(page), ['day 1', 'notes.txt']);
	t.deepEqual((await readdir(path.join(ada.home, 'trip'))).sort(), ['day 1', 'notes.txt']);

	await nameIn(page, 'day 1').click();
	await rowOf(page, 'walk.txt').waitFor();
	await page.getByText('Files go to the top of this share, not into this folder.').waitFor();
	await choose(page, { name: 'below.txt', text: 'From below.' });
	await uploadAll(page);
	await sentList(page).getByText('below.txt').waitFor();
	t.deepEqual(await readdir(path.join(ada.home, 'trip/day 1')), ['walk.txt']);
	t.is(await readFile(path.join(ada.home, 'trip/below.txt'), 'utf8'), 'From below.');
	t.deepEqual(faults, []);
};
test.serial('a share that shows and receives lists what was sent, at a desk', both, desktop);
test.serial('a share that shows and receives lists what was sent, on a phone', both, phone);

test.serial('a share that is paused during an upload says so, and what was chosen goes on where it was', async (t) => {
	const ada = await fixture.enter(t);
	await mkdir(path.join(ada.home, 'inbox'));
	const shared = await share(ada, { items: ['inbox'], mode: 'upload' });
	const source = await makeFile(path.join(await sourceFolder(t), 'film.mp4'), 20 * megabyte);
	const { page, faults } = await openStranger(t, shared);
	let open = () => {};
	const gate = new Promise<void>((resolve) => {
		open = resolve;
	});
	const offsets: number[] = [];
	await page.route('**/api/share/*/uploads/*', async (route) => {
		const request = route.request();
		if (request.method() === 'PATCH') {
			const offset = Number(request.headers()['upload-offset']);
			offsets.push(offset);
			if (offset > 0) await gate;
		}
		await route.continue();
	});
	await page.setInputFiles('input[type=file]', source);
	await uploadAll(page);
	await eventually(t, async () => [...offsets], [0, 8 * megabyte]);
	await change(ada, shared, { isPaused: true });
	open();
	await page.getByRole('heading', { level: 1, name: 'This share does not exist or no longer works.' }).waitFor();
	await page.getByText('Upload failed ✗').waitFor();
	await uploadAll(page);
	await page.getByRole('alert').filter({ hasText: 'Nothing is sent until this page shows the share again.' }).waitFor();
	await assertAccessible(t, page, 'a share that is gone during an upload');
	await change(ada, shared, { isPaused: false });
	await page.getByRole('button', { name: 'Check Again' }).click();
	await page.getByText('Drop files or click to upload').waitFor();
	await uploadAll(page);
	await sentList(page).getByText('film.mp4').waitFor();
	t.deepEqual(offsets.slice(-2), [8 * megabyte, 16 * megabyte]);
	t.true((await readFile(path.join(ada.home, 'inbox/film.mp4'))).equals(await readFile(source)));
	t.deepEqual(faults, []);
});

test.serial('what a share may not receive is refused with the reason, and the rest is received', async (t) => {
	const ada = await fixture.enter(t);
	await mkdir(path.join(ada.home, 'inbox'));
	const shared = await share(ada, { items: ['inbox'], mode: 'upload', maxUploadBytes: 100 });
	const { page, faults } = await openStranger(t, shared);
	await choose(page, { name: 'large.txt', text: 'x'.repeat(200) }, { name: 'small.txt', text: 'small' });
	await uploadAll(page);
	await sentList(page).getByText('small.txt').waitFor();
	const row = page.locator('[data-status=error]');
	await row.getByText('Upload failed ✗').waitFor();
	await row.getByText('100 B').waitFor();
	t.deepEqual(await readdir(path.join(ada.home, 'inbox')), ['small.txt']);
	t.deepEqual(faults, []);
});

test.serial('a large file is received over three cut connections', (t) => receiveOverCuts(t, fixture, 100 * megabyte));
