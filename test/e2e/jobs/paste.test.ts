import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import type { Locator, Page } from 'playwright-core';
import { basePath } from '../support/browser.js';
import { absent } from '../support/expect.js';
import { expectOnDisk, keepBoth, nameIn, rowOf, setUpFixture, writeFiles } from '../support/fileManager.js';
import { jobOf } from '../support/jobAnswers.js';
import { expectNotice } from '../support/notices.js';

const plugin = pathToFileURL(path.resolve('test/e2e/jobs/heldStorage.js')).href;
const fixture = setUpFixture(test, ['--storage', 'held', '--plugins', JSON.stringify({ [plugin]: {} })]);

/** Copies rows of the home by the keyboard and pastes them into its folder `Target`. */
async function paste(page: Page, ...names: string[]): Promise<void> {
	await page.keyboard.press('Escape');
	for (const name of names) await rowOf(page, name).click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+c');
	await nameIn(page, 'Target').click();
	await rowOf(page, 'Up Directory').waitFor();
	await page.keyboard.press('Control+v');
}

/** Changes whether the server holds copies. */
async function holdCopies(page: Page, change: 'hold' | 'step' | 'release'): Promise<void> {
	const call = async (address: string) => (await fetch(address, { method: 'POST' })).status;
	const status = await page.evaluate(call, `${basePath}/api/heldCopies/${change}`);
	if (status !== 200) throw new Error(`The server answered with ${status}.`);
}

/** Lets two files of a held copy of ten pass and waits until the progress bar has shown each. */
async function expectProgress(page: Page, bar: Locator): Promise<void> {
	const at = (value: string) => bar.and(page.locator(`[aria-valuenow="${value}"]`)).waitFor();
	await at('0');
	for (const value of ['10', '20']) {
		await holdCopies(page, 'step');
		await at(value);
	}
}

test.serial('a paste continues without its page, and another page shows, cancels and retries it', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'Target/': '', 'a.txt': 'a', 'b/': '' });
	const names = Array.from({ length: 10 }, (_, index) => `${index}.txt`);
	await writeFiles(path.join(ada.home, 'many'), Object.fromEntries(names.map((name) => [name, 'x'])));
	const page = await ada.open('/browser?type=private');
	await paste(page, 'a.txt', 'b');
	await expectNotice(page, 'Pasted 2 items');
	await rowOf(page, 'Up Directory').dblclick();
	await rowOf(page, 'many').waitFor();
	const other = await ada.open('/browser?type=public');
	await page.bringToFront();
	await holdCopies(page, 'hold');
	await paste(page, 'b', 'many');
	await keepBoth(page);
	const notice = page.getByRole('status').filter({ hasText: 'Pasting 2 items' });
	await expectProgress(page, notice.getByRole('progressbar', { name: 'Pasting 2 items' }));
	await notice.getByRole('button', { name: 'Cancel' }).waitFor();

	// The other page is notified of the job.
	await other.getByRole('button', { name: 'Activity: 1 running' }).click();
	const job = other.getByRole('dialog', { name: 'Activity' }).getByRole('listitem').first();
	await job.getByText('Copy 2 items to Target').waitFor();
	await job.getByRole('button', { name: 'Cancel' }).click();
	await expectNotice(page, 'Paste cancelled', 'Copied 1 of 2 items.');
	await job.getByText('Cancelled', { exact: true }).waitFor();
	await job.getByText('Copied 1 of 2 items.').waitFor();
	// The copied item is kept, and nothing of the other one is left.
	t.deepEqual((await readdir(path.join(ada.home, 'Target'))).sort(), ['a.txt', 'b', 'b (1)']);

	await job.getByRole('button', { name: 'Retry' }).click();
	await expectProgress(other, job.getByRole('progressbar', { name: 'Copy 2 items to Target' }));
	await page.close();
	await holdCopies(other, 'release');
	await job.getByText('Completed').waitFor();
	await other.getByRole('button', { name: 'Activity: 1 running' }).waitFor({ state: 'detached' });
	t.deepEqual((await readdir(path.join(ada.home, 'Target/many'))).sort(), names);
	t.deepEqual(ada.faults, []);
});

