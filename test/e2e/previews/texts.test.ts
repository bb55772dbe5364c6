import test from 'ava';
import { assertAccessible } from '../support/axe.js';
import { absent, eventually, gone } from '../support/expect.js';
import { setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { closePreview, measureMainThread, openPreview, watchRequests } from '../support/previews.js';

const fixture = withKeptContexts(setUpFixture(test));

test.serial('a text is shown in its detected encoding, and another one can be chosen', async (t) => {
	const app = await fixture.enter(t);
	const japanese = Buffer.from('93fa967b8cea82cc83658358836782c582b781420a'.repeat(20), 'hex');
	await writeFiles(app.home, {
		'utf8.txt': 'Grüße – 日本 🎉',
		'latin.txt': Buffer.from('Grüße aus München, übermäßig schöne.\n'.repeat(20), 'latin1'),
		'sjis.txt': japanese,
		'page.html': '<script>document.title = "it ran"</script><b>bold</b>',
		'empty.txt': '',
	});
	const page = await app.open('/browser?type=private');
	const utf8 = await openPreview(page, 'utf8.txt');
	await utf8.getByText('Grüße – 日本 🎉').waitFor();
	t.regex(await utf8.locator('pre').evaluate((pre) => getComputedStyle(pre).fontFamily), /mono/i);
	await assertAccessible(t, page, 'text viewer');
	await page.keyboard.press('Control+a');
	t.is(await page.evaluate(() => String(getSelection()).trim()), 'Grüße – 日本 🎉', 'the text, and nothing behind it');
	await closePreview(page);

	const latin = await openPreview(page, 'latin.txt');
	await latin.getByText('Grüße aus München').waitFor();
	await closePreview(page);

	const sjis = await openPreview(page, 'sjis.txt');
	await sjis.getByRole('combobox', { name: 'Encoding' }).selectOption('windows-1251');
	await sjis.getByText('日本語のテスト').waitFor({ state: 'detached' });
	await sjis.getByRole('combobox', { name: 'Encoding' }).selectOption('Shift_JIS');
	await sjis.getByText('日本語のテスト').waitFor();
	await closePreview(page);

	const html = await openPreview(page, 'page.html');
	await html.getByText('<b>bold</b>').waitFor();
	await html.locator('.hljs-tag').first().waitFor();
	await absent(t, html.locator('b'));
	t.not(await page.title(), 'it ran');
	await closePreview(page);
	await openPreview(page, 'empty.txt');
	await page.getByText('This file is empty.').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('tables and quotes of a Markdown text that few bytes make wide or many do not stop the page', async (t) => {
	const app = await fixture.enter(t);
	const rows = (cell: string, across: number, down: number) =>
		`<table><tr>${cell.repeat(across)}</tr>${`<tr>${cell}</tr>`.repeat(down)}</table>`;
	await writeFiles(app.home, {
		'quotes.md': `# Words\n\n${'<q>a</q>'.repeat(9900)}`,
		'sparse.md': `# Words\n\n${rows('<td>', 4000, 5000)}`,
		'spans.md': `# Words\n\n${rows('<td colspan=100>', 4000, 3)}`,
		'table.md': '# Words\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n',
	});
	const page = await app.open('/browser?type=private');
	const work = await measureMainThread(page);
	for (const name of ['quotes.md', 'sparse.md', 'spans.md']) {
		const viewer = await openPreview(page, name);
		await viewer.getByRole('button', { name: 'Rendered' }).click();
		await viewer.locator('h1').getByText('Words').waitFor();
		await closePreview(page);
	}
	const workMs = await work();
	t.log(`${workMs} ms`);
	t.true(workMs < 4000, `${workMs} ms`);

	const viewer = await openPreview(page, 'table.md');
	await viewer.getByRole('button', { name: 'Rendered' }).click();
	const borders = (cell: string) =>
		viewer.getByRole('cell', { name: cell, exact: true }).evaluate((element) => getComputedStyle(element).borderWidth);
	t.deepEqual([await borders('1'), await borders('2')], ['0px 1px 1px', '0px 1px 1px 0px']);
	const sides = await viewer
		.getByRole('cell')
		.evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).textAlign));
	// A column is aligned as its text says.
	t.deepEqual(sides, ['start', '-webkit-right']);
	const [a, b] = await viewer
		.getByRole('columnheader')
		.evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).borderWidth));
	t.deepEqual([a, b], ['1px', '1px 1px 1px 0px']);
	t.deepEqual(app.faults, []);
});

