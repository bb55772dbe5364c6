import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { execa } from 'execa';
import type { Locator, Page, Response } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { desktop, launchBrowser, numericName, phone } from '../support/browser.js';
import { absent, eventually } from '../support/expect.js';
import {
	expectFocusInList,
	type FileManager,
	menuItems,
	nameIn,
	namesOf,
	overlaysClosed,
	rowOf,
	setUpFixture,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';
import { expectNotice } from '../support/notices.js';
import { pdf } from '../support/previewFiles.js';
import { closePreview, openPreview, picture, recorded } from '../support/previews.js';
import { change, openStranger, type Share, share } from '../support/shares.js';
import { slowConnection } from '../support/slowConnection.js';

const fixture = withKeptPages(setUpFixture(test));

/** Presses Tab until the control has the focus. */
async function tabTo(page: Page, control: Locator, key = 'Tab'): Promise<void> {
	const hasFocus = () => control.evaluate((element) => element === document.activeElement);
	for (let presses = 0; presses < 30 && !(await hasFocus()); presses++) await page.keyboard.press(key);
	await control.and(page.locator(':focus')).waitFor();
}

const listed = (page: Page) =>
	page.getByRole('grid', { name: 'Files' }).and(page.locator('[aria-busy=false]')).waitFor();

/** What a download of the page has, as the names in the archive or the text of the file. */
async function downloaded(page: Page, start: () => Promise<void>): Promise<{ name: string; content: string[] }> {
	const [download] = await Promise.all([page.waitForEvent('download'), start()]);
	const file = await download.path();
	const name = download.suggestedFilename();
	if (!name.endsWith('.zip')) return { name, content: [await readFile(file, 'utf8')] };
	const { stdout } = await execa('unzip', ['-Z1', file]);
	return { name, content: stdout.split('\n').sort() };
}

async function trip(ada: FileManager): Promise<void> {
	await writeFiles(ada.home, {
		'trip/day 1/walk.txt': 'We walked.',
		'trip/a red.png': await picture('png', '320x200', 'red'),
		'trip/b blue.png': await picture('png', '320x200', 'blue'),
		'trip/notes.txt': 'The notes of the trip.',
		'trip/film.mp4': await recorded('mp4', '-f', 'lavfi', '-i', 'testsrc=s=160x120:d=1', '-pix_fmt', 'yuv420p'),
		'secret.txt': 'Not shared.',
	});
}

const opened = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t);
	await trip(ada);
	const shared = await share(ada, {
		items: ['trip'],
		title: 'Our trip to the lake',
		message: 'All pictures are here.\nTell me if one is missing!',
		expiresAt: Date.now() + 7 * 24 * 60 * 60_000,
	});
	const { page, faults } = await openStranger(t, shared, viewport);
	await page.getByRole('heading', { level: 1, name: 'Our trip to the lake' }).waitFor();
	await page.getByText(`From ${ada.username}`).waitFor();
	await page.getByText('Tell me if one is missing!').waitFor();
	await page.getByText(/^Until /).waitFor();
	await listed(page);
	await eventually(t, () => page.title(), 'Our trip to the lake – Stowage');
	await eventually(t, () => namesOf(page), ['day 1', 'a red.png', 'b blue.png', 'film.mp4', 'notes.txt']);
	await assertAccessible(t, page, 'the page of a share');
	await page.getByRole('button', { name: 'Grid' }).click();
	await page.locator('[role=grid][data-view=grid]').waitFor();
	await assertAccessible(t, page, 'the page of a share as tiles');
	await page.getByRole('button', { name: 'List', exact: true }).click();

	// The viewers that the browser of files has. What they read is no download.
	const read: string[] = [];
	const note = (request: { url(): string }) => request.url().includes('/download/') && read.push(request.url());
	page.on('request', note);
	const image = await openPreview(page, 'a red.png');
	await image.getByRole('img', { name: 'a red.png' }).waitFor();
	await image.getByRole('button', { name: 'Next' }).click();
	await page.getByRole('dialog', { name: 'b blue.png' }).getByRole('img', { name: 'b blue.png' }).waitFor();
	await assertAccessible(t, page, 'a picture of a share');
	await closePreview(page);
	const text = await openPreview(page, 'notes.txt');
	await text.getByText('The notes of the trip.').waitFor();
	await absent(t, text.getByRole('button', { name: 'Edit' }));
	await closePreview(page);
	const film = await openPreview(page, 'film.mp4');
	await film.locator('video').waitFor();
	await eventually(t, () => film.locator('video').evaluate((video: HTMLVideoElement) => video.readyState > 0), true);
	await closePreview(page);

	page.off('request', note);
	t.true(read.length >= 3);
	t.deepEqual(
		read.filter((url) => new URL(url).searchParams.get('inline') !== '1'),
		[],
	);

	await nameIn(page, 'day 1').click();
	await rowOf(page, 'walk.txt').waitFor();
	t.true(page.url().endsWith('/day%201'), page.url());
	await assertAccessible(t, page, 'a folder of a share');
	await page.goBack();
	await rowOf(page, 'notes.txt').waitFor();

	await page.getByRole('searchbox', { name: 'Search' }).fill('walk');
	await page.getByRole('option').filter({ hasText: 'walk.txt' }).waitFor();
	await page.keyboard.press('Enter');
	await eventually(t, () => namesOf(page), ['walk.txt']);
	await page.getByRole('button', { name: 'Clear search' }).click();
	await rowOf(page, 'notes.txt').waitFor();

	const all = await downloaded(page, () => page.getByRole('button', { name: 'Download all' }).click());
	t.regex(all.name, /^trip_\d{4}-\d\d-\d\d\.zip$/);
	const everything = ['', 'a red.png', 'b blue.png', 'day 1/', 'day 1/walk.txt', 'film.mp4', 'notes.txt'];
	await expectNotice(page, `Downloaded ${all.name}`);
	t.deepEqual(
		all.content,
		everything.map((name) => `trip/${name}`),
	);
	await rowOf(page, 'notes.txt')
		.locator('[data-column=type]')
		.click({ modifiers: ['Control'] });
	await rowOf(page, 'day 1')
		.locator('[data-column=type]')
		.click({ modifiers: ['Control'] });
	const some = await downloaded(page, () => page.getByRole('button', { name: 'Download', exact: true }).click());
	t.deepEqual(some.content, ['day 1/', 'day 1/walk.txt', 'notes.txt']);
	t.deepEqual(faults, []);
};
test.serial('a stranger opens a shared folder, looks at it and downloads it, at a desk', opened, desktop);
test.serial('a stranger opens a shared folder, looks at it and downloads it, on a phone', opened, phone);