test.serial('a copy that is cancelled before the server answers is cancelled once its job is known', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'Target/': '', 'a.txt': 'a' });
	const page = await ada.open('/browser?type=private');
	let answer = () => {};
	const cancelled = new Promise<void>((resolve) => {
		answer = resolve;
	});
	await page.route('**/api/copyItem', async (route) => {
		await cancelled;
		await route.fulfill({ status: 202, json: { jobId: 'a1' } });
	});
	const requests: string[] = [];
	await page.route('**/api/jobs/a1', async (route) => {
		const method = route.request().method();
		requests.push(method);
		const status = requests.includes('DELETE') ? 'cancelled' : 'processing';
		await route.fulfill({
			json: method === 'GET' ? jobOf({ id: 'a1', status, error: 'Nothing was done.' }) : { message: '' },
		});
	});
	await paste(page, 'a.txt');
	const notice = page.getByRole('status').filter({ hasText: 'Pasting a.txt' });
	await notice.getByRole('button', { name: 'Cancel' }).click();
	answer();
	await expectNotice(page, 'Paste cancelled', 'Nothing was done.');
	t.true(requests.includes('DELETE'));
	t.deepEqual(ada.faults, []);
});

test.serial('a notice explains that a paste continues when the session has ended meanwhile', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'Target/': '', 'a.txt': 'a' });
	const page = await ada.open('/browser?type=private');
	await page.route('**/api/copyItem', (route) => route.fulfill({ status: 202, json: { jobId: 'a1' } }));
	let requests = 0;
	await page.route('**/api/jobs/a1', (route) => {
		requests++;
		return route.fulfill({
			status: 401,
			json: { statusCode: 401, code: 'NOT_SIGNED_IN', error: '', message: 'Please sign in.' },
		});
	});
	await paste(page, 'a.txt');
	await expectNotice(
		page,
		'Failed to paste items',
		'The session has ended. What was begun goes on: sign in to see it in Activity.',
	);
	t.is(requests, 1);
});

test.serial('many items are moved by one job, and items that could not be moved stay cut', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'Target/': '', 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' });
	const page = await ada.open('/browser?type=private');
	const calls: string[] = [];
	page.on('request', (request) => {
		if (request.method() === 'POST') calls.push(new URL(request.url()).pathname.slice(basePath.length));
	});
	await page.keyboard.press('Control+a');
	for (const name of ['Public', 'Target']) await rowOf(page, name).click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+x');
	// Such as a full disk: nothing was moved.
	await page.route('**/api/jobs', (route) =>
		route.fulfill({
			status: 507,
			json: { statusCode: 507, code: 'STORAGE_FULL', error: '', message: 'No space left' },
		}),
	);
	await nameIn(page, 'Target').click();
	await rowOf(page, 'Up Directory').waitFor();
	await page.keyboard.press('Control+v');
	await expectNotice(page, 'Error pasting items', 'No space left');
	await page.unroute('**/api/jobs');
	calls.length = 0;
	await page.keyboard.press('Control+v');
	await expectNotice(page, 'Pasted 3 items');
	t.deepEqual(calls, ['/api/jobs']);
	await expectOnDisk(t, ada.home, ['Public/', 'Target/', 'Target/a.txt', 'Target/b.txt', 'Target/c.txt']);
	await page.keyboard.press('Control+v');
	await expectNotice(page, 'Nothing to paste');

	for (const name of ['a.txt', 'b.txt', 'c.txt']) await rowOf(page, name).waitFor();
	await page.keyboard.press('Control+a');
	await rowOf(page, 'b.txt').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Move to Public' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Move', exact: true }).click();
	await expectNotice(page, 'Moved 3 items to public');
	t.deepEqual(calls, ['/api/jobs', '/api/jobs']);
	const moved = ['a', 'b', 'c'].map((name) => `Public/Target/${name}.txt`);
	await expectOnDisk(t, ada.home, ['Public/', 'Public/Target/', ...moved, 'Target/']);
	t.deepEqual(ada.faults, []);
});

test.serial('what was moved is not shown in its former folder before that is fetched again', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'Target/': '', 'a.txt': 'a', 'b.txt': 'b' });
	const page = await ada.open('/browser?type=private');
	await rowOf(page, 'a.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('Control+x');
	await nameIn(page, 'Target').click();
	await rowOf(page, 'Up Directory').waitFor();
	await page.keyboard.press('Control+v');
	await expectNotice(page, 'Pasted a.txt');
	let release = () => {};
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	await page.route(
		(url) => url.pathname.endsWith('/api/browse'),
		(route) => released.then(() => route.fallback()),
	);
	await rowOf(page, 'Up Directory').dblclick();
	await rowOf(page, 'b.txt').waitFor();
	await absent(t, rowOf(page, 'a.txt'));
	release();
	await nameIn(page, 'Target').click();
	await rowOf(page, 'a.txt').waitFor();
	t.deepEqual(ada.faults, []);
});
