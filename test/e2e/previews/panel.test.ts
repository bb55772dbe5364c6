import test, { type ExecutionContext } from 'ava';
import type { Locator } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { basePath, phone } from '../support/browser.js';
import { eventually, eventuallyMatches, gone } from '../support/expect.js';
import {
	menuItems,
	nameIn,
	overlaysClosed,
	rowOf,
	setUpFixture,
	withKeptContexts,
	writeFiles,
} from '../support/fileManager.js';
import { expectNotice } from '../support/notices.js';
import { book, pdf } from '../support/previewFiles.js';
import { closePreview, expectValue, openPreview, picture } from '../support/previews.js';

const fixture = withKeptContexts(setUpFixture(test));

const boxOf = async (locator: Locator) => {
	const box = await locator.boundingBox();
	if (!box) throw new Error('It is not on screen.');
	return box;
};

const expectOnScreen = async (
	t: ExecutionContext,
	locator: Locator,
	{ width, height }: { width: number; height: number },
) => {
	const box = await boxOf(locator);
	t.true(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, JSON.stringify(box));
	return box;
};

test.serial(
	'a preview panel has the width of its kind, can be moved on the screen only, and restores the focus',
	async (t) => {
		const app = await fixture.enter(t);
		const size = { width: 1280, height: 800 };
		await writeFiles(app.home, { 'a.txt': 'some text', 'b.png': await picture('png', '40x30', 'red'), 'c.zip': 'PK' });
		const page = await app.open('/browser?type=private');
		const viewer = await openPreview(page, 'b.png');
		await viewer.getByRole('img', { name: 'b.png' }).waitFor();
		const box = await expectOnScreen(t, viewer, size);
		t.is(Math.round(box.width), 960);
		t.is(Math.round(box.height), 640);
		await assertAccessible(t, page, 'image viewer');
		await eventually(t, () => viewer.getAttribute('aria-modal'), 'true');
		t.true(await viewer.evaluate((dialog) => dialog.contains(document.activeElement)));
		const link = viewer.getByRole('link', { name: 'Download' });
		await eventuallyMatches(t, () => link.getAttribute('href'), /\/api\/download\/b\.png\?type=private$/);

		const placeOf = async () => {
			const { x, y } = await boxOf(viewer);
			return [Math.round(x), Math.round(y)];
		};
		const handle = viewer.getByRole('button', { name: 'Move', exact: true });
		await handle.focus();
		await page.keyboard.press('ArrowRight');
		await page.keyboard.press('ArrowDown');
		await expectValue(t, placeOf, [Math.round(box.x) + 16, Math.round(box.y) + 16]);
		await expectOnScreen(t, viewer, size);
		for (let count = 0; count < 30; count++) await page.keyboard.press('Shift+ArrowLeft');
		for (let count = 0; count < 30; count++) await page.keyboard.press('Shift+ArrowUp');
		await expectValue(t, placeOf, [0, 0]);
		await expectOnScreen(t, viewer, size);

		const grip = await boxOf(handle);
		await page.mouse.move(grip.x + 5, grip.y + 5);
		await page.mouse.down();
		await page.mouse.move(grip.x + 105, grip.y + 55, { steps: 4 });
		await expectValue(t, placeOf, [100, 50]);
		await expectOnScreen(t, viewer, size);
		await page.mouse.move(5000, 5000);
		await page.mouse.up();
		await expectValue(t, placeOf, [320, 160]);
		const far = await expectOnScreen(t, viewer, size);
		const fingers = await page.context().newCDPSession(page);
		const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', points: { x: number; y: number }[]) =>
			fingers.send('Input.dispatchTouchEvent', { type, touchPoints: points.map((point) => ({ ...point, id: 1 })) });
		const at = { x: far.x + 300, y: far.y + 20 };
		await touch('touchStart', [at]);
		await touch('touchMove', [{ x: at.x - 40, y: at.y - 30 }]);
		await touch('touchMove', [{ x: at.x - 80, y: at.y - 60 }]);
		await touch('touchEnd', []);
		await expectValue(t, placeOf, [240, 100], 'also by touch');
		await expectOnScreen(t, viewer, size);
		await page.setViewportSize({ width: 1000, height: 700 });
		await page.waitForFunction(
			() => (document.querySelector('[role=dialog]')?.getBoundingClientRect().right ?? 9999) <= 1000,
		);
		await expectOnScreen(t, viewer, { width: 1000, height: 700 });
		await page.setViewportSize(size);

		await page.keyboard.press('Escape');
		await overlaysClosed(page);
		await rowOf(page, 'b.png').and(page.locator(':focus')).waitFor();
		const text = await openPreview(page, 'a.txt');
		t.is(Math.round((await boxOf(text)).width), 720);
		await closePreview(page);
		await rowOf(page, 'a.txt').and(page.locator(':focus')).waitFor();
		t.deepEqual(app.faults, []);
	},
);

