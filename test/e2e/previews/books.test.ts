import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import test from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { phone } from '../support/browser.js';
import { absent, eventually, eventuallyMatches, gone } from '../support/expect.js';
import { overlaysClosed, setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { Bomb, book, paragraph, word, zipped } from '../support/previewFiles.js';
import { closePreview, expectValue, openPreview, picture, watchRequests } from '../support/previews.js';

const fixture = withKeptContexts(setUpFixture(test));

const inside = (page: Page) => page.frameLocator('iframe');

const metadata =
	'<dc:title>The Long Afternoon</dc:title><dc:creator>A. Writer</dc:creator><dc:description>&lt;p&gt;A &lt;b&gt;quiet&lt;/b&gt; novel.&lt;/p&gt;</dc:description><dc:publisher>Small Press</dc:publisher><dc:language>en-GB</dc:language>';

const chapters = (count: number, more = '') =>
	Object.fromEntries(
		Array.from({ length: count }, (_, index) => [`c${index + 1}.xhtml`, `<h1>Heading ${index + 1}</h1>${more}`]),
	);

test.serial('a book is read chapter by chapter, by buttons, keys and its table of contents', async (t) => {
	const app = await fixture.enter(t);
	const body = '<p><img src="../img/a.png" alt="a picture"/></p><p id="end">Words, <a href="c2.xhtml">two</a>.</p>';
	await writeFiles(app.home, {
		'book.epub': book({
			chapters: chapters(12, body),
			metadata,
			head: ['s', 'other', 's'].map((name) => `<link rel="stylesheet" href="../${name}.css"/>`).join(''),
			files: {
				'OPS/img/a.png': await picture('png', '30x20', 'teal'),
				'OPS/s.css': 'h1 { color: rgb(120, 60, 40) }',
				'OPS/other.css': 'h1 { color: red }',
			},
		}),
	});
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'book.epub');
	const counter = (text: string) => viewer.getByText(text, { exact: true }).waitFor();
	await counter('1 / 12');
	const heading = (number: number) => inside(page).getByRole('heading', { name: `Heading ${number}`, exact: true });
	await heading(1).waitFor();
	t.is(await heading(1).evaluate((element) => getComputedStyle(element).color), 'rgb(120, 60, 40)');
	// Its own two, and each of the book once.
	await eventually(t, () => inside(page).locator('style').count(), 4);
	const width = () =>
		inside(page)
			.getByAltText('a picture')
			.evaluate((image: HTMLImageElement) => image.naturalWidth);
	await eventually(t, width, 30);
	for (const text of ['The Long Afternoon', 'A. Writer', 'A quiet novel.', 'Small Press', 'en-GB']) {
		await viewer.getByText(text, { exact: true }).waitFor();
	}
	await assertAccessible(t, page, 'EPUB reader');

	await viewer.getByRole('button', { name: 'Next' }).click();
	await counter('2 / 12');
	await heading(2).waitFor();
	await page.keyboard.press('ArrowRight');
	await counter('3 / 12');
	await page.keyboard.press('ArrowLeft');
	await counter('2 / 12');
	await viewer.getByRole('button', { name: 'Previous' }).click();
	await counter('1 / 12');
	await heading(1).click();
	await page.keyboard.press('ArrowRight');
	await counter('2 / 12');
	await heading(2).click();
	await page.keyboard.press('Space');
	await counter('3 / 12');
	await viewer.getByRole('navigation', { name: 'Contents' }).getByRole('button', { name: 'Chapter 7' }).click();
	await counter('7 / 12');
	await inside(page).getByRole('link', { name: 'two' }).click();
	await counter('2 / 12');
	const size = () =>
		inside(page)
			.locator('html')
			.evaluate((html) => parseFloat(getComputedStyle(html).fontSize));
	const smaller = await size();
	await viewer.getByRole('button', { name: 'Larger text' }).click();
	t.true((await size()) > smaller);

	for (const [name, before, end] of [
		['Previous', 2, '1 / 12'],
		['Next', 11, '12 / 12'],
	] as const) {
		const button = viewer.getByRole('button', { name, exact: true });
		await viewer.getByRole('button', { name: `Chapter ${before}`, exact: true }).click();
		await counter(`${before} / 12`);
		await button.press('Enter');
		await counter(end);
		await button.and(page.locator('[aria-disabled=true]')).waitFor();
		await page.keyboard.press('Enter');
		await button.and(page.locator(':focus')).waitFor();
		await counter(end);
	}
	await viewer.getByRole('button', { name: 'Chapter 2', exact: true }).click();
	await counter('2 / 12');

	await heading(2).click();
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await openPreview(page, 'book.epub');
	await counter('2 / 12');
	t.deepEqual(app.faults, []);
});

test.serial(
	'a chapter that can not be shown says so, and the others are read, also when the book is opened again',
	async (t) => {
		const app = await fixture.enter(t);
		// 21,000 elements, as an ordinary chapter with ruby may have.
		const many = '<p>w <ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby></p>'.repeat(4200);
		await writeFiles(app.home, {
			'first.epub': book({ chapters: { 'c1.xhtml': many, 'c2.xhtml': '<h1>Two</h1>' } }),
			'long.epub': book({
				chapters: { 'c1.xhtml': '<h1>One</h1>', 'c2.xhtml': many, 'c3.xhtml': '<h1>Three</h1>', 'c4.xhtml': 'x' },
				// Longer than a whole book may be.
				files: { 'OPS/text/c4.xhtml': new Bomb(400) },
			}),
		});
		const page = await app.open('/browser?type=private');
		const heading = (name: string) => inside(page).getByRole('heading', { name }).waitFor();
		for (const time of ['first', 'again']) {
			const viewer = await openPreview(page, 'long.epub');
			const next = viewer.getByRole('button', { name: 'Next' });
			const failed = viewer.getByRole('alert').getByText('This chapter cannot be shown');
			await heading(time === 'first' ? 'One' : 'Three');
			if (time === 'again') await viewer.getByRole('button', { name: 'Previous' }).click();
			else await next.click();
			await failed.waitFor();
			await viewer.getByText('2 / 4', { exact: true }).waitFor();
			await next.click();
			await heading('Three');
			await gone(t, failed);
			await next.click();
			await failed.waitFor();
			await viewer.getByRole('navigation', { name: 'Contents' }).getByRole('button', { name: 'Chapter 1' }).click();
			await heading('One');
			await viewer.getByRole('navigation', { name: 'Contents' }).getByRole('button', { name: 'Chapter 3' }).click();
			await heading('Three');
			await page.keyboard.press('ArrowRight');
			await failed.waitFor();
			await closePreview(page);
		}
		const viewer = await openPreview(page, 'first.epub');
		await viewer.getByRole('alert').getByText('This chapter cannot be shown').waitFor();
		await page.keyboard.press('Space');
		await heading('Two');
		t.deepEqual(app.faults, []);
	},
);