test.serial('controls, symbols and lines of Markdown by the hundred thousand do not stop the page', async (t) => {
	const app = await fixture.enter(t);
	const files = {
		'feeds.md': 'a\f'.repeat(300_000),
		'deletions.md': 'a\x7f'.repeat(300_000),
		'symbols.md': '⑀▀'.repeat(160_000),
		'latin.md': 'a\u0181'.repeat(320_000),
		'lines.md': `\`\`\`\n${'a\n'.repeat(450_000)}\`\`\`\n`,
		'tabs.md': `\`\`\`\n${'\ta'.repeat(450_000)}\n\`\`\`\n`,
	};
	await writeFiles(app.home, files);
	const page = await app.open('/browser?type=private');
	const work = await measureMainThread(page);
	for (const name of Object.keys(files)) {
		const viewer = await openPreview(page, name);
		await viewer.getByRole('button', { name: 'Rendered' }).click();
		// It is shown as it is.
		await viewer.locator('article').waitFor({ state: 'detached' });
		await viewer.locator('pre').waitFor();
		await closePreview(page);
	}
	const workMs = await work();
	t.log(`${workMs} ms`);
	t.true(workMs < 8000, `${workMs} ms`);
	t.deepEqual(app.faults, []);
});

test.serial('Markdown is rendered on request, and nothing in it runs or requests other hosts', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, {
		'notes.md': [
			'# Title\n\nSome **bold** words and [a link](https://example.org/).\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n',
			'<script>document.title = "it ran"</script>',
			'<img src="x" onerror="document.title=\'it ran\'">',
			'<img src="http://127.0.0.1:9/canary.png" alt="a remote picture">',
			'![another](http://127.0.0.1:9/canary2.png)',
			'[run](javascript:document.title="it-ran")',
			`[sign out](${app.url}/api/logout) and [our page](${app.url}/browser)`,
			'<svg onload="document.title=\'it ran\'"><script>1</script></svg>',
			'<iframe src="http://127.0.0.1:9/frame"></iframe><object data="http://127.0.0.1:9/o"></object>',
			'<style>@import "http://127.0.0.1:9/css"; body { display: none }</style>',
			'<a href="http://127.0.0.1:9/p" ping="http://127.0.0.1:9/ping" style="background:url(http://127.0.0.1:9/bg)">ping</a>',
			'<form action="http://127.0.0.1:9/f"><input name="getElementById" autofocus><button>Send</button></form>',
			'<video src="http://127.0.0.1:9/v" poster="http://127.0.0.1:9/p"></video><math><mtext></mtext></math>',
		].join('\n\n'),
	});
	const page = await app.open('/browser?type=private');
	const foreign = watchRequests(page, app.url);
	const viewer = await openPreview(page, 'notes.md');
	await viewer.getByText('# Title').waitFor();
	const view = viewer.getByRole('group', { name: 'View' });
	await view.getByRole('button', { name: 'Rendered' }).click();
	await viewer.getByRole('heading', { name: 'Title' }).waitFor();
	await viewer.getByText('a remote picture').waitFor();
	const link = viewer.getByRole('link', { name: 'a link' });
	await eventually(t, () => link.getAttribute('rel'), 'noopener noreferrer');
	await eventually(t, () => link.getAttribute('target'), '_blank');
	await eventually(t, () => viewer.getByText('run', { exact: true }).getAttribute('href'), null);
	await eventually(t, () => viewer.getByText('sign out', { exact: true }).getAttribute('href'), null);
	await eventually(t, () => viewer.getByText('our page', { exact: true }).getAttribute('href'), `${app.url}/browser`);
	await absent(t, viewer.locator('article :is(img, svg, iframe, object, form, style, script, video, [style], [ping])'));
	await assertAccessible(t, page, 'rendered Markdown');
	t.deepEqual(foreign, []);
	t.not(await page.title(), 'it ran');
	await view.getByRole('button', { name: 'Source' }).click();
	await viewer.getByText('# Title').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('a text that would stop the page by its letters, lines or tags is shown as it is, and whole', async (t) => {
	const app = await fixture.enter(t);
	const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}\n`).join('');
	const reason = 'Rendering it would take a browser too long, so its source is shown.';
	await writeFiles(app.home, {
		'deep.md': `${'>'.repeat(5000)} quoted`,
		'tags.md': `tagged ${'<b>'.repeat(200_000)}`,
		'joined.txt': `joined ${'ﷺعربي'.repeat(50_000)}`,
		'lines.txt': lines,
		'table.csv': 'a,b\n',
	});
	const page = await app.open('/browser?type=private');
	for (const [name, text] of [
		['deep.md', 'quoted'],
		['tags.md', 'tagged'],
	] as const) {
		const viewer = await openPreview(page, name);
		await viewer.getByRole('button', { name: 'Rendered' }).click();
		await viewer.locator('article').waitFor({ state: 'detached' });
		await viewer.locator('pre').getByText(text).waitFor();
		await viewer.getByRole('status').getByText(reason).waitFor();
		await viewer.getByRole('button', { name: 'Source' }).click();
		await gone(t, viewer.getByText(reason));
		await closePreview(page);
	}
	// As if it had taken too long.
	await page.route(/textWorker/, (route) =>
		route.fulfill({ contentType: 'text/javascript', body: 'onmessage = () => postMessage(undefined);' }),
	);
	const table = await openPreview(page, 'table.csv');
	await table.getByRole('status').getByText(reason).waitFor();
	await table.locator('pre').getByText('a,b').waitFor();
	await assertAccessible(t, page, 'a table that is not rendered');
	await page.unroute(/textWorker/);
	await closePreview(page);
	const joined = await openPreview(page, 'joined.txt');
	await joined.locator('pre').getByText('joined').waitFor();
	await closePreview(page);
	const viewer = await openPreview(page, 'lines.txt');
	await viewer.locator('pre').getByText('line 0').waitFor();
	await page.keyboard.press('Control+a');
	t.is(await page.evaluate(() => String(getSelection()).trim()), lines.trim());
	t.deepEqual(app.faults, []);
});

test.serial(
	'what is rendered or detected by code that can’t be loaded is not said to be slow, and can be tried again',
	async (t) => {
		const app = await fixture.enter(t);
		const reason = 'What renders it could not be loaded, so its source is shown.';
		await writeFiles(app.home, {
			'notes.md': '# Words',
			'table.csv': 'Name,Amount\nAda,1\n',
			'latin.txt': Buffer.from('Grüße aus München, übermäßig schöne.\n'.repeat(20), 'latin1'),
		});
		const page = await app.open('/browser?type=private');
		await page.route(/textWorker/, (route) => route.abort());
		for (const [name, source] of [
			['notes.md', '# Words'],
			['table.csv', 'Ada,1'],
		] as const) {
			const viewer = await openPreview(page, name);
			await viewer.getByRole('button', { name: 'Rendered' }).click();
			await viewer.getByRole('status').getByText(reason).waitFor();
			await viewer.locator('pre').getByText(source).waitFor();
			await closePreview(page);
		}
		const latin = await openPreview(page, 'latin.txt');
		await latin.getByRole('alert').getByText('This could not be loaded.').waitFor();
		await page.unroute(/textWorker/);
		await latin.getByRole('button', { name: 'Try Again' }).click();
		await latin.getByText('Grüße aus München').waitFor();
		await closePreview(page);
		const notes = await openPreview(page, 'notes.md');
		await notes.getByRole('button', { name: 'Rendered' }).click();
		await notes.getByRole('heading', { name: 'Words' }).waitFor();
		// The browser logs each file that it could not load.
		t.deepEqual(
			app.faults.filter((fault) => !fault.includes('ERR_FAILED')),
			[],
		);
	},
);

test.serial('comma- and tab-separated values are shown as a table', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, {
		'table.csv': 'Name,"Amount, net"\nAda,"1,5"\n<b>Grace</b>,2\n',
		'table.tsv': 'Name\tAmount\nAda\t1.5\n',
		'cyrillic.csv': Buffer.from('a,b\n\xcf\xf0\xe8\xe2\xe5\xf2,1\n', 'latin1'),
	});
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'table.csv');
	await viewer.getByText('Amount, net', { exact: true }).first().waitFor();
	await viewer.getByText('1,5', { exact: true }).first().waitFor();
	await viewer.getByText('<b>Grace</b>', { exact: true }).first().waitFor();
	const aligned = (value: string) =>
		viewer
			.getByText(value, { exact: true })
			.first()
			.evaluate((cell) => getComputedStyle(cell).textAlign);
	t.deepEqual([await aligned('1,5'), await aligned('Ada')], ['end', 'start']);
	await assertAccessible(t, page, 'table');
	await viewer.getByRole('group', { name: 'View' }).getByRole('button', { name: 'Source' }).click();
	await viewer.getByText('Ada,"1,5"').waitFor();
	await closePreview(page);
	const tabs = await openPreview(page, 'table.tsv');
	await tabs.getByText('1.5', { exact: true }).first().waitFor();
	await closePreview(page);

	// As long in either encoding.
	const cyrillic = await openPreview(page, 'cyrillic.csv');
	for (const [encoding, word] of [
		['windows-1251', 'Привет'],
		['windows-1252', 'Ïðèâåò'],
	] as const) {
		await cyrillic.getByRole('combobox', { name: 'Encoding' }).selectOption(encoding);
		await cyrillic.getByText(word, { exact: true }).first().waitFor();
	}
	t.deepEqual(app.faults, []);
});

test.serial('a table keeps its scroll position and the focus when the window is resized', async (t) => {
	const app = await fixture.enter(t, { viewport: { width: 900, height: 400 } });
	// More than fits, across and down.
	const wide = `,${'wide '.repeat(30)}`.repeat(5);
	const rows = Array.from({ length: 200 }, (_, row) => `item ${row}${wide}`);
	await writeFiles(app.home, { 'table.csv': `Name${',Text'.repeat(5)}\n${rows.join('\n')}` });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'table.csv');
	await viewer.getByText('item 0', { exact: true }).waitFor();
	const scroller = page.locator('.bp6-table-quadrant-main > .bp6-table-quadrant-scroll-container');
	await scroller.focus();
	await scroller.evaluate((element) => element.scrollTo(40, 60 * 28));
	await viewer.getByText('item 60', { exact: true }).waitFor();
	const place = () =>
		scroller.evaluate((element) => [element.scrollLeft, element.scrollTop, element.matches(':focus')]);
	t.deepEqual(await place(), [40, 60 * 28, true]);
	for (const viewport of [
		{ width: 500, height: 300 },
		{ width: 1000, height: 900 },
	]) {
		await page.setViewportSize(viewport);
		// A larger window shows more rows.
		const visibleRows = await scroller.evaluate(async (element, height) => {
			while (window.innerHeight !== height) await new Promise(requestAnimationFrame);
			return Math.floor(element.clientHeight / 28) - 2;
		}, viewport.height);
		await viewer.getByText(`item ${60 + visibleRows}`, { exact: true }).waitFor();
		t.deepEqual(await place(), [40, 60 * 28, true]);
	}
	t.deepEqual(app.faults, []);
});
