import { rename, rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { BrowserContext, Page, Route } from 'playwright-core';
import { isLong } from '../../long.js';
import { slowness } from '../../processorTime.js';
import { assertAccessible, assertAccessibleWhileLoading } from '../support/axe.js';
import { desktop, launchBrowser, phone } from '../support/browser.js';
import { longestTask } from '../support/devtools.js';
import { absent, eventually, eventuallyMatches } from '../support/expect.js';
import {
	expectOnDisk,
	expectSelected,
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
import { longPress, typeQuickly } from '../support/inputMethods.js';
import { expectNotice } from '../support/notices.js';
import { picture } from '../support/previews.js';
import { timeoutMs } from '../support/timeouts.js';

const fixture = withKeptPages(setUpFixture(test));

const grid = (page: Page) => page.getByRole('grid', { name: 'Files' });
const view = (page: Page, name: 'List' | 'Grid') =>
	page.getByRole('group', { name: 'View' }).getByRole('button', { name, exact: true });
const expectFocus = (page: Page, name: string) => rowOf(page, name).and(page.locator(':focus')).waitFor();

async function toGrid(page: Page): Promise<void> {
	await view(page, 'Grid').click();
	await page.locator('[role=grid][data-view=grid]').waitFor();
}

/** The names in the first line, by their place. */
async function firstLine(page: Page): Promise<string[]> {
	return grid(page)
		.locator('[data-index]')
		.evaluateAll((tiles) => {
			const boxes = tiles.map((tile) => ({
				box: tile.getBoundingClientRect(),
				name: tile.getAttribute('aria-label') ?? '',
			}));
			const top = Math.min(...boxes.map(({ box }) => box.top));
			return boxes
				.filter(({ box }) => box.top === top)
				.sort((a, b) => a.box.left - b.box.left)
				.map(({ name }) => name.split(',')[0] ?? '');
		});
}

async function middleOf(page: Page, name: string): Promise<{ x: number; y: number; width: number; height: number }> {
	const box = await rowOf(page, name).boundingBox();
	if (!box) throw new Error(`${name} is not on screen.`);
	return { ...box, x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

const letters = [...'abcdefghijklmnopqrst'];

test.serial('switching between grid and list is saved, and keeps the selection and the focus', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(`${app.home}/Box`, Object.fromEntries(letters.map((name) => [`${name}.txt`, name])));
	const page = await app.open('/browser/Box?type=private');
	await eventually(t, () => view(page, 'List').getAttribute('aria-pressed'), 'true');
	await rowOf(page, 'b.txt').click({ modifiers: ['Control'] });
	await rowOf(page, 'd.txt').click({ modifiers: ['Control'] });
	await toGrid(page);
	await eventually(t, () => view(page, 'Grid').getAttribute('aria-pressed'), 'true');
	await eventually(t, () => view(page, 'List').getAttribute('aria-pressed'), 'false');
	await expectSelected(t, page, 'b.txt', 'd.txt');
	const line = await firstLine(page);
	t.true(line.length > 3);
	t.deepEqual(line, ['Up Directory', ...letters.map((name) => `${name}.txt`)].slice(0, line.length));
	await eventually(t, () => grid(page).getAttribute('aria-rowcount'), '22');
	await eventually(t, () => rowOf(page, 'a.txt').getAttribute('aria-rowindex'), '3');
	await eventually(t, () => grid(page).getAttribute('aria-colcount'), '7');
	// The headers still sort.
	await page.getByRole('button', { name: 'Name', exact: true }).click();
	await page.getByRole('button', { name: 'Name', exact: true }).click();
	await page.locator('[aria-sort=descending]').waitFor();
	t.is((await firstLine(page))[1], 't.txt');
	await page.getByRole('button', { name: 'Type', exact: true }).click();

	await page.reload();
	await page.locator('[role=grid][data-view=grid][aria-busy=false]').waitFor();
	await expectSelected(t, page, 'b.txt', 'd.txt');
	await page.keyboard.press('Tab');
	await rowOf(page, 'd.txt').focus();
	await view(page, 'List').click();
	await page.locator('[role=grid][data-view=list]').waitFor();
	await expectSelected(t, page, 'b.txt', 'd.txt');
	await page.goto(`${app.url}/browser?type=private`);
	await page.locator('[role=grid][data-view=list][aria-busy=false]').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial(
	'the mouse opens, selects and drags tiles and drops on them, and a tile has the menu of its row',
	async (t) => {
		const app = await fixture.enter(t);
		const files = Object.fromEntries(letters.map((name) => [`${name}.txt`, name]));
		await writeFiles(`${app.home}/Box`, { ...files, 'Inner/': '' });
		const page = await app.open('/browser/Box?type=private');
		await toGrid(page);

		// The circle selects by a click alone.
		await rowOf(page, 'a.txt').hover();
		await rowOf(page, 'a.txt').locator('[data-part=check]').click();
		await rowOf(page, 'c.txt').click({ modifiers: ['Shift'] });
		await expectSelected(t, page, 'a.txt', 'b.txt', 'c.txt');
		await rowOf(page, 'b.txt').click({ modifiers: ['Control'] });
		await expectSelected(t, page, 'a.txt', 'c.txt');

		// A marquee from the gap between two tiles covers a rectangle of them.
		const line = await firstLine(page);
		const from = await middleOf(page, line[2] as string);
		const below = (await namesOf(page))[line.length + 2] as string;
		const to = await middleOf(page, below);
		await page.mouse.move(from.x - from.width / 2 - 4, from.y);
		await page.mouse.down();
		await page.mouse.move(to.x - 30, to.y - 30, { steps: 4 });
		await page.mouse.move(to.x, to.y, { steps: 4 });
		await page.mouse.up();
		const names = await namesOf(page);
		const first = names.indexOf(line[2] as string);
		await expectSelected(
			t,
			page,
			...[first, first + 1, first + line.length, first + line.length + 1].map((index) => names[index] as string),
		);
		await page.keyboard.press('Escape');

		await rowOf(page, 'a.txt').dragTo(rowOf(page, 'Inner'));
		await expectNotice(page, 'Moved a.txt');
		// Then the tiles behind it have moved up, too.
		await rowOf(page, 'a.txt').waitFor({ state: 'detached' });
		await rowOf(page, 'b.txt').click({ modifiers: ['Control'] });
		await rowOf(page, 'd.txt').click({ modifiers: ['Control'] });
		await rowOf(page, 'd.txt').dragTo(rowOf(page, 'Inner'));
		await expectNotice(page, 'Moved 2 items');
		await rowOf(page, 'd.txt').waitFor({ state: 'detached' });
		await rowOf(page, 'Inner').evaluate((folder) => {
			const transfer = new DataTransfer();
			transfer.items.add(new File(['new'], 'new.txt'));
			for (const type of ['dragenter', 'dragover', 'drop']) {
				folder.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
			}
		});
		await page.getByRole('dialog').getByRole('button', { name: 'Upload All' }).click();
		const moved = letters.filter((name) => !'abd'.includes(name)).map((name) => `Box/${name}.txt`);
		const inner = ['a', 'b', 'd', 'new'].map((name) => `Box/Inner/${name}.txt`);
		await expectOnDisk(t, app.home, ['Box/', 'Box/Inner/', ...inner, ...moved, 'Public/']);
		await overlaysClosed(page);

		await rowOf(page, 'c.txt').click({ button: 'right' });
		await eventually(t, async () => (await menuItems(page)).includes('Rename'), true);
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
		await rowOf(page, 'e.txt').hover();
		await rowOf(page, 'e.txt').getByRole('button', { name: 'Actions for e.txt' }).click();
		await page.getByRole('menuitem', { name: 'Delete' }).click();
		await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
		await expectNotice(page, 'Deleted e.txt');
		await rowOf(page, 'e.txt').waitFor({ state: 'detached' });

		await nameIn(page, 'c.txt').click();
		await page.getByRole('dialog', { name: 'c.txt' }).waitFor();
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
		await nameIn(page, 'Inner').click();
		await rowOf(page, 'new.txt').waitFor();
		await page.goBack();
		await rowOf(page, 'f.txt').waitFor();
		t.deepEqual(app.faults, []);
	},
);

test.serial(
	'the arrow keys move the cursor in two dimensions in the grid, and all other keys work as in the list',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(`${app.home}/Box`, Object.fromEntries(letters.map((name) => [`${name}.txt`, name])));
		const page = await app.open('/browser/Box?type=private');
		await toGrid(page);
		const columns = (await firstLine(page)).length;
		const all = ['Up Directory', ...letters.map((name) => `${name}.txt`)];
		const press = async (key: string, index: number) => {
			await page.keyboard.press(key);
			await expectFocus(page, all[index] as string);
		};
		await grid(page).locator('[data-index="0"]').focus();
		await press('ArrowRight', 1);
		await press('ArrowDown', 1 + columns);
		await press('ArrowLeft', columns);
		await press('ArrowLeft', columns - 1);
		await press('ArrowUp', columns - 1);
		await press('End', letters.length);
		await press('ArrowRight', letters.length);
		await press('Home', 0);
		await press('ArrowRight', 1);
		await press('PageDown', 1 + 2 * columns);
		await press('PageUp', 1);
		await page.keyboard.press('Space');
		await page.keyboard.press('Shift+ArrowDown');
		await expectSelected(t, page, ...all.slice(1, 2 + columns));
		await page.keyboard.press('Shift+ArrowLeft');
		await expectSelected(t, page, ...all.slice(1, 1 + columns));
		await page.keyboard.press('Escape');
		await expectSelected(t, page);
		await page.keyboard.press('Control+a');
		await expectSelected(t, page, ...all.slice(1));
		await page.keyboard.press('Escape');

		await typeQuickly(page, 'g.t');
		await expectFocus(page, 'g.txt');
		await page.keyboard.press('F2');
		const dialog = page.getByRole('dialog', { name: 'Rename' });
		await dialog.getByRole('textbox').fill('g2.txt');
		await page.keyboard.press('Enter');
		await expectNotice(page, 'Renamed to g2.txt');
		await overlaysClosed(page);
		await expectFocus(page, 'g2.txt');
		await page.keyboard.press('Delete');
		await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).and(page.locator(':focus')).waitFor();
		await page.keyboard.press('Enter');
		await expectNotice(page, 'Deleted g2.txt');
		await overlaysClosed(page);
		// The next tile has the focus.
		await expectFocus(page, 'h.txt');
		await page.keyboard.press('Shift+F10');
		await page.getByRole('menu').waitFor();
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
		await expectFocus(page, 'h.txt');
		await page.keyboard.press('Enter');
		await page.getByRole('dialog', { name: 'h.txt' }).waitFor();
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
		await expectFocus(page, 'h.txt');
		// In the list the arrow keys to the sides do nothing.
		await view(page, 'List').click();
		await rowOf(page, 'h.txt').focus();
		await page.keyboard.press('ArrowRight');
		await page.keyboard.press('ArrowDown');
		await expectFocus(page, 'i.txt');
		await page.keyboard.press('Backspace');
		await rowOf(page, 'Box').waitFor();
		t.deepEqual(app.faults, []);
	},
);

test.serial('a tap opens a tile, a tap on its circle selects it, and a long press opens its menu', async (t) => {
	const app = await fixture.enter(t, { viewport: phone, hasTouch: true });
	const files = Object.fromEntries(letters.map((name) => [`${name}.txt`, name]));
	await writeFiles(`${app.home}/Box`, files);
	const page = await app.open('/browser/Box?type=private');
	await view(page, 'Grid').tap();
	await page.locator('[role=grid][data-view=grid]').waitFor();
	t.is((await firstLine(page)).length, 2);
	const hint = await page.getByText('Tap a circle to select').boundingBox();
	const views = await page.getByRole('group', { name: 'View' }).boundingBox();
	t.true(hint !== null && views !== null && hint.x + hint.width <= views.x, 'the hint covers nothing');
	t.true(
		await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth),
		'nothing is wider than the screen',
	);
	await rowOf(page, 'a.txt').locator('[data-part=check]').tap();
	await rowOf(page, 'b.txt').locator('[data-part=check]').tap();
	await expectSelected(t, page, 'a.txt', 'b.txt');
	await rowOf(page, 'b.txt').locator('[data-part=check]').tap();
	await expectSelected(t, page, 'a.txt');
	await page.getByRole('button', { name: 'Clear selection' }).tap();
	await longPress(page, rowOf(page, 'c.txt'));
	await eventually(t, async () => (await menuItems(page)).includes('Rename'), true);
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await page.getByRole('button', { name: 'Clear selection' }).tap();
	await rowOf(page, 'd.txt').getByRole('button', { name: 'Actions for d.txt' }).tap();
	await eventually(t, async () => (await menuItems(page)).includes('Rename'), true);
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await rowOf(page, 'a.txt').tap();
	await page.getByRole('dialog', { name: 'a.txt' }).getByRole('button', { name: 'Close', exact: true }).tap();
	await overlaysClosed(page);
	await rowOf(page, 'Up Directory').tap();
	await rowOf(page, 'Box').waitFor();
	t.deepEqual(app.faults, []);
});

/** Answers the requests for thumbnails of a context; the result collects their names in order. */
async function answerThumbnails(
	context: BrowserContext,
	answer: (route: Route, name: string) => unknown,
): Promise<string[]> {
	const requested: string[] = [];
	await context.route('**/api/thumbnail/**', (route) => {
		const url = new URL(route.request().url());
		const name = decodeURIComponent(url.pathname.split('/').at(-1) ?? '');
		requested.push(name);
		return answer(route, name);
	});
	return requested;
}

const thumbnailOf = (page: Page, name: string) => rowOf(page, name).locator('img[data-part=thumbnail]');

/** A thousand photos, of which the names begin with their numbers. */
const photos = Object.fromEntries(
	Array.from({ length: 1000 }, (_, index) => [`${String(index).padStart(4, '0')}.jpg`, `${index}`]),
);

test.serial('thumbnails are requested only for tiles near the screen, and four at once', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(`${app.home}/Photos`, { ...photos, 'notes.txt': 'n', 'song.mp3': 's' });
	const body = await picture('webp', '256x171', 'orange');
	let waiting: (() => void)[] = [];
	let isHeld = true;
	let most = 0;
	let inFlight = 0;
	const requested = await answerThumbnails(app.context, async (route) => {
		most = Math.max(most, ++inFlight);
		if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
		inFlight--;
		// An aborted request can't be answered.
		await route.fulfill({ contentType: 'image/webp', body }).catch(() => {});
	});
	const page = await app.open('/browser?type=private');
	const cancelled: string[] = [];
	page.on('requestfailed', (request) => request.url().includes('/api/thumbnail/') && cancelled.push(request.url()));
	await toGrid(page);
	await nameIn(page, 'Photos').click();
	await rowOf(page, '0000.jpg').waitFor();
	await until(() => waiting.length === 4);
	const columns = (await firstLine(page)).length;
	const onScreen = await grid(page).evaluate((element) => {
		const bottom = element.getBoundingClientRect().bottom;
		return [...element.querySelectorAll('[data-index]')].filter((tile) => tile.getBoundingClientRect().top < bottom)
			.length;
	});
	const near = onScreen + 3 * columns;

	// Requests of tiles that were scrolled away are aborted, and tiles that pass quickly request nothing.
	await grid(page)
		.locator('[role=rowgroup]')
		.last()
		.evaluate((scroller) => scroller.scrollTo({ top: scroller.scrollHeight / 2 }));
	await until(() => cancelled.length === 4);
	isHeld = false;
	for (const release of waiting) release();
	waiting = [];
	await page.keyboard.press('Escape');
	const middle = (await namesOf(page))[Math.floor(near / 2)] as string;
	await thumbnailOf(page, middle).waitFor();
	await until(
		async () =>
			(await grid(page).locator('[data-index]:not([data-index="0"])').count()) ===
			(await grid(page).locator('img').count()),
	);
	t.true(requested.length <= 4 + near + 2 * columns, `${requested.length} for ${onScreen} on screen`);
	t.true(most <= 8, 'four at once, besides the four that were aborted');
	t.false(requested.some((name) => !name.endsWith('.jpg')));

	// Scrolling back shows the fetched thumbnails without another request.
	const before = requested.length;
	const scroller = grid(page).locator('[role=rowgroup]').last();
	await scroller.evaluate((element) => element.scrollTo({ top: 0 }));
	await thumbnailOf(page, '0000.jpg').waitFor();
	t.true(requested.length <= before + near + columns);
	const again = requested.length;
	await scroller.evaluate((element) => element.scrollTo({ top: element.scrollHeight / 2 }));
	await thumbnailOf(page, middle).waitFor();
	t.false(requested.slice(again).includes(middle));
	t.deepEqual(app.faults, []);
});

test.serial(
	'a file without a thumbnail keeps its icon, and a thumbnail refused with 503 is requested again',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(`${app.home}/Photos`, {
			'busy.jpg': 'b',
			'fails.jpg': 'f',
			'junk.jpg': 'j',
			'missing.pdf': 'm',
			'unsupported.mp4': 'u',
		});
		const body = await picture('webp', '256x171', 'orange');
		const requested = await answerThumbnails(app.context, (route, name) => {
			const times = requested.filter((each) => each === name).length;
			if (name === 'missing.pdf') return route.fulfill({ status: 404, body: '{}' });
			if (name === 'unsupported.mp4') return route.fulfill({ status: 415, body: '{}' });
			if (name === 'fails.jpg') return route.fulfill({ status: 500, body: '{}' });
			if (name === 'junk.jpg') return route.fulfill({ contentType: 'image/webp', body: 'no picture' });
			if (times < 3) return route.fulfill({ status: 503, headers: { 'retry-after': '1' }, body: '{}' });
			return route.fulfill({ contentType: 'image/webp', body });
		});
		const page = await app.open('/browser?type=private');
		await toGrid(page);
		await nameIn(page, 'Photos').click();
		await thumbnailOf(page, 'busy.jpg').waitFor();
		await until(() => requested.length === 7);
		t.is(requested.filter((name) => name === 'busy.jpg').length, 3);
		for (const name of ['fails.jpg', 'junk.jpg', 'missing.pdf', 'unsupported.mp4']) {
			await absent(t, thumbnailOf(page, name), name);
			await rowOf(page, name).locator('[data-hue] svg').waitFor();
		}
		const before = requested.length;
		await view(page, 'List').click();
		await toGrid(page);
		await thumbnailOf(page, 'busy.jpg').waitFor();
		await until(() => requested.length > before);
		t.deepEqual(requested.slice(before), ['fails.jpg'], 'missing and fetched thumbnails are not requested again');
		t.deepEqual(app.faults, []);
	},
);

