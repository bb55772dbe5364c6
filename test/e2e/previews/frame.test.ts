import test from 'ava';
import type { Frame, Page } from 'playwright-core';
import { eventually } from '../support/expect.js';
import { setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { book, paragraph, word } from '../support/previewFiles.js';
import { closePreview, openPreview } from '../support/previews.js';

const fixture = withKeptContexts(setUpFixture(test));

function frameOf(page: Page): Frame {
	const frame = page.frames().find((each) => each.url().includes('/viewer-frame?'));
	if (!frame) throw new Error('The page has no frame of a viewer.');
	return frame;
}

test.serial('the Tab key goes on from a document to the first control of its panel', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'letter.docx': word({ body: paragraph('Dear reader,') }) });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'letter.docx');
	await viewer.frameLocator('iframe').getByText('Dear reader,').waitFor();
	await viewer.getByRole('button', { name: 'Zoom in' }).focus();
	await page.keyboard.press('Tab');
	await viewer.getByRole('button', { name: 'Move', exact: true }).and(page.locator(':focus')).waitFor();
	t.deepEqual(app.faults, []);
});

test.serial(
	'a script in the frame of a document is blocked, and the frame reaches neither the page nor the session',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, { 'letter.docx': word({ body: paragraph('Dear reader,') }) });
		const page = await app.open('/browser?type=private');
		const viewer = await openPreview(page, 'letter.docx');
		await viewer.frameLocator('iframe').getByText('Dear reader,').waitFor();
		t.deepEqual(app.faults, []);

		const frame = frameOf(page);
		await frame.evaluate(() => {
			document.body.insertAdjacentHTML('beforeend', '<button onclick="document.title = 1">Run</button>');
			document.querySelector('button')?.click();
			const script = document.createElement('div');
			script.innerHTML = '<img src="data:," onerror="document.title = 1">';
			document.body.append(script);
		});
		await eventually(t, async () => app.faults.filter((fault) => /Content Security Policy/.test(fault)).length, 2);
		t.is(await frame.evaluate(() => document.title), 'letter.docx');
		const reached = await frame.evaluate(async (url) => {
			const attempt = async (read: () => unknown) => {
				try {
					return await read();
				} catch (error) {
					return (error as Error).name;
				}
			};
			return [
				window.origin,
				await attempt(() => parent.document.title),
				await attempt(() => document.cookie),
				await attempt(() => localStorage.length),
				await attempt(async () => (await fetch(url)).status),
			];
		}, `${app.url}/api/sessions`);
		t.deepEqual(reached, ['null', 'SecurityError', 'SecurityError', 'SecurityError', 'TypeError']);
	},
);

test.serial('a frame with another document in it is removed, and Escape closes the panel', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'letter.docx': word({ body: paragraph('Dear reader,') }) });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'letter.docx');
	await viewer.frameLocator('iframe').getByText('Dear reader,').click();
	await frameOf(page).evaluate(() => {
		location.href = 'about:blank';
	});
	await viewer.getByRole('alert').getByText('Failed to render DOCX file.').waitFor();
	await page.keyboard.press('Escape');
	await viewer.waitFor({ state: 'detached' });
	t.deepEqual(app.faults, []);
});

/** What a file does to the browser that takes minutes to lay out, whatever it is. */
const keepBusy = (frame: Frame) => {
	frame
		.evaluate(() => {
			for (;;);
		})
		// It ends with its frame.
		.catch(() => {});
};

test.serial(
	'a file that keeps the browser busy is refused in the end, and the page goes on all the while',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, {
			'book.epub': book({ chapters: { 'c1.xhtml': '<h1>One</h1>', 'c2.xhtml': '<h1>Two</h1>' } }),
			'drawing.svg':
				'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect width="90" height="90"/></svg>',
		});
		const page = await app.open('/browser?type=private');
		const viewer = await openPreview(page, 'book.epub');
		await viewer.frameLocator('iframe').getByText('One').waitFor();
		keepBusy(frameOf(page));
		await viewer.getByRole('button', { name: 'Next' }).click();
		await viewer.getByText('2 / 2', { exact: true }).waitFor();
		await closePreview(page);

		// A chapter that has not been shown is not remembered.
		await openPreview(page, 'book.epub');
		await viewer.frameLocator('iframe').getByText('One').waitFor();
		await viewer.getByRole('button', { name: 'Next' }).click();
		await viewer.frameLocator('iframe').getByText('Two').waitFor();
		keepBusy(frameOf(page));
		await viewer.getByRole('alert').getByText('This chapter cannot be shown').waitFor();
		await viewer.getByRole('button', { name: 'Previous' }).click();
		await viewer.frameLocator('iframe').getByText('One').waitFor();
		await closePreview(page);

		const drawing = await openPreview(page, 'drawing.svg');
		await drawing.frameLocator('iframe').locator('img').waitFor();
		keepBusy(frameOf(page));
		await drawing.getByRole('button', { name: 'Zoom in' }).click();
		await drawing.getByText('125%').waitFor();
		await drawing.getByRole('alert').getByText('Failed to load image').waitFor();
		t.deepEqual(app.faults, []);
	},
);