const letters = createRequire(import.meta.url).resolve('pdfjs-dist/standard_fonts/LiberationSans-Bold.ttf');

test.serial('a book is read in its own fonts, unless their glyphs are pictures', async (t) => {
	const app = await fixture.enter(t);
	const font = await readFile(letters);
	const drawn = Buffer.from(font);
	// Browsers take such a table as it is.
	drawn.write('CBDT', font.indexOf('gasp', 0, 'latin1'), 'latin1');
	const face = (name: string) => `@font-face { font-family: ${name}; src: url(../${name}.ttf) }`;
	await writeFiles(app.home, {
		'book.epub': book({
			chapters: { 'c1.xhtml': ['Plain', 'Drawn'].map((name) => `<p style="font-family: ${name}">A</p>`).join('') },
			head: `<style>${face('Plain')} ${face('Drawn')}</style>`,
			files: { 'OPS/Plain.ttf': font, 'OPS/Drawn.ttf': drawn },
		}),
	});
	const page = await app.open('/browser?type=private');
	await openPreview(page, 'book.epub');
	const loaded = () =>
		inside(page)
			.locator('body')
			.evaluate(async () => {
				await document.fonts.ready;
				return [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family);
			});
	await eventually(t, loaded, ['Plain']);
	await closePreview(page);
});