test.serial('the arrow keys of a picture are the page’s again once its panel is closed', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, {
		'a.png': await picture('png', '40x30', 'red'),
		'b.png': await picture('png', '40x30', 'blue'),
		'c.png': await picture('png', '40x30', 'green'),
	});
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'b.png');
	await viewer.getByRole('img', { name: 'b.png' }).waitFor();
	await closePreview(page);
	for (const key of ['ArrowRight', 'ArrowLeft']) {
		await rowOf(page, 'b.png').focus();
		await page.keyboard.press(key);
		await page.keyboard.press('F2');
		// Above an open viewer it would not come.
		await page.getByRole('dialog', { name: 'Rename' }).waitFor();
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
	}
	t.deepEqual(app.faults, []);
});

test.serial('a preview panel fills a screen below 600 px, and a tap closes it', async (t) => {
	const app = await fixture.enter(t, { viewport: phone, hasTouch: true });
	await writeFiles(app.home, { 'b.png': await picture('png', '40x30', 'red') });
	const page = await app.open('/browser?type=private');
	await nameIn(page, 'b.png').tap();
	const viewer = page.getByRole('dialog', { name: 'b.png' });
	await viewer.getByRole('img', { name: 'b.png' }).waitFor();
	const box = await boxOf(viewer);
	t.deepEqual([box.x, box.y, box.width, box.height], [0, 0, phone.width, phone.height]);
	await assertAccessible(t, page, 'image viewer on a phone');
	await viewer.getByRole('button', { name: 'Close' }).tap();
	await overlaysClosed(page);
	t.deepEqual(app.faults, []);
});

test.serial('Preview is offered by kind and size, and its shortcut shows a notice otherwise', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'some text', 'big.txt': 'x'.repeat(1024 * 1024 + 1), 'c.zip': 'PK' });
	const page = await app.open('/browser?type=private');
	for (const [name, isOffered] of [
		['a.txt', true],
		['big.txt', false],
		['c.zip', false],
	] as const) {
		await nameIn(page, name).click({ button: 'right' });
		await eventually(t, async () => (await menuItems(page)).includes('Preview'), isOffered, name);
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
	}
	await page.keyboard.press('Shift+Enter');
	await expectNotice(page, 'File cannot be previewed');
	const [download] = await Promise.all([page.waitForEvent('download'), nameIn(page, 'big.txt').click()]);
	t.is(download.suggestedFilename(), 'big.txt');
	t.deepEqual(app.faults, []);
});

test.serial(
	'with previews turned off a file is downloaded when it is opened, and previewed from the menu',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, { 'a.txt': 'some text' });
		const page = await app.open('/browser?type=private');
		await page.evaluate(
			(base) =>
				fetch(`${base}/api/settings`, {
					method: 'PUT',
					headers: { 'content-type': 'application/json' },
					body: JSON.stringify({ settings: { enablePreview: false } }),
				}),
			basePath,
		);
		await page.reload();
		const [download] = await Promise.all([page.waitForEvent('download'), nameIn(page, 'a.txt').click()]);
		t.is(download.suggestedFilename(), 'a.txt');
		await nameIn(page, 'a.txt').click({ button: 'right' });
		await page.getByRole('menuitem', { name: 'Preview' }).click();
		await page.getByRole('dialog', { name: 'a.txt' }).waitFor();
		t.deepEqual(app.faults, []);
	},
);

test.serial(
	'a file whose contents contradict its name is not previewed, and a failed download shows its status',
	async (t) => {
		const app = await fixture.enter(t, { isVisitor: true });
		await writeFiles(`${app.files}/Public`, {
			'program.txt': '\x7fELF\x02\x01\x01\0\0\0\0',
			'film.mp4': '#EXTM3U\n#EXTINF:4,\nhttp://127.0.0.1:9/elsewhere.ts\n',
			'broken.jpg': 'no picture',
			'gone.png': await picture('png', '4x3', 'red'),
		});
		const page = await app.open('/browser?type=public');
		for (const [name, sentence] of [
			['program.txt', 'Preview not available'],
			['film.mp4', 'Preview not available'],
			['broken.jpg', 'Failed to load image'],
		] as const) {
			const viewer = await openPreview(page, name);
			await viewer.getByRole('alert').getByText(sentence).waitFor();
			await assertAccessible(t, page, sentence);
			await closePreview(page);
		}
		await page.route('**/api/download/gone.png*', (route) => route.fulfill({ status: 404, body: '{}' }));
		const gone = await openPreview(page, 'gone.png');
		await gone.getByText('HTTP 404').waitFor();
		await closePreview(page);
		await page.unroute('**/api/download/gone.png*');
		// Its first bytes were received.
		await page.route('**/api/download/gone.png*', (route) =>
			route.request().headers().range === 'bytes=0-0' || route.request().resourceType() === 'image'
				? route.fulfill({ status: 403, body: '{}' })
				: route.continue(),
		);
		await openPreview(page, 'gone.png');
		await gone.getByText('HTTP 403').waitFor();
		t.deepEqual(app.faults, []);
	},
);