const measured = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'films/about.txt': 'Two films.' });
	const film = await open(path.join(ada.home, 'films/long.mp4'), 'w');
	await film.truncate(3 * 1024 ** 3);
	await film.close();
	const shared = await share(ada, { items: ['films'] });
	// Two and a half minutes: long enough to be observed.
	const slow = await slowConnection(t, ada.url, 20_000_000);
	const { page, faults } = await openStranger(t, { ...shared, url: shared.url.replace(ada.url, slow) }, viewport);
	const [download] = await Promise.all([
		page.waitForEvent('download'),
		page.getByRole('button', { name: 'Download all' }).click(),
	]);
	const bar = page.getByRole('status').filter({ hasText: /^Downloading films_/ });
	await bar.getByText(/^\d+\.\d\d\s[MG]B\sof\s3\.00\sGB · \d+\.\d\s[KM]B\/s · .*\sleft$/).waitFor();
	await bar.locator('[role=progressbar]:not([aria-valuenow="0"])').waitFor();
	await assertAccessible(t, page, 'a ZIP of a share on its way');
	await bar.getByRole('button', { name: 'Cancel' }).click();
	await expectNotice(page, 'Download cancelled');
	t.truthy(await download.failure());
	t.deepEqual(faults, []);
};
test.serial('a ZIP of a share shows how far it is and can be cancelled, at a desk', measured, desktop);
test.serial('a ZIP of a share shows how far it is and can be cancelled, on a phone', measured, phone);

