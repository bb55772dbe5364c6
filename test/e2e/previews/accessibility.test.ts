import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { desktop, launchBrowser, phone } from '../support/browser.js';
import { setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { book, paragraph, pdf, word } from '../support/previewFiles.js';
import { closePreview, openPreview, picture, recorded } from '../support/previews.js';

const fixture = withKeptContexts(setUpFixture(test));

const markdown =
	'# Heading\n\nA [link](https://example.org) and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![](x.png)\n';

async function everyKind(): Promise<Record<string, string | Buffer>> {
	return {
		'a.png': await picture('png', '400x300', 'red'),
		'b.png': await picture('png', '400x300', 'blue'),
		'film.mp4': await recorded('mp4', '-f', 'lavfi', '-i', 'testsrc2=s=320x180:d=1', '-pix_fmt', 'yuv420p'),
		'song.mp3': await recorded(
			'mp3',
			'-f',
			'lavfi',
			'-i',
			'sine=d=1',
			'-metadata',
			'title=Tone',
			'-metadata',
			'artist=Ada',
		),
		'plain.txt': 'Some text.\n'.repeat(200),
		'code.ts': 'export const answer: number = 42; // a comment\n'.repeat(50),
		'notes.md': markdown,
		'table.csv': `name,amount\n${'apples,3\n'.repeat(100)}`,
		'paper.pdf': pdf({ pages: 30 }),
		'letter.docx': word({ body: paragraph('Dear reader,') + paragraph('this is a letter.') }),
		'novel.epub': book({
			chapters: { 'one.xhtml': '<h1>One</h1><p>It began.</p>', 'two.xhtml': '<h1>Two</h1><p>It ended.</p>' },
			metadata: '<dc:title>A Novel</dc:title><dc:creator>Ada</dc:creator><dc:language>en</dc:language>',
		}),
		'budget.xlsx': 'PK\x03\x04',
		'broken.jpg': 'no picture',
	};
}

/** Waits for the contents of each viewer. */
const shown: Record<string, (page: Page) => Promise<unknown>> = {
	'a.png': (page) => page.getByRole('img', { name: 'a.png' }).waitFor(),
	'film.mp4': (page) => page.locator('video').waitFor(),
	'song.mp3': (page) => page.getByText('Tone').first().waitFor(),
	'plain.txt': (page) => page.getByText('Some text.').first().waitFor(),
	'code.ts': (page) => page.locator('[class*=hljs]').first().waitFor(),
	'notes.md': (page) => page.getByText('Heading').first().waitFor(),
	'table.csv': (page) => page.getByText('apples').first().waitFor(),
	'paper.pdf': (page) => page.frameLocator('iframe').getByText('Page 1 of the paper').waitFor(),
	'letter.docx': (page) => page.frameLocator('iframe').getByText('this is a letter.').waitFor(),
	'novel.epub': (page) => page.frameLocator('iframe').getByText('It began.').waitFor(),
	'budget.xlsx': (page) => page.getByText('Cannot preview xlsx file').waitFor(),
	'broken.jpg': (page) => page.getByText('Failed to load image').waitFor(),
};

/** Checks the contents of the viewer's frame as a separate page: its policy keeps axe out of the frame itself. */
async function assertFrameAccessible(t: ExecutionContext, page: Page, name: string): Promise<void> {
	const frame = page.frames().find((each) => each.url().includes('/viewer-frame?'));
	if (!frame) return;
	const box = await (await frame.frameElement()).boundingBox();
	// The page around it has a heading and landmarks already.
	const markup = (await frame.content())
		.replace(/<body([^>]*)>/, '<body$1><main><h1 style="background: white; color: black">The panel</h1>')
		.replace('</body>', '</main></body>');
	const context = await (await launchBrowser()).newContext({
		viewport: { width: Math.round(box?.width ?? 400), height: Math.round(box?.height ?? 400) },
	});
	try {
		const copy = await context.newPage();
		await copy.setContent(markup);
		await assertAccessible(t, copy, `inside of the frame of ${name}`);
	} finally {
		await context.close();
	}
}

/** A panel that fills the screen leaves no gap at the edges, and its last bar ends at the edge. */
async function expectFullScreen(t: ExecutionContext, page: Page, name: string): Promise<void> {
	const gaps = await page
		.getByRole('dialog')
		.first()
		.evaluate((panel) => {
			const { left, top, right, bottom } = panel.getBoundingClientRect();
			const last = [...panel.querySelectorAll('*')]
				.map((each) => each.getBoundingClientRect())
				.filter(({ height }) => height > 0);
			return {
				panel: [left, top, window.innerWidth - right, window.innerHeight - bottom],
				covered: [1, 2, 3].every((up) =>
					panel.contains(document.elementFromPoint(window.innerWidth / 2, window.innerHeight - up)),
				),
				inside: Math.max(...last.map((box) => box.bottom)) >= window.innerHeight - 1,
			};
		});
	t.deepEqual(gaps, { panel: [0, 0, 0, 0], covered: true, inside: true }, name);
}

/** The row numbers scroll with the table. */
async function expectScrollByKeys(page: Page): Promise<void> {
	await page.locator('.bp6-table-quadrant-main > .bp6-table-quadrant-scroll-container').press('End');
	await page.getByText('100', { exact: true }).first().waitFor();
}

const everyViewer = async (t: ExecutionContext, viewport: typeof desktop) => {
	const app = await fixture.enter(t, { viewport, hasTouch: viewport === phone });
	await writeFiles(app.home, await everyKind());
	const warnings: string[] = [];
	app.context.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
	const page = await app.open('/browser?type=private');
	for (const [name, waitForContents] of Object.entries(shown)) {
		const viewer = await openPreview(page, name);
		await waitForContents(page);
		await viewer.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
		await assertAccessible(t, page, name);
		if (name === 'table.csv') await expectScrollByKeys(page);
		await assertFrameAccessible(t, page, name);
		if (viewport === phone) await expectFullScreen(t, page, name);
		if (name === 'notes.md') {
			await viewer.getByRole('button', { name: 'Rendered', exact: true }).click();
			await viewer.getByRole('heading', { name: 'Heading' }).waitFor();
			await assertAccessible(t, page, `${name}, rendered`);
		}
		await closePreview(page);
	}
	t.deepEqual(warnings, []);
	t.deepEqual(app.faults, []);
};

test.serial('axe finds no violation in any viewer or its frame on a desktop', everyViewer, desktop);
test.serial(
	'axe finds no violation in any viewer or its frame on a phone, and each viewer fills the screen',
	everyViewer,
	phone,
);