test.serial('an invalid book is refused with a reason, and missing metadata has defaults', async (t) => {
	const app = await fixture.enter(t);
	const container =
		'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>';
	await writeFiles(app.home, {
		'broken.epub': 'no book',
		'empty.epub': book({ chapters: {} }),
		'noopf.epub': zipped({ mimetype: 'application/epub+zip', 'META-INF/container.xml': container }),
		'plain.epub': book({ chapters: chapters(1), metadata: '' }),
		'older.epub': book({ chapters: chapters(4), version: 2 }),
		// 1,000 times its compressed size: 400 MB.
		'bomb.epub': book({ chapters: chapters(1), files: { 'OPS/text/c1.xhtml': new Bomb(400) } }),
	});
	const page = await app.open('/browser?type=private');
	for (const [name, sentence] of [
		['broken.epub', 'Cannot Preview EPUB'],
		['empty.epub', 'No readable chapters found in EPUB'],
		['noopf.epub', 'No OPF file found in EPUB'],
		['bomb.epub', 'Cannot Preview EPUB'],
	] as const) {
		const viewer = await openPreview(page, name);
		await viewer.getByRole('alert').getByText(sentence).waitFor();
		await viewer.getByText('Cannot Preview EPUB').waitFor();
		await closePreview(page);
	}
	const plain = await openPreview(page, 'plain.epub');
	await plain.getByText('Unknown Author').waitFor();
	await plain.getByText('en', { exact: true }).waitFor();
	await closePreview(page);
	// An EPUB 2 has its table of contents in an NCX, here in two parts.
	const older = await openPreview(page, 'older.epub');
	const contents = older.getByRole('navigation', { name: 'Contents' });
	await contents.getByRole('button', { name: 'Part Two' }).waitFor();
	const lines = await contents.getByRole('button').allTextContents();
	t.deepEqual(lines, ['Part One', 'Chapter 1', 'Chapter 2', 'Part Two', 'Chapter 3', 'Chapter 4']);
	await contents.getByRole('button', { name: 'Chapter 3' }).click();
	await older.getByText('3 / 4', { exact: true }).waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('a book with addresses that are none, and pictures that have odd names, is read', async (t) => {
	const app = await fixture.enter(t);
	const sources = ['http://', '//', 'http://[', '%00', 'a.constructor', '__proto__', 'toString'];
	const pictures = sources.map((source) => `<img src="${source}"/><a href="${source}">link</a>`).join('');
	const odd = Object.fromEntries(['a.constructor', '__proto__', 'toString'].map((name) => [`OPS/text/${name}`, 'x']));
	await writeFiles(app.home, {
		'odd.epub': book({ chapters: { 'one.xhtml': `<p>All of it</p>${pictures}` }, files: odd }),
	});
	const page = await app.open('/browser?type=private');
	await openPreview(page, 'odd.epub');
	await inside(page).getByText('All of it').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('a picture that a book has as a font is not drawn, whose pixels nobody has counted', async (t) => {
	const app = await fixture.enter(t);
	const image = await picture('png', '40x30', 'red');
	const address = (type: string) => `data:${type};base64,${image.toString('base64')}`;
	const sources = {
		plain: address('image/png'),
		letters: address('font/woff2'),
		file: 'a.woff2',
		none: 'data:font/ttf,a',
	};
	const pictures = Object.entries(sources).map(([name, source]) => `<img alt="${name}" src="${source}"/>`);
	await writeFiles(app.home, {
		'fonts.epub': book({ chapters: { 'one.xhtml': pictures.join('') }, files: { 'OPS/text/a.woff2': image } }),
	});
	const page = await app.open('/browser?type=private');
	await openPreview(page, 'fonts.epub');
	await eventually(t, () => inside(page).getByAltText('plain').getAttribute('src'), sources.plain);
	for (const name of ['letters', 'file', 'none']) {
		await eventually(t, () => inside(page).getByAltText(name).getAttribute('src'), null, name);
	}
	t.deepEqual(app.faults, []);
});

const script = 'parent.document.title = document.title = "it ran"; fetch("/it-ran")';

test.serial('nothing in a book runs, requests other hosts or leaves its frame', async (t) => {
	const app = await fixture.enter(t);
	const hostile = `
		<script>${script}</script><p onclick='${script}' id="click">Click</p><img src="missing.png" onerror='${script}'/>
		<img src="http://127.0.0.1:9/canary.png" alt="" srcset="http://127.0.0.1:9/canary2.png 2x"/>
		<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload='${script}' width="10" height="10">
			<script>${script}</script><image xlink:href="http://127.0.0.1:9/svg.png"/><use href="http://127.0.0.1:9/use.svg#a"/>
			<rect width="9" height="9" fill="url(http://127.0.0.1:9/fill.svg#a)"/><a xlink:href='javascript:${script}'><text>x</text></a></svg>
		<iframe src="http://127.0.0.1:9/frame" srcdoc="&lt;script&gt;parent.parent.document.title='it ran'&lt;/script&gt;"></iframe>
		<object data="http://127.0.0.1:9/object"></object><embed src="http://127.0.0.1:9/embed"/>
		<video src="http://127.0.0.1:9/video" poster="http://127.0.0.1:9/poster" autoplay=""></video>
		<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/refresh"/><base href="http://127.0.0.1:9/"/>
		<p style="background: url(http://127.0.0.1:9/style.png); list-style: \\75rl(http://127.0.0.1:9/escaped.png)">styled</p>
		<a href='javascript:${script}' id="script">script</a> <a href="data:text/html,x" id="data">data</a>
		<form action="http://127.0.0.1:9/form"><button autofocus="">send</button></form>
		<style>@import url("http://127.0.0.1:9/i.css"); @font-face { font-family: f; src: url(http://127.0.0.1:9/f.woff) } body { font-family: f;
			background: image-set("http://127.0.0.1:9/set.png" 1x); --x: url(http://127.0.0.1:9/x); border-image: \\000075rl(http://127.0.0.1:9/b) }</style>`;
	await writeFiles(app.home, {
		'hostile.epub': book({
			chapters: { 'c1.xhtml': `<h1>Hostile</h1>${hostile}` },
			metadata: `<dc:title>&lt;img src=x onerror="${'document.title=1'}"&gt;</dc:title>`,
			head: '<link rel="stylesheet" href="http://127.0.0.1:9/remote.css"/><link rel="prefetch" href="http://127.0.0.1:9/prefetch"/><link rel="stylesheet" href="../s.css"/>',
			files: { 'OPS/s.css': '@import "http://127.0.0.1:9/j.css"; h1 { background: url(http://127.0.0.1:9/css.png) }' },
		}),
	});
	const page = await app.open('/browser?type=private');
	const foreign = watchRequests(page, app.url);
	page.on('request', (request) => request.url().includes('it-ran') && foreign.push(request.url()));
	await openPreview(page, 'hostile.epub');
	await inside(page).getByRole('heading', { name: 'Hostile' }).waitFor();
	await inside(page).locator('#click').click();
	await inside(page).locator('#script').click();
	await inside(page).locator('#data').click();
	await absent(t, inside(page).locator('script, iframe, object, embed, video, form, base, meta, link'));
	t.is(
		await page
			.frameLocator('iframe')
			.locator('html')
			.innerHTML()
			.then((html) => html.includes('127.0.0.1:9')),
		false,
	);
	t.deepEqual(foreign, []);
	t.notRegex(await page.title(), /it ran|1$/);
	t.deepEqual(app.faults, []);
});

test.serial(
	'a drawing keeps its view box and its prefix in a book with entities of HTML, and a formula its words',
	async (t) => {
		const app = await fixture.enter(t);
		const drawing =
			'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 6000 8000" width="60" height="80"><rect width="6000" height="8000" fill="teal"/></svg>';
		const prefixed =
			'<svg:svg xmlns:svg="http://www.w3.org/2000/svg" id="prefixed"><svg:rect width="9" height="9"/></svg:svg>';
		const formula =
			'<math xmlns="http://www.w3.org/1998/Math/MathML" alttext="\\sqrt{x}" mathcolor="\\72 ed"><mi>x</mi></math>';
		await writeFiles(app.home, {
			'drawn.epub': book({
				chapters: {
					'c1.xhtml': `<p>a&nbsp;b</p>${prefixed}${drawing}<p><img src="../img/a.png" alt="\\frac{a}{b}"/>${formula}</p>`,
				},
				files: { 'OPS/img/a.png': await picture('png', '30x20', 'teal') },
				metadata: '<dc:title>Caf&eacute;</dc:title>',
				version: 2,
			}),
		});
		const page = await app.open('/browser?type=private');
		const viewer = await openPreview(page, 'drawn.epub');
		await viewer.getByText('Café', { exact: true }).waitFor();
		const attribute = (selector: string, name: string) => () => inside(page).locator(selector).getAttribute(name);
		await inside(page).locator('svg#prefixed rect').waitFor({ state: 'attached' });
		await eventually(t, attribute('svg[viewBox]', 'viewBox'), '0 0 6000 8000');
		await eventually(t, attribute('img', 'alt'), '\\frac{a}{b}');
		await eventually(t, attribute('math', 'alttext'), '\\sqrt{x}');
		await eventually(t, attribute('math', 'mathcolor'), null, 'a style, which may have an address in other words');
		t.deepEqual(app.faults, []);
	},
);

test.serial('a drawing in a book whose references multiply is empty', async (t) => {
	const app = await fixture.enter(t);
	const lines = Array.from(
		{ length: 24 },
		(_, index) => `<g id="a${index + 1}"><use href="#a${index}"/><use href="#a${index}"/></g>`,
	);
	const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect id="a0" width="9" height="9"/>${lines.join('')}<use href="#a24"/></svg>`;
	await writeFiles(app.home, {
		'drawings.epub': book({
			chapters: {
				'c1.xhtml': `<h1 id="top">Drawings <a id="note" href="#back">1</a></h1>${drawing}<img src="a.svg" alt="a picture"/><p id="back"><a href="#top">back</a> <a href="#note">back</a></p>`,
			},
			files: { 'OPS/text/a.svg': drawing },
		}),
	});
	const page = await app.open('/browser?type=private');
	await openPreview(page, 'drawings.epub');
	await inside(page).getByRole('heading', { name: 'Drawings' }).waitFor();
	await eventually(t, () => inside(page).locator('svg').count(), 1);
	await absent(t, inside(page).locator('svg *'));
	await eventually(t, () => inside(page).getByAltText('a picture').getAttribute('src'), null);
	t.deepEqual(app.faults, []);
});

test.serial('a book whose styles would stop the page is shown without them', async (t) => {
	const app = await fixture.enter(t);
	const within = (open: string, inner: string, close: string, times: number) =>
		open.repeat(times) + inner + close.repeat(times);
	const slow = `${within(':is(', 'x', ' *)', 24)} { color: red }`;
	const body = `<h1>Words</h1>${within('<div>', 'deep', '</div>', 30)}`;
	const put = (name: string, head: string, more: Record<string, string> = {}) =>
		writeFiles(app.home, { [name]: book({ chapters: { 'c1.xhtml': body }, head, files: more }) });
	await put('inline.epub', `<style>${slow}</style>`);
	await put('linked.epub', '<link rel="stylesheet" href="../s.css"/>', { 'OPS/s.css': slow });
	await put('brackets.epub', `<style>${within(':is(', 'a', ')', 20_000)} { color: red }</style>`);
	await put(
		'encoded.epub',
		`<style><![CDATA[</style]]>${within(':is&#40;', 'a', '&#41;', 20_000)} { color: red }</style>`,
	);
	await put('blurred.epub', '<style>div { filter: blur(5px) }</style>');
	const page = await app.open('/browser?type=private');
	for (const name of ['inline.epub', 'linked.epub', 'brackets.epub', 'encoded.epub', 'blurred.epub']) {
		await openPreview(page, name);
		await inside(page).getByRole('heading', { name: 'Words' }).waitFor();
		const deepest = () =>
			inside(page)
				.locator('div')
				.last()
				.evaluate((element) => [
					getComputedStyle(element).filter,
					getComputedStyle(element).color === 'rgb(255, 0, 0)',
				]);
		await eventually(t, async () => (await deepest()).join(), 'none,false');
		await closePreview(page);
	}
	t.deepEqual(app.faults, []);
});

test.serial(
	'a book whose styles write a text or a list without an end for each element is shown without them',
	async (t) => {
		const app = await fixture.enter(t);
		const styled = (css: string) =>
			book({ chapters: { 'c1.xhtml': `<style>${css}</style><h1>Words</h1>${'<p>a</p>'.repeat(1000)}` } });
		const gradients = (count: number) => Array.from({ length: count }, () => 'linear-gradient(red, blue)').join(',');
		await writeFiles(app.home, {
			'long.epub': styled(`h1, p { color: red } p::before { content: "${'abcdefg '.repeat(12_500)}" }`),
			'lists.epub': styled(`h1, p { color: red; background-image: ${gradients(5000)} }`),
			'plain.epub': styled(
				`h1, p { color: red; background-image: ${gradients(3)} } h1::before { content: "Twenty characters: " }`,
			),
		});
		const page = await app.open('/browser?type=private');
		for (const name of ['long.epub', 'lists.epub', 'plain.epub']) {
			await openPreview(page, name);
			const color = () =>
				inside(page)
					.getByRole('heading', { name: 'Words' })
					.evaluate((element) => getComputedStyle(element).color === 'rgb(255, 0, 0)');
			await eventually(t, color, name === 'plain.epub', name);
			await closePreview(page);
		}
		t.deepEqual(app.faults, []);
	},
);

test.serial('no style of a book makes a layer of its own, and an animation is at its end', async (t) => {
	const app = await fixture.enter(t);
	const layer = 'will-change: transform; backdrop-filter: invert(1); -webkit-backdrop-filter: invert(1)';
	const css = `
		h1, h1::before { content: 'a'; opacity: 0.5; ${layer} !important; transform: translate3d(1px, 2px, 3px) !important }
		@media all { @layer x { p { & b { will\\-change: opacity; opacity: 0.5; transform: translateZ(0) translate(1px, 2px) } } } }
		@keyframes k { from { opacity: 0 } to { ${layer}; opacity: 0.5; transform: translate(1px, 2px) } }
		i { animation: k 100s 5s infinite both; animation-timeline: scroll() }
		:root { --f: invert(1); --depth: translateZ(0) }
		u { backdrop-filter: var(--f); opacity: 0.5; transform: translate(1px, 2px) }
		em, s { transition: opacity 100s; opacity: 0.5 }
		em { transform: var(--depth); translate: 1px 2px 3px; rotate: x 3deg; scale: var(--f); transform-style: preserve-3d }`;
	await writeFiles(app.home, {
		'layers.epub': book({
			chapters: {
				'c1.xhtml': `<h1>Words</h1><p><b>a</b><i>b</i><u>c</u><s style="${layer}; transform: translate(1px, 2px) rotateZ(0deg)">d</s><em>e</em></p><marquee id="f" lang="fr">f <b>g</b></marquee><marquee hidden="" onstart="a()">h</marquee>`,
			},
			head: `<link rel="stylesheet" href="../s.css"/>`,
			files: { 'OPS/s.css': css },
		}),
	});
	const page = await app.open('/browser?type=private');
	await openPreview(page, 'layers.epub');
	await inside(page).getByRole('heading', { name: 'Words' }).waitFor();
	await absent(t, inside(page).locator('marquee'));
	await inside(page).locator('#f[lang="fr"]').getByText('f g', { exact: true }).waitFor();
	await inside(page).locator('div[hidden]:not([onstart])', { hasText: /^h$/ }).waitFor({ state: 'hidden' });
	const names = ['h1', 'h1::before', 'b', 'i', 'u', 's'];
	const styles = () =>
		inside(page)
			.locator('body')
			.evaluate(
				(body, all) =>
					all.map((name) => {
						const [element = '', pseudo] = name.split('::');
						const style = getComputedStyle(body.querySelector(element) as Element, pseudo && `::${pseudo}`);
						const { opacity, transform, translate, rotate, scale, willChange } = style;
						return [
							...[name, opacity, transform, translate, rotate, scale, willChange],
							...['backdrop-filter', 'transform-style', 'transition-duration'].map((each) =>
								style.getPropertyValue(each),
							),
						].join(' ');
					}),
				[...names, 'em'],
			);
	const rest = (translate: string) => `${translate} none none auto none flat 0s`;
	await eventually(
		t,
		async () => (await styles()).join('\n'),
		[
			...names.map((name) => `${name} 0.5 matrix(1, 0, 0, 1, 1, 2) ${rest('none')}`),
			`em 0.5 none ${rest('none')}`,
		].join('\n'),
	);
	t.is(
		await inside(page)
			.locator('body')
			.evaluate(() => document.getAnimations().length),
		1,
		'at its end',
	);
	t.deepEqual(app.faults, []);
});

test.serial('a table of contents has its levels and headings, also if some of its lines are broken', async (t) => {
	const app = await fixture.enter(t);
	const page3 = (nav: string) =>
		`<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>${nav}</body></html>`;
	const link = (chapter: number) => `<a href="text/c${chapter}.xhtml"><b>Chapter</b> ${chapter}</a>`;
	const nav = page3(`
		<nav epub:type="landmarks"><ol><li><a href="text/c4.xhtml">Landmark</a></li></ol></nav>
		<nav epub:type="toc"><h1>Contents</h1><ol>
			<li><span>Part One</span><ol><li>${link(1)}<ol><li>${link(2)}</li></ol></li></ol></li>
			<li><span>Nothing</span></li><li/>
			<li><p>${link(3)}</p></li>
		</ol></nav>`);
	const point = (name: string, more: string) => `<navPoint><navLabel><text>${name}</text></navLabel>${more}</navPoint>`;
	const ncx = `<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>${point('Part One', point('Chapter 1', '<content src="text/c1.xhtml"/>'))}${point('Nothing', '')}<navPoint/>${point('Chapter 2', '<content src="text/c2.xhtml"/>')}</navMap></ncx>`;
	const chapterFiles = chapters(4);
	await writeFiles(app.home, {
		'parts.epub': book({ chapters: chapterFiles, files: { 'OPS/nav.xhtml': nav } }),
		'faulty.epub': book({ chapters: chapterFiles, files: { 'OPS/nav.xhtml': nav.replace('Part', 'Part&nbsp;') } }),
		'older.epub': book({ chapters: chapterFiles, version: 2, files: { 'OPS/toc.ncx': ncx } }),
		'both.epub': book({
			chapters: chapterFiles,
			files: {
				'OPS/nav.xhtml': page3('<nav epub:type="toc"><h1>Contents</h1></nav>'),
				'OPS/toc.ncx': ncx,
				'OPS/book.opf': `<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/><item id="c" href="text/c1.xhtml" media-type="application/xhtml+xml"/></manifest><spine toc="ncx"><itemref idref="c"/></spine></package>`,
			},
		}),
	});
	const page = await app.open('/browser?type=private');
	for (const [name, lines, levels] of [
		['parts.epub', ['Part One', 'Chapter 1', 'Chapter 2', 'Chapter 3'], 3],
		['faulty.epub', ['Part\u00A0 One', 'Chapter 1', 'Chapter 2', 'Chapter 3'], 3],
		['older.epub', ['Part One', 'Chapter 1', 'Chapter 2'], 2],
		['both.epub', ['Part One', 'Chapter 1', 'Chapter 2'], 2],
	] as const) {
		const viewer = await openPreview(page, name);
		const contents = viewer.getByRole('navigation', { name: 'Contents' });
		await eventually(t, () => contents.getByRole('button').allTextContents(), [...lines], name);
		await eventually(t, () => contents.locator('ul '.repeat(levels)).count(), 1, name);
		await eventually(t, () => contents.locator('ul '.repeat(levels + 1)).count(), 0, name);
		if (name === 'parts.epub') {
			await contents.getByRole('button', { name: 'Chapter 2' }).click();
			await viewer.getByText('2 / 4', { exact: true }).waitFor();
			await contents.getByRole('button', { name: 'Part One' }).click();
			await viewer.getByText('1 / 4', { exact: true }).waitFor();
		}
		await closePreview(page);
	}
	t.deepEqual(app.faults, []);
});

test.serial('a link to a note beside the reading order shows it, and Next reads on where it was', async (t) => {
	const app = await fixture.enter(t);
	const item = (id: string) => `<item id="${id}" href="text/${id}.xhtml" media-type="application/xhtml+xml"/>`;
	await writeFiles(app.home, {
		'notes.epub': book({
			chapters: {
				'c1.xhtml': '<h1>One</h1>',
				'c2.xhtml': `<h1>Two</h1><p>${'words '.repeat(5000)}</p><p><a href="notes.xhtml#n1">note</a></p>`,
				'notes.xhtml': '<p id="n1">The note</p>',
			},
			files: {
				'OPS/book.opf': `<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>${item('c1')}${item('c2')}${item('notes')}</manifest><spine><itemref idref="c1"/><itemref idref="c2"/><itemref idref="notes" linear="no"/></spine></package>`,
			},
		}),
	});
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'notes.epub');
	await viewer.getByRole('button', { name: 'Next' }).click();
	await viewer.getByText('2 / 2', { exact: true }).waitFor();
	for (const button of ['Next', 'Previous']) {
		await inside(page).getByRole('link', { name: 'note' }).click();
		await inside(page).getByText('The note').waitFor();
		await viewer.getByText('2 / 2', { exact: true }).waitFor();
		await viewer.getByRole('button', { name: button }).click();
		await inside(page).getByRole('heading', { name: 'Two' }).waitFor();
		const isDown = () =>
			inside(page)
				.locator('html')
				.evaluate((html) => html.scrollTop > 500);
		await eventually(t, isDown, true, button);
	}
	t.deepEqual(app.faults, []);
});

test.serial('of a table of contents only the lines on screen are laid out, which are thousands at most', async (t) => {
	const app = await fixture.enter(t);
	const line = `<li><a href="text/c1.xhtml">${'ب\u064eس\u0650'.repeat(130)}</a></li>`;
	const nav = `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="toc"><ol>${line.repeat(5050)}</ol></nav></body></html>`;
	await writeFiles(app.home, { 'lines.epub': book({ chapters: chapters(1), files: { 'OPS/nav.xhtml': nav } }) });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'lines.epub');
	const lines = viewer.getByRole('navigation', { name: 'Contents' }).locator('button');
	await lines.first().waitFor();
	const isLaidOut = (element: Element) => element.checkVisibility({ contentVisibilityAuto: true });
	await eventually(t, () => lines.count(), 5000);
	await eventually(t, async () => (await lines.first().textContent())?.length, 500);
	await eventually(t, () => lines.first().evaluate(isLaidOut), true);
	await eventually(t, () => lines.last().evaluate(isLaidOut), false);
	// By its name the button would be looked for among all lines, which lays them out.
	await page.keyboard.press('Escape');
	await viewer.waitFor({ state: 'detached' });
	t.deepEqual(app.faults, []);
});

test.serial('a book or document that no browser lays out in time is refused, and the page goes on', async (t) => {
	const app = await fixture.enter(t);
	const within = (open: string, close: string, times: number) => `${open.repeat(times)}x${close.repeat(times)}`;
	const chapter = (body: string) => book({ chapters: { 'c1.xhtml': `<h1>Words</h1>${body}` } });
	const collapsing = (rows: string) =>
		`<table id="t" border="1" style="border-collapse: collapse !important">${rows}</table>`;
	const cells = '<w:tc><w:tcPr><w:gridSpan w:val="1000"/></w:tcPr><w:p/></w:tc>'.repeat(60);
	await writeFiles(app.home, {
		'deep.epub': chapter(within('<div>', '</div>', 4900)),
		'formats.epub': chapter(`<br>${'<b>'.repeat(100_000)}`),
		'joined.epub': chapter(`<p>${'ﷺعر بي '.repeat(50_000)}</p>`),
		'lines.epub': chapter(`<pre>${'a\n'.repeat(450_000)}</pre>`),
		'joiners.epub': chapter(`<p>${'a\u2060'.repeat(300_000)}</p>`),
		'deep.docx': word({ body: within('<w:sdt><w:sdtContent>', '</w:sdtContent></w:sdt>', 2400) }),
		'joiners.docx': word({ body: paragraph('a\u2060'.repeat(300_000)) }),
		'columns.epub': chapter(within('<div style="columns: 2">', '</div>', 60)),
		'grid.epub': chapter('<p style="display: grid; grid-template-columns: repeat(9999999, [a] 1px)">x</p>'),
		'property.epub': chapter(
			'<style>@media all { @property --t { syntax: "*"; inherits: false; initial-value: repeat(9999999, [a] 1px) } } p { display: grid; grid: var(--t) / 1px }</style><p>x</p>',
		),
		'tracks.epub': chapter('<p style="--t: r\\65peat(9999999, [a] 1px); display: grid; grid: var(--t) / 1px">x</p>'),
		'faulty.epub': chapter('<p>a&nbsp;b<p><svg><text>c</text></svg>'),
		'spans.docx': word({ body: `${paragraph('Words')}<w:tbl>${`<w:tr>${cells}</w:tr>`.repeat(200)}</w:tbl>` }),
		// Borders that collapse in places where no cell is: 2 kB, 4 GB.
		'down.epub': chapter(collapsing('<tr><td rowspan="9999">x</td></tr>'.repeat(4000))),
		'sparse.epub': chapter(collapsing(`<tr>${'<td>x</td>'.repeat(9000)}</tr>${'<tr><td>x</td></tr>'.repeat(4900)}`)),
		'reached.epub': chapter(
			collapsing(`<tbody><tr>${'<td rowspan="6000"/>'.repeat(900)}</tr>${'<tr/>'.repeat(6000)}</tbody>`),
		),
		'long.epub': chapter(
			collapsing(`<tbody><tr><td colspan="2">x</td></tr>${'<tr><td>x</td><td>y</td></tr>'.repeat(400)}</tbody>`),
		),
		'shape.epub': chapter(
			`<style>div { float: left; width: 5000px; height: 5000px } .x { shape-outside: linear-gradient(red, #0000) }</style>${'<div class="x" style="shape-outside: url(a.png)"/>'.repeat(20)}`,
		),
		'frames.epub': chapter(
			`<style>@keyframes k { ${'0%, 9% { left: 1px } '.repeat(5000)} } p { animation: k 1s }</style>${'<p>x</p>'.repeat(4000)}`,
		),
		'section.epub': chapter(`<p><![CDATA[${'日1'.repeat(100_000)}]]></p>`),
		'plain.epub': chapter(collapsing('<tr><td rowspan="2">x</td><td>y</td></tr><tr><td>z</td></tr>')),
	});
	const page = await app.open('/browser?type=private');
	for (const name of [
		'deep.epub',
		'formats.epub',
		'joined.epub',
		'lines.epub',
		'joiners.epub',
		'deep.docx',
		'joiners.docx',
		'section.epub',
	]) {
		const viewer = await openPreview(page, name);
		await viewer.getByRole('alert').waitFor();
		await closePreview(page);
	}
	const collapses = async () =>
		inside(page)
			.locator('#t')
			.evaluate((table) => getComputedStyle(table).borderCollapse);
	const computedOf = (selector: string, property: 'shapeOutside' | 'animationName') =>
		inside(page)
			.locator(selector)
			.first()
			.evaluate((element, read) => getComputedStyle(element)[read], property);
	for (const name of [
		'columns.epub',
		'grid.epub',
		'property.epub',
		'tracks.epub',
		'faulty.epub',
		'spans.docx',
		'down.epub',
		'sparse.epub',
		'reached.epub',
		'long.epub',
		'shape.epub',
		'frames.epub',
		'plain.epub',
	]) {
		await openPreview(page, name);
		await inside(page).getByText('Words').waitFor();
		if (name === 'sparse.epub') t.is(await collapses(), 'separate');
		const cell = inside(page).locator('#t td').first();
		if (name === 'reached.epub') await eventually(t, () => cell.getAttribute('rowspan'), null);
		if (name === 'long.epub') await eventually(t, () => cell.getAttribute('colspan'), '2');
		if (name === 'shape.epub') await eventually(t, () => computedOf('.x', 'shapeOutside'), 'none');
		if (name === 'frames.epub') await eventually(t, () => computedOf('p', 'animationName'), 'none');
		if (name === 'plain.epub') t.is(await collapses(), 'collapse', 'as any other table');
		await closePreview(page);
	}
	t.deepEqual(app.faults, []);
});

test.serial(
	'a paragraph of a book ends only at elements that are laid out apart, whatever its styles say',
	async (t) => {
		const app = await fixture.enter(t);
		const chapter = (body: string) => book({ chapters: { 'c1.xhtml': `<h1>Words</h1>${body}` } });
		const controls = 'a\x7f'.repeat(1000);
		const parted = (tag: string, styles = '', times = 60) =>
			chapter(`<style>${styles}</style><p>${(controls + tag).repeat(times)}</p>`);
		const drawing = (tag: string) =>
			chapter(`<svg xmlns="http://www.w3.org/2000/svg"><text>${(controls + tag).repeat(60)}</text></svg>`);
		const refused = {
			'unknown.epub': parted('<x></x>'),
			'named.epub': parted('<p xmlns="urn:x"/>'),
			'hidden.epub': parted('<div>a</div>', '@media all { div { display: none } }'),
			'unseen.epub': parted('<div hidden=""><p/></div>'),
			'styled.epub': parted('<div style="display:none!important"/>'),
			'floating.epub': parted('<div>a</div>', 'div { float: left }'),
			'variable.epub': parted('<div>a</div>', 'p { --f: left } div { float: var(--f) }'),
			'placed.epub': parted('<div style="position:absolute"/>'),
			'block.epub': parted('<div/>', 'div { display: inline-block }'),
			'aside.epub': parted('<table align="left"/>'),
			'popover.epub': parted('<div popover=""/>'),
			'cells.epub': chapter(`<p><b>${`${controls}<td/>`.repeat(60)}</b></p>`),
			'replaced.epub': chapter(`<p><img alt="${controls.repeat(60)}"/></p>`),
			'drawn.epub': drawing('<text/>'),
			'svg.epub': parted('<svg xmlns="http://www.w3.org/2000/svg"><text/></svg>'),
			'button.epub': parted('<button><div/><br/></button>'),
			'image.epub': parted('<img><p/></img>'),
			'box.epub': parted('<i><p/></i>', 'i { display: -webkit-inline-box }'),
		};
		const shown = {
			'taken.epub': parted('<div/>', 'div { all: unset }'),
			'poem.epub': chapter(
				`<style>.x { display: none }</style>${`<p>${'عربي '.repeat(1000)}<br/>${'a\x7f'.repeat(500)}</p><div class="x"/>`.repeat(20)}`,
			),
			'initials.epub': chapter(
				`<style>.x { float: left } p { position: relative; float: none }</style>${`<p><span class="x">ع</span>${'عربي '.repeat(1000)}</p>`.repeat(20)}<table>${`<tr><td>${'عربي '.repeat(1000)}</td></tr>`.repeat(20)}</table>`,
			),
			'relative.epub': parted('<div/>', 'div { position: relative; float: none }'),
			'breaks.epub': chapter(`<p>${`${'عربي '.repeat(1000)}<br/>`.repeat(20)}</p>`),
		};
		await writeFiles(app.home, { ...refused, ...shown });
		const page = await app.open('/browser?type=private');
		for (const name of Object.keys(refused)) {
			const viewer = await openPreview(page, name);
			await viewer.getByRole('alert').waitFor();
			await closePreview(page);
		}
		for (const name of Object.keys(shown)) {
			await openPreview(page, name);
			await inside(page).getByText('Words').waitFor();
			if (name === 'taken.epub') {
				const display = () =>
					inside(page)
						.locator('div')
						.first()
						.evaluate((element) => getComputedStyle(element).display);
				await eventually(t, display, 'block');
			}
			await closePreview(page);
		}
		t.deepEqual(app.faults, []);
	},
);

test.serial(
	'a paragraph of a book ends at texts within a drawing, and at breaks of lines that no style hides',
	async (t) => {
		const app = await fixture.enter(t);
		const chapter = (body: string, css = '') =>
			book({ chapters: { 'c1.xhtml': `<style>${css}</style><h1>Words</h1>${body}` } });
		const many = (tag: string) => `${'عربي '.repeat(1000)}${tag}`.repeat(20);
		const drawing = (inner: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inner}</svg>`;
		const picture = 'linear-gradient(red, red)';
		const hides = '.x { display: none } p::first-letter { float: left }';
		const refused = {
			'nowhere.epub': chapter(`<p>${many('<text xmlns="http://www.w3.org/2000/svg"/>')}</p>`),
			'foreign.epub': chapter(drawing(`<foreignObject>${many('<text/>')}</foreignObject>`)),
			'break.epub': chapter(`<p>${many('<br class="x"/>')}</p>`, hides),
			'around.epub': chapter(`<p>${many('<b class="x"><br/></b>')}</p>`, hides),
			'own.epub': chapter(`<p>${many('<b style="float: left"><br/></b>')}</p>`),
			'picture.epub': chapter(`<p>${many('<br/>')}</p>`, `br { content: ${picture} }`),
			'within.epub': chapter(`<p>${many('<b><span/><i><br/></i></b>')}</p>`, `b { content: ${picture} }`),
			'block.epub': chapter(many(`<b style="content: ${picture}"><div/></b>`)),
		};
		const shown = {
			'texts.epub': chapter(drawing(`<g><text>${many('</text><text>')}</text></g>`)),
			'lines.epub': chapter(`<div><i>${many('<br/>')}</i></div><p class="x">a</p>`, hides),
			'content.epub': chapter(`<p>${many('<br/>')}</p>`, 'br { content: "a" }'),
		};
		await writeFiles(app.home, { ...refused, ...shown });
		const page = await app.open('/browser?type=private');
		for (const name of Object.keys(refused)) {
			const viewer = await openPreview(page, name);
			await t.notThrowsAsync(viewer.getByRole('alert').waitFor(), name);
			await closePreview(page);
		}
		for (const name of Object.keys(shown)) {
			await openPreview(page, name);
			await t.notThrowsAsync(inside(page).getByText('Words').waitFor(), name);
			await closePreview(page);
		}
		t.deepEqual(app.faults, []);
	},
);

test.serial('a link of a drawing in a book is opened as any other one, and none calls the server', async (t) => {
	const app = await fixture.enter(t);
	const drawing = (id: string, address: string) =>
		`<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" width="90" height="30"><a ${address}><rect id="${id}" width="90" height="30"/></a></svg>`;
	await writeFiles(app.home, {
		'links.epub': book({
			chapters: {
				'c1.xhtml': `<h1>Links</h1><svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><defs><a id="l" href="http://127.0.0.1:9/used"><rect width="90" height="30"/></a></defs><use id="used" href="#l"/></svg>
					${drawing('foreign', 'x:href="http://127.0.0.1:9/drawing"')}
					${drawing('within', 'x:href="c2.xhtml"')}${drawing('call', `x:href="${app.url}/api/logout"`)}
					<p><a id="text" href="${app.url}/api/logout">sign out</a></p>`,
				'c2.xhtml': '<h1>Second</h1>',
			},
		}),
	});
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'links.epub');
	await inside(page).getByRole('heading', { name: 'Links' }).waitFor();
	const frame = () => page.frames().find((each) => each.url().includes('/viewer-frame?'));
	const opened: string[] = [];
	page.context().on('request', (request) => request.isNavigationRequest() && opened.push(request.url()));
	await inside(page).locator('#call').click();
	await inside(page).locator('#text').click();
	await inside(page).locator('#text').click({ button: 'middle' });
	await inside(page).locator('#used').click();
	const popup = page.context().waitForEvent('page');
	await inside(page).locator('#foreign').click();
	await (await popup).close();
	t.not(frame(), undefined);
	await inside(page).locator('#within').click();
	await viewer.getByText('2 / 2', { exact: true }).waitFor();
	t.deepEqual(
		opened.filter((url) => url.includes('/api/')),
		[],
	);
	await closePreview(page);
	t.is(await page.evaluate(async (url) => (await fetch(url)).status, `${app.url}/api/sessions`), 200);
	t.deepEqual(app.faults, []);
});

const altChunk =
	'<Relationship Id="a1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/aFChunk" Target="chunk.html"/>';
const link = (target: string) =>
	`<Relationship Id="h1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="${target}" TargetMode="External"/>`;
const numbering =
	'<Relationship Id="n1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering" Target="numbering.xml"/>';
/** A bullet as Word writes it: a private code point of a font that only some computers have. */
const bullets =
	'<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="\uf0b7"/><w:rPr><w:rFonts w:ascii="Symbol" w:hAnsi="Symbol" w:hint="default"/></w:rPr></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>';
const bulleted =
	'<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>an item</w:t></w:r></w:p>';
const linked = '<w:p><w:hyperlink r:id="h1"><w:r><w:t>a link</w:t></w:r></w:hyperlink></w:p>';

test.serial('a docx is read in the fonts that it brings', async (t) => {
	const app = await fixture.enter(t);
	const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
	const relation = (id: string, type: string, target: string) =>
		`<Relationship Id="${id}" Type="${types}/${type}" Target="${target}"/>`;
	// The first bytes are hidden by those of a key, from its end (ECMA-376, part 4).
	const font = await readFile(letters);
	const key = Buffer.from('00112233445566778899aabbccddeeff', 'hex').reverse();
	const hidden = font.map((byte, at) => (at < 32 ? byte ^ (key[at % 16] as number) : byte));
	await writeFiles(app.home, {
		'letter.docx': word({
			body: '<w:p><w:r><w:rPr><w:rFonts w:ascii="Brought" w:hAnsi="Brought"/></w:rPr><w:t>In its own letters</w:t></w:r></w:p>',
			relations: relation('t1', 'fontTable', 'fontTable.xml'),
			files: {
				'word/fontTable.xml': `<w:fonts xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${types}"><w:font w:name="Brought"><w:embedRegular r:id="f1" w:fontKey="{00112233-4455-6677-8899-AABBCCDDEEFF}"/></w:font></w:fonts>`,
				'word/_rels/fontTable.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relation('f1', 'font', 'fonts/font1.odttf')}</Relationships>`,
				'word/fonts/font1.odttf': Buffer.from(hidden),
			},
		}),
	});
	const page = await app.open('/browser?type=private');
	await openPreview(page, 'letter.docx');
	const text = inside(page).getByText('In its own letters');
	await text.waitFor();
	const loaded = () => text.evaluate(() => [...document.fonts].map(({ family, status }) => `${family} ${status}`));
	await eventually(t, loaded, ['Brought loaded']);
	t.deepEqual(app.faults, []);
});

test.serial(
	'a docx that has one font or one bullet in thousands of places is read, and takes no gigabytes',
	async (t) => {
		const app = await fixture.enter(t);
		const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
		const spaces = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${types}" xmlns:v="urn:schemas-microsoft-com:vml"`;
		const relation = (id: string, type: string, target: string) =>
			`<Relationship Id="${id}" Type="${types}/${type}" Target="${target}"/>`;
		const relations = (inner: string) =>
			`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${inner}</Relationships>`;
		const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(10_000_000)]);
		const many = (count: number, item: (at: number) => string) =>
			Array.from({ length: count }, (_, at) => item(at)).join('');
		const key = '00000000-0000-0000-0000-000000000000';
		await writeFiles(app.home, {
			'fonts.docx': word({
				body: paragraph('In many fonts'),
				relations: relation('t1', 'fontTable', 'fontTable.xml'),
				files: {
					'word/fontTable.xml': `<w:fonts ${spaces}>${many(500, (at) => `<w:font w:name="f${at}"><w:embedRegular r:id="f" w:fontKey="{${key}}"/></w:font>`)}</w:fonts>`,
					'word/_rels/fontTable.xml.rels': relations(relation('f', 'font', 'fonts/f.odttf')),
					'word/fonts/f.odttf': padded(await readFile(letters)),
				},
			}),
			'bullets.docx': word({
				body: paragraph('With bullets') + bulleted,
				relations: relation('n1', 'numbering', 'numbering.xml'),
				files: {
					'word/numbering.xml': `<w:numbering ${spaces}><w:numPicBullet w:numPicBulletId="0"><w:pict><v:shape style="width:9pt"><v:imagedata r:id="i"/></v:shape></w:pict></w:numPicBullet><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:lvlPicBulletId w:val="0"/></w:lvl></w:abstractNum>${many(500, (at) => `<w:num w:numId="${at}"><w:abstractNumId w:val="1"/></w:num>`)}</w:numbering>`,
					'word/_rels/numbering.xml.rels': relations(relation('i', 'image', 'media/i.png')),
					'word/media/i.png': padded(await picture('png', '8x8', 'red')),
				},
			}),
		});
		const page = await app.open('/browser?type=private');
		await openPreview(page, 'fonts.docx');
		const text = inside(page).getByText('In many fonts');
		await text.waitFor();
		// The others have no address of thirteen million letters.
		const faces = () => text.evaluate(() => document.fonts.size);
		await eventually(t, faces, 1);
		await closePreview(page);
		await openPreview(page, 'bullets.docx');
		await inside(page).getByText('With bullets').waitFor();
		await inside(page).getByText('an item').waitFor();
		t.deepEqual(app.faults, []);
	},
);

