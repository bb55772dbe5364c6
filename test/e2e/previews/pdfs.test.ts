import test from 'ava';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { absent, eventually, eventuallyMatches } from '../support/expect.js';
import { setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { pdf } from '../support/previewFiles.js';
import { closePreview, expectValue, openPreview, watchRequests } from '../support/previews.js';

const fixture = withKeptContexts(setUpFixture(test));

/** The pages are in the viewers' frame. */
const inside = (viewer: Locator) => viewer.frameLocator('iframe');

test.serial('a PDF shows only pages near the screen, and can be searched, navigated and zoomed', async (t) => {
	const app = await fixture.enter(t);

	await writeFiles(app.home, { 'paper.pdf': pdf({ pages: 200 }) });
	const page = await app.open('/browser?type=private');
	const foreign = watchRequests(page, app.url);
	const viewer = await openPreview(page, 'paper.pdf');
	const text = (number: number) => inside(viewer).getByText(`Page ${number} of the paper`, { exact: true });
	await text(1).waitFor();
	await viewer.getByText('/ 200', { exact: true }).waitFor();
	await eventually(
		t,
		async () => (await inside(viewer).locator('canvas').count()) < 10,
		true,
		'only pages near the screen are drawn',
	);
	await assertAccessible(t, page, 'PDF viewer');

	await text(1).click({ clickCount: 3 });
	await eventuallyMatches(
		t,
		() =>
			inside(viewer)
				.locator('body')
				.evaluate(() => String(getSelection())),
		/Page 1 of the paper/,
	);

	const field = viewer.getByRole('textbox', { name: 'Page' });
	await field.fill('57');
	await field.press('Enter');
	await text(57).waitFor();
	// It keeps the focus, and what is typed when another page is scrolled to meanwhile.
	await field.and(page.locator(':focus')).waitFor();
	await field.fill('99');
	await inside(viewer)
		.locator('.container')
		.evaluate((container) => container.scrollBy(0, 4 * (container.querySelector('.page')?.clientHeight ?? 0)));
	await text(61).waitFor();
	await eventually(t, () => field.inputValue(), '99');
	await field.press('Enter');
	await text(99).waitFor();
	await viewer.getByRole('button', { name: 'Outline' }).click();
	await viewer.getByRole('navigation', { name: 'Outline' }).getByRole('button', { name: 'Part 12' }).click();
	await text(111).waitFor();

	const width = () =>
		inside(viewer)
			.locator('.page')
			.first()
			.evaluate((element) => (element as HTMLElement).offsetWidth);
	const before = await width();
	await viewer.getByRole('button', { name: 'Zoom in' }).click();
	await expectValue(t, async () => (await width()) > before, true);

	const search = viewer.getByRole('searchbox', { name: 'Search' });
	await search.fill('page 163');
	await search.press('Enter');
	await viewer.getByText('1 / 1', { exact: true }).waitFor();
	await text(163).or(inside(viewer).locator('.highlight.selected')).first().waitFor();
	await search.fill('nowhere');
	await search.press('Enter');
	await viewer.getByText('Not found').waitFor();

	t.deepEqual(foreign, []);
	t.deepEqual(app.faults, []);
});

test.serial('a script in a PDF does not run, and a broken PDF shows an error', async (t) => {
	const app = await fixture.enter(t);
	const action =
		"/OpenAction << /S /JavaScript /JS (app.alert\\(1\\); this.submitForm\\('http://127.0.0.1:9/form'\\);) >>";
	// The list of its pages contains itself.
	const endless = pdf({ pages: 3 }).toString('latin1').replace('/Kids [4 0 R]', '/Kids [2 0 R]');
	await writeFiles(app.home, {
		'script.pdf': pdf({ pages: 3, catalogue: action }),
		'broken.pdf': 'no paper',
		'endless.pdf': endless,
	});
	const page = await app.open('/browser?type=private');
	const foreign = watchRequests(page, app.url);
	page.on('dialog', (dialog) => {
		foreign.push(dialog.message());
		void dialog.dismiss();
	});
	const viewer = await openPreview(page, 'script.pdf');
	await inside(viewer).getByText('Page 1 of the paper').waitFor();
	t.deepEqual(foreign, []);
	await closePreview(page);
	const broken = await openPreview(page, 'broken.pdf');
	await broken.getByText('Cannot preview PDF').waitFor();
	await broken.getByText('Failed to load the PDF file.').waitFor();
	await assertAccessible(t, page, 'a broken PDF');
	await closePreview(page);
	const endlessPages = await openPreview(page, 'endless.pdf');
	await endlessPages.getByText('Failed to load the PDF file.').waitFor();
	await closePreview(page);
	await page.route('**/pdfWorker*', (route) => route.fulfill({ status: 404, body: '' }));
	const missing = await openPreview(page, 'script.pdf');
	await missing.getByText('PDF plugin not available').waitFor();
	const link = missing.getByRole('link', { name: 'Open in a new tab' });
	await eventuallyMatches(t, () => link.getAttribute('href'), /script\.pdf\?type=private&inline=1$/);
	t.deepEqual(app.faults, []);
});

test.serial(
	'a PDF that keeps the browser busy is refused in the end, and the page goes on all the while',
	async (t) => {
		const app = await fixture.enter(t);
		const curves = Array.from({ length: 2000 }, (_, index) => `0 0 m 200 ${index} 400 ${index} 612 ${index} c S`);
		await writeFiles(app.home, { 'curves.pdf': pdf({ pages: 1, drawing: `[0.001 0.001] 0 d ${curves.join(' ')}` }) });
		const page = await app.open('/browser?type=private');
		const viewer = await openPreview(page, 'curves.pdf');
		await viewer.getByText('/ 1', { exact: true }).waitFor();
		await closePreview(page);
		await openPreview(page, 'curves.pdf');
		await viewer.getByRole('alert').getByText('Cannot preview PDF').waitFor();
		await closePreview(page);
		t.deepEqual(app.faults, []);
	},
);

/** Its table of objects is to be found again, which reads the rest of the file for each of its trailers. */
const trailers = `%PDF-1.7\n${'trailer\n<</A startxref\n'.repeat(50_000)}`;

/** The workers of the frame, which has an opaque origin. */
const readersOf = (page: Page) => page.workers().filter((worker) => worker.url().startsWith('blob:null/'));

const readers = (page: Page) => readersOf(page).length;

test.serial('a PDF that keeps its reader busy holds up neither Close nor Escape, which end the reader', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'trailers.pdf': trailers });
	const page = await app.open('/browser?type=private');
	for (const close of [() => closePreview(page), () => page.keyboard.press('Escape')]) {
		const viewer = await openPreview(page, 'trailers.pdf');
		await eventually(t, async () => readers(page), 1);
		await close();
		await viewer.waitFor({ state: 'detached' });
		await eventually(t, async () => readers(page), 0);
	}
	t.deepEqual(app.faults, []);
});