test.serial('no thumbnail is requested from a server without them', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(`${app.home}/Photos`, { 'a.jpg': 'a' });
	const requested = await answerThumbnails(app.context, (route) => route.fulfill({ status: 404, body: '{}' }));
	const offered = await (await fetch(`${app.url.replace('nas', '127.0.0.1')}/api/capabilities`)).json();
	await app.context.route('**/api/capabilities', (route) => route.fulfill({ json: { ...offered, thumbnails: false } }));
	const page = await app.open('/browser/Photos?type=private');
	await toGrid(page);
	await rowOf(page, 'a.jpg').locator('[data-hue] svg').waitFor();
	await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
	t.deepEqual(requested, []);
	t.deepEqual(app.faults, []);
});

test.serial('a changed file gets a new thumbnail in the grid', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(`${app.home}/Photos`, { 'a.jpg': 'first' });
	const body = await picture('webp', '256x171', 'orange');
	const requested = await answerThumbnails(app.context, (route) => route.fulfill({ contentType: 'image/webp', body }));
	const page = await app.open('/browser?type=private');
	await toGrid(page);
	await nameIn(page, 'Photos').click();
	await thumbnailOf(page, 'a.jpg').waitFor();
	// Each is moved there complete: the page would request a thumbnail of an empty file, too.
	await writeFiles(app.files, { 'a.jpg': 'the second one', 'b.jpg': 'b' });
	for (const name of ['a.jpg', 'b.jpg']) await rename(`${app.files}/${name}`, `${app.home}/Photos/${name}`);
	await thumbnailOf(page, 'b.jpg').waitFor();
	await until(() => requested.length === 3);
	t.deepEqual(requested.sort(), ['a.jpg', 'a.jpg', 'b.jpg']);
	t.deepEqual(app.faults, []);
});