test.serial(
	'a PDF of a share is shown on a phone, and one that can’t be shown opens in a tab of its own',
	async (t) => {
		const ada = await fixture.enter(t);
		await writeFiles(ada.home, { 'plan.pdf': pdf({ pages: 3 }), 'broken.pdf': '%PDF-1.4\nnothing' });
		const shared = await share(ada, { items: ['plan.pdf', 'broken.pdf'] });
		const { page } = await openStranger(t, shared, phone);
		const viewer = await openPreview(page, 'plan.pdf');
		await viewer.frameLocator('iframe').getByText('Page 1 of the paper', { exact: true }).waitFor();
		await assertAccessible(t, page, 'a PDF of a share');
		await closePreview(page);
		const broken = await openPreview(page, 'broken.pdf');
		const link = broken.getByRole('link', { name: 'Open in a new tab' });
		await link.waitFor();
		const address = await link.evaluate((element) => (element as HTMLAnchorElement).href);
		const answer = await fetch(numericName(address));
		t.is(answer.status, 200);
		t.regex(answer.headers.get('content-disposition') ?? '', /^inline/);
		await answer.body?.cancel();
	},
);

test.serial('the page of a share has less than 200 kB of script before its first viewer', async (t) => {
	const ada = await fixture.enter(t);
	await trip(ada);
	const { url } = await share(ada, { items: ['trip'] });
	const context = await (await launchBrowser()).newContext({ viewport: phone });
	t.teardown(() => context.close());
	const page = await context.newPage();
	const scripts: Response[] = [];
	page.on('response', (response) => {
		if (response.request().resourceType() === 'script') scripts.push(response);
	});
	await page.goto(url);
	await rowOf(page, 'notes.txt').waitFor();
	await page.waitForLoadState('networkidle');
	const bodies = await Promise.all(scripts.map((script) => script.body()));
	const total = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0);
	t.log(`${total} bytes`);
	t.true(total > 50_000 && total < 200_000, `${total}`);
});

test.serial('chat programs are shown a picture of a shared folder, and none where it can’t be viewed', async (t) => {
	const ada = await fixture.enter(t);
	await trip(ada);
	const pictureOf = async ({ url }: Share) => {
		const page = await fetch(numericName(url));
		return /<meta property="og:image" content="([^"]*)">/.exec(await page.text())?.[1];
	};
	const shared = await share(ada, { items: ['trip'] });
	const address = new URL((await pictureOf(shared)) ?? '');
	t.true(address.pathname.endsWith('/thumbnail/a%20red.png'), address.pathname);
	const image = await fetch(numericName(address.href));
	t.is(image.headers.get('content-type'), 'image/webp');
	t.is(await pictureOf(await share(ada, { items: ['trip'], maxDownloads: 1 })), undefined);
	t.is(await pictureOf(await share(ada, { items: ['trip'], password: 'correct horse' })), undefined);
	t.is(await pictureOf(await share(ada, { items: ['trip/notes.txt'] })), undefined);
});