test.serial('what reads a PDF is the frame’s: it has no session, and ends without the page', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'paper.pdf': pdf({ pages: 3 }) });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'paper.pdf');
	await inside(viewer).getByText('Page 1 of the paper').waitFor();
	const [reader] = readersOf(page);
	const reached = await reader?.evaluate(async (url) => {
		const status = await fetch(url).then(
			(answer) => answer.status,
			(error: Error) => error.name,
		);
		return [location.origin, status];
	}, `${app.url}/api/sessions`);
	t.deepEqual(reached, ['null', 'TypeError']);
	const frame = page.frames().find((each) => each.url().includes('/viewer-frame?'));
	if (!frame) return t.fail('The page has no frame of a viewer.');
	// Of a page that has lost a frame, Playwright says that it has crashed.
	const session = await page.context().newCDPSession(page);
	const say = async (expression: string) => (await session.send('Runtime.evaluate', { expression })).result.value;
	const crashing = await page.context().newCDPSession(frame);
	// There is no answer from a process that has ended.
	crashing.send('Page.crash').catch(() => {});
	await eventually(
		t,
		() => say("document.querySelector('[role=dialog] [role=alert]')?.textContent.includes('Cannot preview PDF')"),
		true,
	);
	await page.close();
});

test.serial('a PDF that takes too long to open is refused, unless it waits for its bytes', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, {
		'trailers.pdf': trailers,
		'slow.pdf': pdf({ pages: 3 }),
		'paper.pdf': pdf({ pages: 3 }),
	});
	const [busy, slow, silent] = [
		await app.open('/browser?type=private'),
		await app.open('/browser?type=private'),
		await app.open('/browser?type=private'),
	];
	let release = () => {};
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	await slow.route('**/api/download/slow.pdf?*', async (route) => {
		await released;
		await route.continue();
	});
	// It lives and answers nothing, as after an error that has been lost.
	const worker = 'onmessage = ({ ports }) => { if (!ports.length) postMessage({}); }; postMessage({});';
	await silent.route('**/pdfWorker*', (route) => route.fulfill({ contentType: 'text/javascript', body: worker }));
	const asked = slow.waitForRequest('**/api/download/slow.pdf?*');
	const slowViewer = await openPreview(slow, 'slow.pdf');
	await asked;
	const refused = [
		{ page: busy, name: 'trailers.pdf' },
		{ page: silent, name: 'paper.pdf' },
	];
	for (const { page, name } of refused) await openPreview(page, name);
	for (const { page, name } of refused) {
		const viewer = page.getByRole('dialog', { name });
		await viewer.getByRole('alert').getByText('Cannot preview PDF').waitFor();
		await viewer.getByRole('link', { name: 'Download' }).first().waitFor();
		await eventually(t, async () => readers(page), 0);
	}
	await absent(t, slowViewer.getByRole('alert'));
	release();
	await inside(slowViewer).getByText('Page 1 of the paper').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial(
	'a large PDF is fetched by ranges, also over a connection that is lost, and its pages far from the screen are released',
	async (t) => {
		const app = await fixture.enter(t);
		const file = pdf({ pages: 500, weight: 16 * 1024 });
		t.true(file.length > 8_000_000);
		await writeFiles(app.home, { 'large.pdf': file });
		const page = await app.open('/browser?type=private');
		let received = 0;
		page.on('response', (response) => {
			if (!response.url().includes('/api/download/large.pdf')) return;
			if (response.status() === 206) received += Number(response.headers()['content-length']);
		});
		const viewer = await openPreview(page, 'large.pdf');
		await inside(viewer).getByText('Page 1 of the paper').waitFor();
		await inside(viewer).locator('canvas').first().waitFor();
		t.log(
			`${Math.round((100 * received) / file.length)} % of ${file.length} bytes were fetched before the first page.`,
		);
		t.true(received < file.length / 3, `${received} of ${file.length}`);

		let lost = 2;
		await page.route('**/api/download/large.pdf?*', (route) => (lost-- > 0 ? route.abort() : route.continue()));
		const field = viewer.getByRole('textbox', { name: 'Page' });
		let most = 0;
		let megapixels = 0;
		for (let wanted = 25; wanted <= 500; wanted += 25) {
			await field.fill(String(wanted));
			await field.press('Enter');
			await inside(viewer).getByText(`Page ${wanted} of the paper`).waitFor();
			const drawn = await inside(viewer)
				.locator('canvas')
				.evaluateAll((canvases) =>
					canvases.map((canvas) => (canvas as HTMLCanvasElement).width * (canvas as HTMLCanvasElement).height),
				);
			most = Math.max(most, drawn.length);
			megapixels = Math.max(megapixels, drawn.reduce((sum, pixels) => sum + pixels, 0) / 1e6);
		}
		t.log(`At most ${most} pages were drawn at once, ${megapixels.toFixed(1)} megapixels.`);
		t.true(most <= 14, `${most} canvases`);
		await eventually(t, async () => (await inside(viewer).locator('.textLayer').count()) <= 14, true);
		t.true(megapixels <= 10 * 8.4);
		t.deepEqual(app.faults, []);
	},
);