test.serial('a docx that is fitted into its frame can be enlarged beyond it, and scrolled to both sides', async (t) => {
	const app = await fixture.enter(t, { viewport: phone, hasTouch: true });
	await writeFiles(app.home, { 'letter.docx': word({ body: paragraph('Dear reader') }) });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'letter.docx');
	const text = inside(page).getByText('Dear reader');
	await text.waitFor();
	const sides = () =>
		inside(page)
			.locator('section')
			.evaluate((section) => {
				const { scrollWidth, clientWidth } = document.documentElement;
				const sideAt = (left: number, side: 'left' | 'right') => {
					scrollTo(left, 0);
					return section.getBoundingClientRect()[side];
				};
				const isWithin = sideAt(0, 'left') >= 0 && sideAt(scrollWidth, 'right') <= clientWidth;
				return { isWithin, isWide: scrollWidth > clientWidth };
			});
	await expectValue(t, sides, { isWithin: true, isWide: false });
	const zoomed = (percentage: string) => viewer.getByText(percentage, { exact: true }).waitFor();
	await eventuallyMatches(t, () => viewer.getByLabel('Zoom', { exact: true }).textContent(), /^4\d%$/);
	for (let times = 0; times < 4; times++) await viewer.getByRole('button', { name: 'Zoom in' }).tap();
	await expectValue(t, sides, { isWithin: true, isWide: true });
	for (let times = 0; times < 20; times++) await page.keyboard.press('+');
	await zoomed('500%');
	await expectValue(t, sides, { isWithin: true, isWide: true });
	await assertAccessible(t, page, 'an enlarged document');
	t.deepEqual(app.faults, []);
});