/** A page that shows the first of the photos. */
async function openPhotos(app: FileManager, isFirst: boolean): Promise<Page> {
	const page = await app.open('/browser?type=private');
	if (isFirst) await toGrid(page);
	await nameIn(page, 'Photos').click();
	await thumbnailOf(page, '0000.jpg').waitFor();
	return page;
}

async function enterWithPhotos(t: ExecutionContext): Promise<FileManager> {
	const app = await fixture.enter(t);
	await writeFiles(`${app.home}/Photos`, photos);
	const body = await picture('webp', '256x171', 'orange');
	await answerThumbnails(app.context, (route) => route.fulfill({ contentType: 'image/webp', body }).catch(() => {}));
	return app;
}

test.serial('while a thousand photos scroll by, only tiles near the screen are rendered', async (t) => {
	const app = await enterWithPhotos(t);
	const page = await openPhotos(app, true);
	t.true((await scrollBy(page)) < 80);
	t.deepEqual(app.faults, []);
});

const smoothly = async (t: ExecutionContext) => {
	const app = await enterWithPhotos(t);
	let longest = Number.POSITIVE_INFINITY;
	// A machine that is short of processor time may count that as the task's; a long task of the page itself occurs each time.
	for (let times = 0; times < 3 && longest > 50 * (await slowness()); times++) {
		const page = await openPhotos(app, times === 0);
		const browser = await launchBrowser();
		await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
		await scrollBy(page);
		longest = longestTask(JSON.parse((await browser.stopTracing()).toString()));
		t.log(`The longest task took ${Math.round(longest)} ms of the processor's time.`);
		await page.close();
	}
	t.true(longest > 0 && longest <= 50 * (await slowness()), `${longest} ms`);
};
// A measurement of this machine, too.
if (isLong) {
	test.serial('a thousand photos scroll without a task of more than 50 ms of the processor’s time', smoothly);
}