const locked = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t);
	await trip(ada);
	const shared = await share(ada, { items: ['trip'], title: 'Our secret trip', password: 'correct horse' });
	const { page, faults } = await openStranger(t, shared, viewport);
	const form = page.getByRole('form', { name: 'Password' });
	const field = form.getByLabel('Password', { exact: true });
	await field.and(page.locator(':focus')).waitFor();
	await assertAccessible(t, page, 'the password of a share');
	await absent(t, page.getByText('Our secret trip'));
	await page.keyboard.type('battery staple');
	await page.keyboard.press('Enter');
	await form.getByRole('alert').filter({ hasText: 'That is not the password of this share.' }).waitFor();
	await field.and(page.locator(':focus')).waitFor();
	await assertAccessible(t, page, 'a wrong password of a share');
	// What was wrong is selected, and typed anew.
	await page.keyboard.type('correct horse');
	await page.keyboard.press('Enter');
	await page.getByRole('heading', { level: 1, name: 'Our secret trip' }).waitFor();
	await rowOf(page, 'notes.txt').waitFor();
	await expectFocusInList(page);
	const file = await downloaded(page, async () => {
		await rowOf(page, 'notes.txt').getByRole('button', { name: 'Actions for notes.txt' }).click();
		await eventually(t, () => menuItems(page), ['Preview', 'Download']);
		await assertAccessible(t, page, 'the menu of a file of a share');
		await page.getByRole('menuitem', { name: 'Download' }).click();
	});
	t.deepEqual(file, { name: 'notes.txt', content: ['The notes of the trip.'] });
	await overlaysClosed(page);

	// It is asked again on the way into a folder, once the password is another one.
	await change(ada, shared, { password: 'another horse' });
	await nameIn(page, 'day 1').click();
	await field.waitFor();
	await change(ada, shared, { password: null, isPaused: true });
	await page.reload();
	await page.getByRole('heading', { name: 'This share does not exist or no longer works.' }).waitFor();
	await assertAccessible(t, page, 'a share that is not there');
	t.deepEqual(faults, []);
};
test.serial(
	'who has typed the password of a share is in its list then, also where the server takes its time',
	async (t) => {
		const ada = await fixture.enter(t);
		await trip(ada);
		const { page, faults } = await openStranger(t, await share(ada, { items: ['trip'], password: 'correct horse' }));
		const field = page.getByLabel('Password', { exact: true });
		await field.and(page.locator(':focus')).waitFor();
		await page.route(/\/api\/share\/[^/]+$/, async (route) => {
			await wait(500);
			await route.continue();
		});
		await page.keyboard.type('correct horse');
		await page.keyboard.press('Enter');
		await rowOf(page, 'notes.txt').waitFor();
		await expectFocusInList(page);
		t.deepEqual(faults, []);
	},
);

test.serial('the right password of a share says so where the browser keeps no cookies', async (t) => {
	const ada = await fixture.enter(t);
	await trip(ada);
	const { page } = await openStranger(t, await share(ada, { items: ['trip'], password: 'correct horse' }));
	await page.route('**/api/share/*/open', async (route) => {
		const answer = await route.fetch();
		const { 'set-cookie': _, ...headers } = answer.headers();
		await page.context().clearCookies();
		await route.fulfill({ response: answer, headers });
	});
	const form = page.getByRole('form', { name: 'Password' });
	await form.getByLabel('Password', { exact: true }).fill('correct horse');
	await page.keyboard.press('Enter');
	await form.getByRole('alert').filter({ hasText: 'your browser keeps no cookie of this site' }).waitFor();
	await absent(t, rowOf(page, 'notes.txt'));
});

test.serial('the page of a share asks for its password, and again for another one, at a desk', locked, desktop);
test.serial('the page of a share asks for its password, and again for another one, on a phone', locked, phone);

test.serial('a share that has ended says so, also to a page that is open', async (t) => {
	const ada = await fixture.enter(t);
	await trip(ada);
	const shared = await share(ada, { items: ['trip/notes.txt', 'trip/day 1'] });
	const { page, faults } = await openStranger(t, shared);
	await page.getByRole('heading', { level: 1, name: `Shared by ${ada.username}` }).waitFor();
	await rowOf(page, 'notes.txt').waitFor();
	await change(ada, shared, { expiresAt: Date.now() + 1000 });
	const api = numericName(shared.url).replace('/s/', '/api/share/');
	await eventually(t, async () => (await fetch(api)).status, 410);
	await nameIn(page, 'day 1').click();
	await page.getByRole('heading', { level: 1, name: 'This share has ended.' }).waitFor();
	await absent(t, page.getByRole('grid', { name: 'Files' }));
	await assertAccessible(t, page, 'a share that has ended');
	await page.reload();
	await page.getByRole('heading', { level: 1, name: 'This share has ended.' }).waitFor();
	t.deepEqual(faults, []);
});