test.serial(
	'a viewer whose code can’t be loaded says so of itself and not of the file, and can be tried again',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, { 'a.png': await picture('png', '40x30', 'red'), 'table.csv': 'Name,Amount\nAda,1\n' });
		const page = await app.open('/browser?type=private');
		const missing = /\/(ImageViewer|TextTable)-[^/]*\.js$/;
		await page.route(missing, (route) => route.abort());
		const viewer = await openPreview(page, 'a.png');
		await viewer.getByRole('alert').getByText('This could not be loaded.').waitFor();
		await gone(t, viewer.getByText('Failed to load image'));
		await assertAccessible(t, page, 'a viewer that could not be loaded');
		await closePreview(page);
		const table = await openPreview(page, 'table.csv');
		const reason = table.getByRole('status').getByText('What renders it could not be loaded, so its source is shown.');
		await reason.waitFor();
		await table.locator('pre').getByText('Ada,1').waitFor();
		await page.unroute(missing);
		await table.getByRole('button', { name: 'Source' }).click();
		await table.getByRole('button', { name: 'Rendered' }).click();
		await gone(t, reason);
		await table.getByText('Ada', { exact: true }).first().waitFor();
		await closePreview(page);

		await page.route(missing, (route) => route.abort());
		await openPreview(page, 'a.png');
		await viewer.getByRole('alert').waitFor();
		await page.unroute(missing);
		await viewer.getByRole('button', { name: 'Try Again' }).click();
		await viewer.getByRole('img', { name: 'a.png' }).waitFor();
		// The browser logs each file that it could not load.
		t.deepEqual(
			app.faults.filter((fault) => !fault.includes('ERR_FAILED')),
			[],
		);
	},
);

test.serial(
	'a control of a viewer that goes with what it does gives its focus to the one that brings it back',
	async (t) => {
		const app = await fixture.enter(t, { viewport: phone });
		await writeFiles(app.home, {
			'a.txt': 'some text',
			'b.epub': book({ chapters: { 'c1.xhtml': 'One', 'c2.xhtml': 'Two' } }),
		});
		const page = await app.open('/browser?type=private');
		const text = await openPreview(page, 'a.txt');
		const edit = text.getByRole('button', { name: 'Edit' });
		await edit.click();
		await text.getByRole('button', { name: 'Done' }).press('Enter');
		await edit.and(page.locator(':focus')).waitFor();
		await closePreview(page);

		const reader = await openPreview(page, 'b.epub');
		const contents = reader.getByRole('button', { name: 'Contents' });
		await contents.press('Enter');
		const list = reader.getByRole('navigation', { name: 'Contents' });
		await list.getByRole('button', { name: 'Chapter 2' }).press('Enter');
		await gone(t, list);
		await contents.and(page.locator(':focus')).waitFor();
		t.deepEqual(app.faults, []);
	},
);

test.serial('Escape that ends a composed word closes neither a viewer nor a dialog', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'paper.pdf': pdf({ pages: 2 }) });
	const page = await app.open('/browser?type=private');
	const cancelWord = async (field: Locator) => {
		await field.dispatchEvent('keydown', { key: 'Escape', isComposing: true, bubbles: true, cancelable: true });
		// Until it would be gone.
		await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
	};
	const viewer = await openPreview(page, 'paper.pdf');
	await viewer.getByText('/ 2', { exact: true }).waitFor();
	const search = viewer.getByRole('searchbox', { name: 'Search' });
	await search.fill('nowhere');
	await cancelWord(search);
	await search.press('Enter');
	await viewer.getByText('Not found').waitFor();
	await search.press('Escape');
	await overlaysClosed(page);

	await rowOf(page, 'paper.pdf').press('F2');
	const rename = page.getByRole('dialog', { name: 'Rename' });
	await cancelWord(rename.getByRole('textbox'));
	await rename.getByRole('textbox').fill('other.pdf');
	await rename.getByRole('textbox').press('Escape');
	await overlaysClosed(page);
	t.deepEqual(app.faults, []);
});

test.serial('a preview that was closed fetches no file of the same path in another area', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'private', 'Public/a.txt': 'public', 'Public/b.txt': 'other' });
	const page = await app.open('/browser?type=private');
	await openPreview(page, 'a.txt');
	await closePreview(page);
	const fetched: string[] = [];
	page.on('request', (request) => {
		const { pathname } = new URL(request.url());
		if (pathname.includes('/api/download/')) fetched.push(pathname.slice(pathname.lastIndexOf('/') + 1));
	});
	await page.getByRole('combobox', { name: 'Area' }).selectOption('public');
	await rowOf(page, 'b.txt').waitFor();
	const viewer = await openPreview(page, 'b.txt');
	await viewer.getByText('other').waitFor();
	t.deepEqual([...new Set(fetched)], ['b.txt']);
	t.deepEqual(app.faults, []);
});