/** Scrolls all photos by, a third of a screen in each frame; the most tiles that were rendered at once. */
function scrollBy(page: Page): Promise<number> {
	return page.evaluate(async () => {
		const scroller = [...document.querySelectorAll('[role=grid] > [role=rowgroup]')].at(-1) as HTMLElement;
		let most = 0;
		for (let top = 0; top < scroller.scrollHeight - scroller.clientHeight; top += scroller.clientHeight / 3) {
			scroller.scrollTop = top;
			await new Promise((resolve) => requestAnimationFrame(resolve));
			most = Math.max(most, document.querySelectorAll('[role=grid] [data-index]').length);
		}
		return most;
	});
}

test.serial('the focused entry stays on screen when the window or the view changes', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(`${app.home}/Photos`, Object.fromEntries(Object.keys(photos).map((name) => [`${name}.txt`, ''])));
	const page = await app.open('/browser/Photos?type=private');
	await toGrid(page);
	await grid(page).locator('[data-index="0"]').focus();
	await typeQuickly(page, '0700');
	await expectFocus(page, '0700.jpg.txt');
	const isOnScreen = async () => {
		await rowOf(page, '0700.jpg.txt').waitFor();
		await until(async () => {
			const [tile, list] = await Promise.all([rowOf(page, '0700.jpg.txt').boundingBox(), grid(page).boundingBox()]);
			return tile !== null && list !== null && tile.y >= list.y && tile.y + tile.height <= list.y + list.height + 1;
		});
	};
	await isOnScreen();
	await page.setViewportSize({ width: 700, height: 800 });
	await isOnScreen();
	await view(page, 'List').click();
	await isOnScreen();
	await view(page, 'Grid').click();
	await isOnScreen();
	await page.reload();
	await page.locator('[role=grid][data-view=grid][aria-busy=false]').waitFor();
	await isOnScreen();
	t.deepEqual(app.faults, []);
});