test.serial('what several shared items have is found by a search', async (t) => {
	const ada = await fixture.enter(t);
	await trip(ada);
	const { page, faults } = await openStranger(t, await share(ada, { items: ['trip/notes.txt', 'trip/day 1'] }));
	await rowOf(page, 'notes.txt').waitFor();
	const search = page.getByRole('searchbox', { name: 'Search' });
	await search.fill('walk');
	await page.getByRole('option').filter({ hasText: 'walk.txt' }).waitFor();
	await page.keyboard.press('Enter');
	await eventually(t, () => namesOf(page), ['walk.txt']);
	await search.fill('secret');
	await page.keyboard.press('Enter');
	await page.getByText('No results found').waitFor();
	await page.getByRole('button', { name: 'Clear search' }).click();
	await eventually(t, () => namesOf(page), ['day 1', 'notes.txt']);
	t.deepEqual(faults, []);
});

test.serial('the keyboard alone opens a share, looks at a file and selects what is downloaded', async (t) => {
	const ada = await fixture.enter(t);
	await trip(ada);
	const { page, faults } = await openStranger(t, await share(ada, { items: ['trip'] }));
	await rowOf(page, 'notes.txt').waitFor();
	await tabTo(page, page.getByRole('button', { name: 'Download all' }));
	await tabTo(page, rowOf(page, 'day 1'));
	await page.keyboard.press('End');
	await rowOf(page, 'notes.txt').and(page.locator(':focus')).waitFor();
	await page.keyboard.press('Enter');
	await page.getByRole('dialog', { name: 'notes.txt' }).getByText('The notes of the trip.').waitFor();
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await rowOf(page, 'notes.txt').and(page.locator(':focus')).waitFor();
	await page.keyboard.press('Home');
	await page.keyboard.press('Enter');
	await rowOf(page, 'walk.txt').waitFor();
	await page.keyboard.press('Backspace');
	await rowOf(page, 'day 1').and(page.locator(':focus')).waitFor();
	await page.keyboard.press('Shift+F10');
	await eventually(t, () => menuItems(page), ['Open', 'Download as ZIP']);
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await page.keyboard.press('Shift+ArrowDown');
	await page.getByText('2 Selected').waitFor();
	const button = page.getByRole('button', { name: 'Download', exact: true });
	await tabTo(page, button, 'Shift+Tab');
	const some = await downloaded(page, () => page.keyboard.press('Enter'));
	t.deepEqual(some.content, ['a red.png', 'day 1/', 'day 1/walk.txt']);
	t.deepEqual(faults, []);
});

test.serial('too many wrong passwords of a share are refused for a while', async (t) => {
	const ada = await fixture.enter(t);
	await trip(ada);
	const { page, faults } = await openStranger(t, await share(ada, { items: ['trip'], password: 'correct horse' }));
	const form = page.getByRole('form', { name: 'Password' });
	for (let tries = 0; tries < 40; tries++) {
		await form.getByLabel('Password', { exact: true }).fill(`battery ${tries}`);
		const [answer] = await Promise.all([
			page.waitForResponse((response) => response.url().endsWith('/open')),
			page.keyboard.press('Enter'),
		]);
		if (answer.status() === 429) break;
	}
	await form.getByRole('alert').filter({ hasText: 'Too many failed tries. Please wait a moment.' }).waitFor();
	await assertAccessible(t, page, 'too many wrong passwords of a share');
	t.deepEqual(faults, []);
});

test.serial('a share with a limit of downloads is downloaded and has no viewers', async (t) => {
	const ada = await fixture.enter(t);
	await trip(ada);
	const shared = await share(ada, { items: ['trip/notes.txt'], maxDownloads: 1 });
	const { page, faults } = await openStranger(t, shared);
	await page.getByRole('heading', { level: 1, name: 'notes.txt' }).waitFor();
	await page.getByText('These files can be downloaded, and not viewed here.').waitFor();
	await rowOf(page, 'notes.txt').click({ button: 'right' });
	await eventually(t, () => menuItems(page), ['Download']);
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	const file = await downloaded(page, () => nameIn(page, 'notes.txt').click());
	t.deepEqual(file, { name: 'notes.txt', content: ['The notes of the trip.'] });
	await absent(t, page.getByRole('dialog'));
	t.deepEqual(faults, []);
});