test.serial('a docx is rendered on the page, and nothing in it runs', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, {
		'letter.docx': word({
			body: `${paragraph('Dear reader')}${linked}${bulleted}<w:altChunk r:id="a1"/>`,
			relations: altChunk + numbering + link('javascript:document.title=1'),
			files: {
				'word/numbering.xml': bullets,
				'word/chunk.html': `<script>${script}</script><img src="http://127.0.0.1:9/chunk.png">`,
			},
		}),
		'plain.docx': word({ body: paragraph('Without settings'), section: '' }),
		'broken.docx': 'no document',
		'other.docx': zipped({ 'a.txt': 'no document' }),
		'bomb.docx': word({ body: paragraph('x'), files: { 'word/media/a.bin': new Bomb(200) } }),
	});
	const page = await app.open('/browser?type=private');
	const foreign = watchRequests(page, app.url);
	await openPreview(page, 'letter.docx');
	await inside(page).getByText('Dear reader').waitFor();
	await inside(page).getByText('a link').click();
	await absent(t, inside(page).locator('iframe, script'));
	await eventually(
		t,
		() =>
			inside(page)
				.getByText('a link')
				.evaluate((element) => element.closest('a')?.getAttribute('href') ?? null),
		null,
	);
	const bullet = inside(page)
		.getByText('an item')
		.evaluate((text) => getComputedStyle(text.closest('p') as Element, '::before').content);
	t.regex(await bullet, /•/);
	await assertAccessible(t, page, 'docx viewer');
	await closePreview(page);
	await openPreview(page, 'plain.docx');
	const margin = await inside(page)
		.getByText('Without settings')
		.evaluate((text) => {
			const section = text.closest('section') as Element;
			const zoom = Number((section.parentElement as HTMLElement).style.zoom);
			return (text.getBoundingClientRect().left - section.getBoundingClientRect().left) / zoom;
		});
	t.is(Math.round(margin), 96, 'an inch, as in a blank document');
	await closePreview(page);
	for (const name of ['broken.docx', 'other.docx', 'bomb.docx']) {
		const viewer = await openPreview(page, name);
		await viewer.getByRole('alert').getByText('Failed to render DOCX file.').waitFor();
		await closePreview(page);
	}
	t.deepEqual(foreign, []);
	t.notRegex(await page.title(), /it ran|1$/);
	t.deepEqual(app.faults, []);
});