const everyState = async (t: ExecutionContext, viewport: typeof desktop) => {
	const app = await fixture.enter(t, { viewport, hasTouch: viewport === phone });
	await writeFiles(app.home, {
		'Photos/a.jpg': 'a',
		'Photos/a film with a name that is far too long for two lines of a tile.mp4': 'b',
		'Photos/letter.docx': 'c',
		'Photos/Inner/mine.jpg': '',
		'Empty/': '',
		'More/b.jpg': 'b',
		'Public/mine.jpg': 'm',
	});
	const body = await picture('webp', '256x171', 'orange');
	await answerThumbnails(app.context, (route) => route.fulfill({ contentType: 'image/webp', body }));
	const page = await app.open('/browser/Photos?type=private');
	await toGrid(page);
	await thumbnailOf(page, 'a.jpg').waitFor();
	await assertAccessible(t, page, 'grid');
	await rowOf(page, 'a.jpg').focus();
	await page.keyboard.press('Control+a');
	await assertAccessible(t, page, 'all selected');
	await page.keyboard.press('Control+x');
	await page.locator('[data-cut]').first().waitFor();
	await assertAccessible(t, page, 'tiles that were cut');
	await page.keyboard.press('Escape');
	await page.getByRole('group', { name: 'Filter by first letter' }).getByText('Q', { exact: true }).click();
	await page.getByText('No results match filter').waitFor();
	await assertAccessible(t, page, 'no name with the letter');
	await page.getByRole('button', { name: 'Show all' }).click();
	await page.getByRole('searchbox', { name: 'Search' }).fill('mine');
	await page.keyboard.press('Enter');
	await rowOf(page, 'mine.jpg').getByText('in Photos/Inner').waitFor();
	await assertAccessible(t, page, 'search results');
	await page.getByRole('button', { name: 'Home' }).click();
	await nameIn(page, 'Empty').click();
	await page.getByText('This folder is empty.').waitFor();
	await assertAccessible(t, page, 'empty folder');
	await page.getByRole('combobox', { name: 'Area' }).selectOption('public');
	await rowOf(page, 'mine.jpg').getByText(app.username).waitFor();
	await assertAccessible(t, page, 'public files');
	await rm(`${app.home}/Empty`, { recursive: true });
	await page.goBack();
	await page.getByText('Error loading files').waitFor();
	await assertAccessible(t, page, 'no such folder');
	await page.getByRole('button', { name: 'Home' }).click();
	await assertAccessibleWhileLoading(t, page, 'grid', () => nameIn(page, 'More').click());
	await rowOf(page, 'b.jpg').waitFor();
	t.deepEqual(app.faults, []);
};

test.serial('axe finds no violation in any state of the grid on a desktop', everyState, desktop);
test.serial('axe finds no violation in any state of the grid on a phone', everyState, phone);

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
	for (const limit = performance.now() + timeoutMs; !(await condition()); await wait(20)) {
		if (performance.now() > limit) throw new Error(`The condition was never met: ${condition}`);
	}
}

test.serial(
	'a file or folder that the server may not read has a lock in list and grid, and opening it says why it is not opened',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(`${app.home}/Locks`, { 'locked.txt': 'x', 'open.txt': 'x', 'closed/inside.txt': 'x' });
		const page = await app.open('/browser');
		// The server of the tests is root's, who may read everything.
		const row = (name: string) => ({ name, path: `Locks/${name}`, type: 'file', size: 1, mtime: 1_700_000_000_000 });
		const entries = [
			{ ...row('closed'), type: 'directory', count: 0, unreadable: true },
			{ ...row('locked.txt'), unreadable: true },
			row('open.txt'),
		];
		await page.route('**/api/browse?**', (route: Route) =>
			route.fulfill({ json: { type: 'private', directory: 'Locks', entries } }),
		);
		await page.goto(new URL('/browser/Locks?type=private', page.url()).href);
		for (const isGrid of [false, true]) {
			if (isGrid) await toGrid(page);
			for (const name of ['locked.txt', 'closed']) {
				await rowOf(page, name).locator('[data-part=lock][title="The server may not read this"]').waitFor();
				await eventuallyMatches(
					t,
					() => rowOf(page, name).getAttribute('aria-label'),
					/, The server may not read this,/,
				);
				await rowOf(page, name).focus();
				await page.keyboard.press('Enter');
				await expectNotice(page, `No permission to read or change: ${name}`);
				t.regex(page.url(), /\/Locks\?/);
			}
			await absent(t, rowOf(page, 'open.txt').locator('[data-part=lock]'));
			await assertAccessible(t, page, isGrid ? 'locks in the grid' : 'locks in the list');
		}
	},
);
