import { crc32, deflateSync } from 'node:zlib';
import test from 'ava';
import { execa } from 'execa';
import type { Locator, Page } from 'playwright-core';
import { eventually, eventuallyMatches } from '../support/expect.js';
import { overlaysClosed, rowOf, setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import {
	closePreview,
	expectValue,
	measureMainThread,
	openPreview,
	picture,
	recorded,
	watchRequests,
} from '../support/previews.js';

const fixture = withKeptContexts(setUpFixture(test));

const expectZoom = (viewer: Locator, percentage: string) => viewer.getByText(percentage, { exact: true }).waitFor();

const transformOf = (viewer: Locator) =>
	viewer.getByRole('img').evaluate((image) => {
		const { a, b, e, f } = new DOMMatrix(getComputedStyle(image).transform);
		return {
			zoom: Math.round(Math.hypot(a, b) * 100) / 100,
			rotation: Math.round((Math.atan2(b, a) * 180) / Math.PI + 360) % 360,
			x: Math.round(e),
			y: Math.round(f),
		};
	});

const middleOf = async (page: Page) => {
	const box = await page.locator('[data-part=stage]').boundingBox();
	if (!box) throw new Error('There is no stage.');
	return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
};

/** A drawing of 3 kB in which each of 24 lines draws the one before it twice. */
function bomb(
	line: (id: string, before: string) => string,
	last: string,
	first = '<rect id="a0" width="9" height="9"/>',
): string {
	const lines = Array.from({ length: 24 }, (_, index) => line(`a${index + 1}`, `#a${index}`));
	return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" width="90" height="90"><defs>${first}${lines.join('')}</defs>${last}</svg>`;
}

const uses = bomb(
	(id, before) => `<g id="${id}"><use x:href="${before}"/><use href="${before}"/></g>`,
	'<use href="#a24"/>',
);
const masks = bomb(
	(id, before) =>
		`<mask id="${id}"><rect width="9" height="9" mask="url(${before})"/><rect width="9" height="8" style="mask:url(${before})"/></mask>`,
	'<rect width="9" height="9" mask="url(#a24)"/>',
	'<mask id="a0"><rect width="9" height="9"/></mask>',
);
const styled = bomb(
	(id, before) =>
		`<style>.${id} { fill: url("${before}") }</style><pattern id="${id}" width="9" height="9"><rect class="${id}" width="9" height="9"/><rect class="${id}" width="8" height="9"/></pattern>`,
	'<rect width="9" height="9" fill="url(#a24)"/>',
	'<pattern id="a0" width="9" height="9"/>',
);
const nested = `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><image width="90" height="90" href="data:image/svg+xml,${encodeURIComponent(uses)}"/></svg>`;
const ordinary = bomb(
	(id) =>
		`<style>.${id} { clip-path: url("#clip"); fill: url(#shade) }</style><g id="${id}" class="${id}"><use href="#a0"/></g>`,
	'<use href="#a24"/>',
	'<linearGradient id="shade"><stop offset="1"/></linearGradient><clipPath id="clip"><rect width="9" height="9"/></clipPath><rect id="a0" width="9" height="9"/>',
);

const masksBy = (
	reference: (before: string) => string,
	group = (before: string) => `<g mask="${reference(before)}">`,
	own = reference,
) =>
	bomb(
		(id, before) =>
			`<mask id="${id}">${group(before)}<rect width="9" height="9" fill="#fff" style="mask:${own(before)}"/><rect width="9" height="8" fill="#fff" style="mask:${own(before)}"/></g></mask>`,
		'<rect width="9" height="9" mask="url(#a24)"/>',
		'<mask id="a0"><rect width="9" height="9"/></mask>',
	);
const usesBy = (before: string, id: string) =>
	uses.replaceAll('href="#a', `href="#${before}`).replaceAll('id="a', `id="${id}`);
const plain = () => '<g>';
/** References as only browsers read them, or that are taken over by what is within. */
const disguised: Readonly<Record<string, string>> = {
	'byte.svg': usesBy('b%ff', 'b\u00ff'),
	'tab.svg': usesBy('a&#9;', 'a'),
	'escaped.svg': masksBy((before) => `url(#\\61 ${before.slice(2)})`, plain),
	'name.svg': masksBy((before) => `u\\72l(${before})`, plain),
	'hash.svg': masksBy((before) => `url('\\23 ${before.slice(1)}')`, plain),
	'bracket.svg': masksBy((before) => `url('${before}')`, plain).replaceAll(/((?:id="|#)a)/g, '$1)'),
	'inherit.svg': masksBy(
		(before) => `url(${before})`,
		undefined,
		() => 'inherit',
	),
	'variable.svg': masksBy(
		(before) => `url(${before})`,
		(before) => `<g style="--m:url(${before})">`,
		() => 'var(--m)',
	),
	'corners.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><marker id="m" markerWidth="9" markerHeight="9">${'<rect width="9" height="9"/>'.repeat(2000)}</marker><path marker-mid="url(#m)" d="M0 0${'L9 9'.repeat(20_000)}"/></svg>`,
};

/** From now on the page ends no frame for its silence: what is refused is so by what it would draw, before any of it is drawn. */
const withoutWatch = (page: Page) =>
	page.evaluate(() => {
		globalThis.setInterval = (() => 0) as unknown as typeof setInterval;
	});

/** Drawings are drawn in a frame. */
const drawnWidth = (viewer: Locator) =>
	viewer
		.frameLocator('iframe')
		.locator('img')
		.evaluate((image: HTMLImageElement) => image.clientWidth);

test.serial('a drawing whose references multiply is not drawn, and the page goes on', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, {
		'uses.svg': uses,
		'masks.svg': masks,
		'styled.svg': styled,
		'nested.svg': nested,
		...disguised,
		'wide.svg': Buffer.from(`\uFEFF${uses}`, 'utf16le'),
		'ordinary.svg': `<?xml version="1.0" encoding="ISO-8859-1"?>\n<!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/2000/svg">]>${ordinary.replace('http://www.w3.org/2000/svg', '&ns;')}`,
	});
	const page = await app.open('/browser?type=private');
	await withoutWatch(page);
	for (const name of ['uses.svg', 'masks.svg', 'styled.svg', 'nested.svg', 'wide.svg', ...Object.keys(disguised)]) {
		const viewer = await openPreview(page, name);
		await viewer.getByRole('alert').waitFor();
		await closePreview(page);
	}
	const viewer = await openPreview(page, 'ordinary.svg');
	await eventually(t, () => drawnWidth(viewer), 90);
	t.deepEqual(app.faults, []);
});

const within = (open: string, inner: string, close: string, times = 24) =>
	open.repeat(times) + inner + close.repeat(times);
const groups = within('<g>', '<rect width="9" height="9"/>', '</g>');
const styledBy = (css: string, drawn = groups) =>
	`<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><style><![CDATA[${css}]]></style>${drawn}</svg>`;
const slowSelector = `${within(':is(', 'x', ' *)')}{fill:red}`;
const inAddress = `data:text/css,${encodeURIComponent(slowSelector)}`;
const filter = (steps: string) =>
	`<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><filter id="f">${steps}</filter><rect width="90" height="90" filter="url(#f)"/></svg>`;
const blurred = (css: string, more = '') =>
	styledBy(css, more + within('<g>', '<rect width="90" height="90"/>', '</g>', 90));
const slowStyles: Readonly<Record<string, string>> = {
	'text.svg': styledBy('', `<text id="t">${'abcdefg '.repeat(2000)}</text>${'<use href="#t"/>'.repeat(5000)}`),
	'places.svg': styledBy('', `<text id="t" x="${'1 '.repeat(100_000)}">a</text>${'<use href="#t"/>'.repeat(3000)}`),
	'is.svg': styledBy(slowSelector),
	'not.svg': styledBy(`a{fill:url(/*)}${within(':not(', 'x', ' *)')}{fill:red}`),
	'escaped.svg': styledBy(`${within(':i\\73(', 'x', ' *)')}{fill:red}`),
	'nth.svg': styledBy(`a{fill:'\n}${within(':nth-child(n of ', 'x', ' *)')}{fill:red}`),
	'siblings.svg': styledBy(`${within(':is(', 'x', '~*)')}{fill:red}`, '<rect/>'.repeat(40)),
	'nesting.svg': styledBy(within('g{&&{', 'fill:red', '}}', 26)),
	'function.svg': styledBy(
		`@function --f0(){result:1px}${Array.from({ length: 30 }, (_, n) => `@function --f${n + 1}(){result:calc(--f${n}() + --f${n}())}`).join('')}rect{stroke-width:--f30()}`,
	),
	'brackets.svg': styledBy(`${within(':is(', 'a', ')', 20_000)}{fill:red}`),
	'import.svg': styledBy(`@import url("${inAddress}");`),
	'instruction.svg': `<?xml version="1.0"?><?xml-stylesheet href="${inAddress}"?>${styledBy('')}`,
	'link.svg': styledBy(
		'',
		`<link xmlns="http://www.w3.org/1999/xhtml" rel="stylesheet" href="${inAddress}"/>${groups}`,
	),
	'blends.svg': filter(
		`<feFlood result="r0"/>${Array.from({ length: 40 }, (_, n) => `<feBlend in="r${n}" in2="r${n}" result="r${n + 1}"/>`).join('')}`,
	),
	'turbulence.svg': filter('<feTurbulence numOctaves="9" baseFrequency="9"/>'.repeat(8)),
	'unknown.svg': filter(`<constructor/>${'<feTurbulence numOctaves="9" baseFrequency="9"/>'.repeat(8)}`),
	'lights.svg': filter('<feDiffuseLighting><feDistantLight/></feDiffuseLighting>'.repeat(15)),
	'merges.svg': filter(
		`<feFlood result="r0"/>${Array.from({ length: 20 }, (_, n) => `<feMerge result="r${n + 1}">${`<feMergeNode in="r${n}"/>`.repeat(2)}</feMerge>`).join('')}`,
	),
	'often.svg': filter(`${'<feOffset/>'.repeat(20)}`).replace('</svg>', `${'<g filter="url(#f)"/>'.repeat(30)}</svg>`),
	'blurs.svg': blurred('g{filter:blur(5px)}'),
};
const html = (content: string) =>
	styledBy(
		'',
		`<foreignObject width="90" height="90"><div xmlns="http://www.w3.org/1999/xhtml">${content}</div></foreignObject>`,
	);
const wideCells = '<td colspan="1000" rowspan="9999"/>'.repeat(30);
/** What a book is shown without, a drawing is not drawn with. */
const slowHtml: Readonly<Record<string, string>> = {
	'table.svg': html(`<table style="border-collapse:collapse"><tr>${wideCells}</tr>${'<tr/>'.repeat(300)}</table>`),
	'rows.svg': html(`<div style="display:table"><tr>${wideCells}</tr>${'<tr/>'.repeat(300)}</div>`),
	'rules.svg': html(`<table rules="all"><tr>${'<td/>'.repeat(900)}</tr>${'<tr><td/></tr>'.repeat(900)}</table>`),
	'columns.svg': html(`<style>i{column-count:2}</style>${within('<i>', 'x', '</i>', 60)}`),
	'grid.svg': html('<div style="display:grid;grid-template-columns:repeat(9999999,[a]1px)">x</div>'),
	'reached.svg': html(
		`<table rules="all"><tbody><tr>${'<td colspan="1000" rowspan="6000"/>'.repeat(6)}</tr>${'<tr/>'.repeat(6000)}</tbody></table>`,
	),
	'shape.svg': html('<div style="float:left;width:5000px;height:5000px;shape-outside:linear-gradient(red,#0000)"/>x'),
	'tracks.svg': html('<div style="--t:r\\65peat(9999999,[a]1px);display:grid;grid:var(--t)/1px">x</div>'),
};
/** Elements that no namespace names, and formulas, are laid out like HTML. */
const foreign = (content: string) => html('').replace('</div>', `</div>${content}`);
const slowForeign: Readonly<Record<string, string>> = {
	'unnamed.svg': foreign('<x xmlns="" style="display:grid;grid-template-columns:repeat(9999999,[a]1px)">x</x>'),
	'formula.svg': foreign(
		`<mtable xmlns="http://www.w3.org/1998/Math/MathML" style="border-collapse:collapse"><mtr>${'<mtd columnspan="1000" rowspan="9999"/>'.repeat(30)}</mtr>${'<mtr/>'.repeat(300)}</mtable>`,
	),
	'names.svg': html(`<div style="display:grid;grid:1px/repeat(999,${'[a]1px'.repeat(1000)})">x</div>`),
};
/** As a program writes it that draws a page, with all styles that an element has. */
const computed = `<div style="column-count: auto; column-width: auto; border-collapse: separate">${'<p style="columns: auto auto">x</p>'.repeat(9)}</div>`;
const ordinaryHtml = html(
	`${computed}<style>td{border-collapse:collapse}</style><div style="columns:2;display:grid;grid:repeat(2,1fr)/repeat(auto-fill,9px)"><table rules="all">${'<tr><td colspan="2">x</td><td>y</td></tr>'.repeat(90)}</table></div><table><thead><tr><th colspan="2">x</th></tr></thead><tbody>${'<tr><td>x</td><td>y</td></tr>'.repeat(400)}</tbody></table><i style="shape-outside:circle(50%)"/>`,
);
/** What a browser lays out as one paragraph. */
const switching = '日1'.repeat(25_000);
const slowTexts: Readonly<Record<string, string>> = {
	'text.svg': styledBy('', `<text y="9">${switching}</text>`),
	'parts.svg': styledBy('', `<text>${`<tspan>${'日1'.repeat(2500)}</tspan>`.repeat(10)}</text>`),
	'section.svg': styledBy('', `<text><![CDATA[${switching}]]></text>`),
	'paragraph.svg': html(`<p>${switching}</p>`),
	'hidden.svg': html(`<p style="width:9px">${`${'日1'.repeat(2500)}<i style="display:none"><p/></i>`.repeat(10)}</p>`),
	'within.svg': styledBy('', `<text>${`${'日1'.repeat(2500)}<text/>`.repeat(10)}</text>`),
	'inline.svg': html(`<p style="display:inline">${'日1'.repeat(2500)}</p>`.repeat(10)),
	'flow.svg': html(`<p style="display:/**/FL\\6fw inline">${'日1'.repeat(2500)}</p>`.repeat(10)),
	'contents.svg': html(`<style>i, p{display:contents!important}</style>${`<p>${'日1'.repeat(2500)}</p>`.repeat(10)}`),
	'unset.svg': html(`<p style="all:unset">${'日1'.repeat(2500)}</p>`.repeat(10)),
	...Object.fromEntries(
		[
			'd\\69splay:none',
			'display/**/:none',
			'display:/**/none',
			'--n:none;display:var(--n)',
			'display:-webkit-inline-box',
		].map((style, index) => [
			`hidden${index}.svg`,
			html(`<p>${`${'日1'.repeat(2500)}<i style="${style}"><p/></i>`.repeat(10)}</p>`),
		]),
	),
	...Object.fromEntries(
		['<svg xmlns="http://www.w3.org/2000/svg"><text/></svg>', '<button><p/><br/></button>', '<img><p/></img>'].map(
			(part, index) => [`part${index}.svg`, html(`<p>${`${'日1'.repeat(2500)}${part}`.repeat(10)}</p>`)],
		),
	),
	'controls.svg': html(`<p>${'a\x7f'.repeat(9000)}</p>`),
	'used.svg': styledBy('', `<text id="t">${'lorem ipsum '.repeat(1300)}</text>${'<use href="#t"/>'.repeat(1100)}`),
};
/** Labels in several scripts, in elements and in HTML, also of symbols, and the source of the program that has drawn it. */
const label = '<text>東京 Tokyo 1 عربي</text>';
const labelOfHtml = '<foreignObject><span xmlns="http://www.w3.org/1999/xhtml">مرحبا بالعالم</span></foreignObject>';
const ordinaryTexts = html(
	`<span>${`${'عربي '.repeat(10)}<br/>`.repeat(900)}</span><b style="display:inline-block">x</b><p><![CDATA[a & b]]></p>`,
).replace(
	'<foreignObject',
	`<metadata>${switching}</metadata><i:pgf xmlns:i="http://ns.adobe.com/AdobeIllustrator/10.0/"><![CDATA[${'日1'.repeat(20_000)}]]></i:pgf><g style="display:none"/><defs>${label.repeat(2000)}</defs><symbol>${labelOfHtml.repeat(2000)}</symbol>${label.repeat(2000)}${labelOfHtml.repeat(2000)}<foreignObject`,
);
const slowFilters: Readonly<Record<string, string>> = {
	'letters.svg': blurred('g{filter:bl\\75r(5px)}'),
	'attribute.svg': blurred('').replaceAll('<g>', '<g filter="bl\\75r(5px)">'),
	'behind.svg': blurred('').replaceAll('<g>', '<g style="--x:(" filter="blur(5px)">'),
	'variable.svg': blurred('svg{--f:blur(5px)}g{filter:var(--f)}'),
	'inherited.svg': blurred('svg{filter:blur(5px)}*{filter:inherit}'),
	'referred.svg': blurred('svg{filter:url(#f)}g{all:inherit}', '<filter id="f"><feGaussianBlur/></filter>'),
	'inverted.svg': blurred('g{filter:invert(1)}'),
};
const ordinaryStyles = styledBy(
	'.a { fill: url(#f); mask: url( a/*b.png ) } @media (min-width: 1px) { :where(g):not(:where([class~="a"], [class~="a"] *)) > rect:nth-child(2n + 1) { fill: red } } g g { filter: none } .a { --f: drop-shadow(0 0 1px red); filter: var(--f) }',
	'<filter id="f"><feGaussianBlur stdDeviation="2" result="b"/><feMerge><feMergeNode in="b"/><feMergeNode in="SourceGraphic"/></feMerge></filter><g filter="url(#f)"><rect width="90" height="90"/></g><g class="a"/>',
);

const refusesSlow = test.macro(async (t, slow: Readonly<Record<string, string>>, ordinary: string = ordinaryStyles) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { ...slow, 'ordinary.svg': ordinary });
	const page = await app.open('/browser?type=private');
	await withoutWatch(page);
	for (const name of Object.keys(slow)) {
		const viewer = await openPreview(page, name);
		await viewer.getByRole('alert').waitFor();
		await closePreview(page);
	}
	const viewer = await openPreview(page, 'ordinary.svg');
	await eventually(t, () => drawnWidth(viewer), 90);
	t.deepEqual(app.faults, []);
});

test.serial('a drawing whose styles or filters multiply is not drawn, and the page goes on', refusesSlow, slowStyles);
test.serial('nor is one with HTML in it that no browser lays out in time', refusesSlow, slowHtml, ordinaryHtml);
test.serial(
	'nor is one with what is laid out like HTML, or repeats many tracks',
	refusesSlow,
	slowForeign,
	ordinaryHtml,
);
test.serial('nor is one with more text than a browser lays out in time', refusesSlow, slowTexts, ordinaryTexts);
test.serial('nor is one that filters by an escape, a variable or what is around an element', refusesSlow, slowFilters);

/** A PNG of one colour, of which every line is the same. */
function flatPng(width: number, height: number): string {
	const chunk = (type: string, data: Buffer) => {
		const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
		const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
		length.writeUInt32BE(data.length);
		checksum.writeUInt32BE(crc32(body));
		return Buffer.concat([length, body, checksum]);
	};
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width);
	header.writeUInt32BE(height, 4);
	header[8] = 1;
	const lines = deflateSync(Buffer.alloc(height * (1 + Math.ceil(width / 8))));
	const signature = Buffer.from('89504e470d0a1a0a', 'hex');
	const parts = [signature, chunk('IHDR', header), chunk('IDAT', lines), chunk('IEND', Buffer.alloc(0))];
	return Buffer.concat(parts).toString('base64');
}

test.serial('a drawing whose pictures have more pixels together than a picture may have is not drawn', async (t) => {
	const app = await fixture.enter(t);
	const drawing = (content: string) =>
		`<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" width="90" height="60">${content}</svg>`;
	const image = (address: string) => drawing(`<image width="90" height="60" href="${address}"/>`);
	const large = flatPng(20_000, 20_000);
	const within = encodeURIComponent(drawing('<circle r="9"/>'));
	const costly = {
		'href.svg': image(`data:image/png;base64,${large}`),
		'font.svg': image(`data:font/woff2;base64,${large}`),
		'tab.svg': image(`d&#9;ata:image/png;base64,${large}`),
		'percent.svg': image(`data:image/png,${encodeURIComponent('\x89PNG')}`),
		'xlink.svg': image(`data:;base64,${large}`).replace(' href', ' x:href'),
		'animated.svg': drawing(`<image><set attributeName="href" to="data:image/png;base64,${large}"/></image>`),
		'style.svg': drawing(`<style>svg{background:url("data:image/png;base64,${large}")}</style>`),
		'escaped.svg': drawing(`<g style="background:url(\\64 ata:image/png;base64,${large})"/>`),
		'several.svg': drawing(
			[9000, 8999].map((side) => `<image href="data:image/png;base64,${flatPng(side, side)}"/>`).join(''),
		),
		// What a browser trims of a type.
		'space.svg': image(`data: image/svg+xml,${within}`),
	};
	const small = flatPng(200, 100).replaceAll(/.{20}/g, '$&\n');
	const ordinary = `<image href="data:image/png;base64,\n${small}"/><g style="background:url('data:img/png;base64,${flatPng(9, 9)}')" aria-label="data: 5, 6"/>`;
	const again = `<image href="data:image/png;base64,${flatPng(9000, 9000)}" width="1" height="1"/>`.repeat(2);
	const font = `<style>@font-face{font-family:f;src:url(data:application/font-woff;base64,d09GRgABAAA${'A'.repeat(61)})}</style>`;
	const content = `content="shape=image;image=data:image/png,${large.slice(0, 40)}"`;
	await writeFiles(app.home, {
		...costly,
		'ordinary.svg': drawing(font + ordinary + again).replace('<svg', `<svg ${content}`),
	});
	const page = await app.open('/browser?type=private');
	for (const name of Object.keys(costly)) {
		const viewer = await openPreview(page, name);
		await t.notThrowsAsync(viewer.getByRole('alert').waitFor(), name);
		await closePreview(page);
	}
	const viewer = await openPreview(page, 'ordinary.svg');
	await eventually(t, () => drawnWidth(viewer), 90);
	t.deepEqual(app.faults, []);
});

test.serial('a picture can be zoomed, rotated, moved and reset', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.png': await picture('png', '2000x1000', 'red') });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'a.png');
	await viewer.getByRole('img').waitFor();
	const press = (name: string) => viewer.getByRole('button', { name, exact: true }).click();
	await expectZoom(viewer, '100%');
	const { x, y } = await middleOf(page);

	// At its original size or below it can't be moved.
	await page.mouse.move(x, y);
	await page.mouse.down();
	await page.mouse.move(x + 50, y + 20);
	await page.mouse.up();
	t.deepEqual(await transformOf(viewer), { zoom: 1, rotation: 0, x: 0, y: 0 });

	await press('Zoom in');
	await expectZoom(viewer, '125%');
	await press('Zoom out');
	await press('Zoom out');
	await expectZoom(viewer, '75%');
	for (let count = 0; count < 5; count++) await press('Zoom out');
	await expectZoom(viewer, '10%');
	for (let count = 0; count < 25; count++) await press('Zoom in');
	await expectZoom(viewer, '500%');
	await press('Reset');
	await expectZoom(viewer, '100%');

	await page.mouse.move(x, y);
	await page.mouse.wheel(0, -100);
	await expectZoom(viewer, '110%');
	await page.mouse.wheel(0, 100);
	await page.mouse.wheel(0, 100);
	await expectZoom(viewer, '90%');
	await press('Reset');

	await page.mouse.dblclick(x, y);
	await expectZoom(viewer, '200%');
	await page.mouse.down();
	await page.mouse.move(x + 40, y + 30, { steps: 3 });
	await page.mouse.up();
	await expectValue(t, () => transformOf(viewer), { zoom: 2, rotation: 0, x: 40, y: 30 });
	for (let count = 0; count < 4; count++) await press('Zoom out');
	await expectZoom(viewer, '100%');
	await expectValue(t, () => transformOf(viewer), { zoom: 1, rotation: 0, x: 0, y: 0 }, 'it is centred again');

	for (const rotation of [90, 180, 270, 0]) {
		await press('Rotate');
		await expectValue(t, async () => (await transformOf(viewer)).rotation, rotation);
	}
	await page.keyboard.press('+');
	await expectZoom(viewer, '125%');
	t.deepEqual(app.faults, []);
});

test.serial('two fingers zoom a picture', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.png': await picture('png', '800x600', 'red') });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'a.png');
	await viewer.getByRole('img').waitFor();
	const { x, y } = await middleOf(page);
	const session = await page.context().newCDPSession(page);
	const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', reach: number) =>
		session.send('Input.dispatchTouchEvent', {
			type,
			touchPoints:
				type === 'touchEnd'
					? []
					: [
							{ x: x - reach, y, id: 1 },
							{ x: x + reach, y, id: 2 },
						],
		});
	await touch('touchStart', 50);
	await touch('touchMove', 75);
	await touch('touchMove', 100);
	await touch('touchEnd', 100);
	await expectZoom(viewer, '200%');
	// So slowly that no step of it is one percent.
	await touch('touchStart', 200);
	for (let reach = 199.5; reach >= 190; reach -= 0.5) await touch('touchMove', reach);
	await touch('touchEnd', 190);
	await expectZoom(viewer, '190%');
	t.deepEqual(app.faults, []);
});

test.serial(
	'pictures follow each other in the order on screen, also by keys, and the next one is preloaded',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, {
			'a1.png': await picture('png', '30x20', 'red'),
			'a2.jpg': await picture('jpg', '30x20', 'green'),
			'a10.gif': await picture('gif', '30x20', 'blue'),
			'between.txt': 'no picture',
		});
		const page = await app.open('/browser?type=private&sort=rname');
		const viewer = await openPreview(page, 'a2.jpg');
		const dialog = page.getByRole('dialog');
		await viewer.getByRole('img', { name: 'a2.jpg' }).waitFor();
		await page.waitForFunction(() =>
			performance.getEntriesByType('resource').some(({ name }) => name.includes('a10.gif')),
		);
		await page.keyboard.press('ArrowLeft');
		await dialog.getByRole('img', { name: 'a10.gif' }).waitFor();
		await page.keyboard.press('ArrowRight');
		await dialog.getByRole('img', { name: 'a2.jpg' }).waitFor();
		// While it is enlarged they move the picture.
		await page.keyboard.press('+');
		await expectZoom(dialog, '125%');
		await page.keyboard.press('ArrowLeft');
		await page.keyboard.press('ArrowDown');
		const moved = async () => {
			const { x, y } = await transformOf(dialog);
			return [x > 0, y < 0];
		};
		await expectValue(t, moved, [true, true]);
		await page.keyboard.press('0');
		await expectZoom(dialog, '100%');
		await dialog.getByRole('img', { name: 'a2.jpg' }).waitFor();
		const next = dialog.getByRole('button', { name: 'Next' });
		await next.focus();
		await page.keyboard.press('Enter');
		await dialog.getByRole('img', { name: 'a1.png' }).waitFor();
		await eventually(t, () => next.getAttribute('aria-disabled'), 'true');
		t.true(await next.evaluate((button) => button === document.activeElement), 'the focus stays');
		await eventually(t, () => next.evaluate((button) => getComputedStyle(button).opacity), '0.4', 'and is seen');
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
		await rowOf(page, 'a2.jpg').and(page.locator(':focus')).waitFor();
		t.deepEqual(app.faults, []);
	},
);

test.serial('an SVG runs no script and requests no other host', async (t) => {
	const app = await fixture.enter(t);
	const script = 'document.title = "it ran"; fetch("/it-ran")';
	await writeFiles(app.home, {
		'drawing.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60" onload='${script}'><script>${script}</script>
			<style>@import url(http://127.0.0.1:9/style.css);</style>
			<image href="http://127.0.0.1:9/canary.png" width="10" height="10"/><rect width="90" height="60" fill="teal"/></svg>`,
		'text.png': '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=1"/>',
	});
	const page = await app.open('/browser?type=private');
	const foreign = watchRequests(page, app.url);
	const viewer = await openPreview(page, 'drawing.svg');
	await viewer.getByRole('img', { name: 'drawing.svg' }).waitFor();
	await eventually(t, () => drawnWidth(viewer), 90);
	await page.keyboard.press('ArrowRight');
	await page.getByText('Failed to load image').waitFor();
	t.not(await page.title(), 'it ran');
	t.deepEqual(foreign, []);
	t.deepEqual(app.faults, []);
});

test.serial('a photo is rotated by its EXIF orientation, and a picture that is too large is not drawn', async (t) => {
	const app = await fixture.enter(t);
	const unrotated = await picture('jpg', '60x40', 'red');
	// An EXIF segment with nothing but an orientation of 6: a quarter turn.
	const exif = Buffer.from(
		'ffe10022457869660000' + '4d4d002a00000008' + '0001' + '0112000300000001' + '00060000' + '00000000',
		'hex',
	);
	const bomb = Buffer.from(await picture('png', '4x3', 'red'));
	bomb.writeUInt32BE(50_000, 16);
	bomb.writeUInt32BE(50_000, 20);
	// Cameras write more metadata than the first bytes of a file.
	const metadata = Buffer.alloc(8002, Buffer.from('ffe21f40', 'hex')).fill(0, 4);
	const behind = (jpeg: Buffer) => Buffer.concat([jpeg.subarray(0, 2), exif, metadata, jpeg.subarray(2)]);
	const vast = Buffer.from(unrotated);
	const frame = vast.indexOf(Buffer.from('ffc0', 'hex'));
	vast.writeUInt16BE(20_000, frame + 5);
	vast.writeUInt16BE(20_000, frame + 7);
	await writeFiles(app.home, {
		'photo.jpg': behind(unrotated),
		'bomb.jpg': behind(vast),
		'bomb.png': bomb,
		'scan.tif': await picture('tiff', '40x30', 'red'),
		'torn.tif': 'II*\0 and nothing else',
	});
	const page = await app.open('/browser?type=private');
	await openPreview(page, 'bomb.jpg');
	const dialog = page.getByRole('dialog');
	await dialog.getByText('Failed to load image').waitFor();
	await page.keyboard.press('ArrowRight');
	await dialog.getByRole('heading', { name: 'bomb.png' }).waitFor();
	await dialog.getByText('Failed to load image').waitFor();
	await page.keyboard.press('ArrowRight');
	await dialog.getByRole('img', { name: 'photo.jpg' }).waitFor();
	const size = await dialog.getByRole('img').evaluate(({ clientWidth, clientHeight }) => [clientWidth, clientHeight]);
	t.deepEqual(size, [40, 60]);
	await eventuallyMatches(t, () => dialog.getByRole('img').getAttribute('src'), /download/);
	await page.keyboard.press('ArrowRight');
	// No browser shows it; the server renders it.
	await dialog.getByRole('img', { name: 'scan.tif' }).waitFor();
	await page.keyboard.press('ArrowRight');
	// A picture by its name and its signature, which the server failed to render.
	await dialog.getByText('Failed to load image').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('a picture in a format whose size the page does not read is not drawn, whatever its name', async (t) => {
	const app = await fixture.enter(t);
	// JPEG XL, which Chromium draws; of 64 pixels here, of any number elsewhere.
	const unread = Buffer.from(
		'/wpPBgASCAEAJAFd5RIAABUqo4wbvJzr+fJDh8W0jesMbbVtYUmiyDg2SSdwCCmwImPGjDFmxpgxeM4YYzKAlB8AkPQsoAgCtvGfG3oWAjTCShIA',
		'base64',
	);
	const names = ['a.png', 'b.ico', 'c.svg'];
	await writeFiles(app.home, Object.fromEntries(names.map((name) => [name, unread])));
	const page = await app.open('/browser?type=private');
	await openPreview(page, 'a.png');
	const dialog = page.getByRole('dialog');
	for (const name of names) {
		await dialog.getByRole('heading', { name }).waitFor();
		await dialog.getByText('Failed to load image').waitFor();
		await page.keyboard.press('ArrowRight');
	}
	t.deepEqual(app.faults, []);
});

/** An animated WebP whose frames are these pictures of 16 pixels. */
function animation(frames: readonly Buffer[]): Buffer {
	const chunk = (name: string, content: Buffer) => {
		const length = Buffer.alloc(4);
		length.writeUInt32LE(content.length);
		return Buffer.concat([Buffer.from(name), length, content, Buffer.alloc(content.length % 2)]);
	};
	const place = Buffer.from('0000000000000f00000f000064000000', 'hex');
	const parts = frames.map((frame) => chunk('ANMF', Buffer.concat([place, frame.subarray(12)])));
	const header = chunk('VP8X', Buffer.from('020000000f00000f0000', 'hex'));
	return chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), header, chunk('ANIM', Buffer.alloc(6)), ...parts]));
}

test.serial('an animation with frames by the ten thousand is a still picture, and the page goes on', async (t) => {
	const app = await fixture.enter(t);
	const frame = await picture('webp', '16x16', 'red');
	await writeFiles(app.home, {
		'film.webp': animation(Array<Buffer>(1000).fill(frame)),
		'endless.webp': animation(Array<Buffer>(30_000).fill(frame)),
		// Each frame gives way to what was there before.
		'endless.gif': Buffer.concat([
			Buffer.from('474946383961e803e803800000000000ffffff', 'hex'),
			...Array<Buffer>(90_000).fill(Buffer.from('21f9040c050000002c0000000001000100000202440100', 'hex')),
			Buffer.from([0x3b]),
		]),
	});
	const page = await app.open('/browser?type=private');
	const work = await measureMainThread(page);
	// The one beside it is loaded beforehand.
	await openPreview(page, 'film.webp');
	const dialog = page.getByRole('dialog');
	await dialog.getByRole('img', { name: 'film.webp' }).waitFor();
	await eventuallyMatches(t, () => dialog.getByRole('img').getAttribute('src'), /download/);
	for (const name of ['endless.webp', 'endless.gif']) {
		await page.keyboard.press('ArrowLeft');
		await dialog.getByRole('img', { name }).waitFor();
		await eventuallyMatches(t, () => dialog.getByRole('img').getAttribute('src'), /^blob:/);
	}
	const workMs = await work();
	t.log(`${workMs} ms`);
	t.true(workMs < 3000, `${workMs} ms`);
	t.deepEqual(app.faults, []);
});

test.serial('a JPEG with segments of metadata by the ten thousand is shown by a rendition of the server', async (t) => {
	const app = await fixture.enter(t);
	const jpeg = await picture('jpeg', '32x32', 'red');
	const segment = Buffer.from('ffe20002', 'hex');
	const behind = (count: number) =>
		Buffer.concat([jpeg.subarray(0, -2), ...Array<Buffer>(count).fill(segment), jpeg.subarray(-2)]);
	await writeFiles(app.home, { 'camera.jpg': behind(500), 'endless.jpg': behind(20_000) });
	const page = await app.open('/browser?type=private');
	await openPreview(page, 'camera.jpg');
	const dialog = page.getByRole('dialog');
	await dialog.getByRole('img', { name: 'camera.jpg' }).waitFor();
	await eventuallyMatches(t, () => dialog.getByRole('img').getAttribute('src'), /download/);
	await page.keyboard.press('ArrowRight');
	await dialog.getByRole('img', { name: 'endless.jpg' }).waitFor();
	await eventuallyMatches(t, () => dialog.getByRole('img').getAttribute('src'), /^blob:/);
	t.deepEqual(app.faults, []);
});

test.serial('a WebP with chunks by the hundred thousand is shown by a rendition of the server', async (t) => {
	const app = await fixture.enter(t);
	const still = (await picture('webp', '32x32', 'red')).subarray(12);
	const extended = Buffer.from('VP8X\x0a\0\0\0\0\0\0\0\x1f\0\0\x1f\0\0', 'latin1');
	const withEmpty = (count: number) => {
		const chunks = [extended, ...Array<Buffer>(count).fill(Buffer.from('abcd\0\0\0\0')), still];
		const webp = Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), ...chunks]);
		webp.writeUInt32LE(webp.length - 8, 4);
		return webp;
	};
	await writeFiles(app.home, { 'camera.webp': withEmpty(500), 'endless.webp': withEmpty(100_000) });
	const page = await app.open('/browser?type=private');
	await openPreview(page, 'camera.webp');
	const dialog = page.getByRole('dialog');
	await dialog.getByRole('img', { name: 'camera.webp' }).waitFor();
	await eventuallyMatches(t, () => dialog.getByRole('img').getAttribute('src'), /download/);
	await page.keyboard.press('ArrowRight');
	await dialog.getByRole('img', { name: 'endless.webp' }).waitFor();
	await eventuallyMatches(t, () => dialog.getByRole('img').getAttribute('src'), /^blob:/);
	t.deepEqual(app.faults, []);
});

test.serial('a HEIC photo is shown by a rendition of the server, and a video has a frame as its poster', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, {
		'a.png': await picture('png', '1200x800', 'red'),
		'b.mp4': await recorded('mp4', '-f', 'lavfi', '-i', 'color=red:s=320x240:d=2', '-pix_fmt', 'yuv420p'),
	});
	await execa('heif-enc', ['-q', '80', 'a.png', '-o', 'a.heic'], { cwd: app.home });
	const page = await app.open('/browser?type=private');
	const requests = watchRequests(page, app.url);
	const viewer = await openPreview(page, 'a.heic');
	const image = viewer.getByRole('img', { name: 'a.heic' });
	await image.waitFor();
	const drawn = await image.evaluate((element: HTMLImageElement) => [element.naturalWidth, element.naturalHeight]);
	t.deepEqual(drawn, [1200, 800]);
	await closePreview(page);
	const film = await openPreview(page, 'b.mp4');
	await film.locator('video[poster*="/api/thumbnail/b.mp4"][poster*="size=2048"]').waitFor();
	const poster = await film.locator('video').getAttribute('poster');
	const status = await page.evaluate(async (url) => (await fetch(url ?? '')).status, poster);
	t.is(status, 200);
	t.deepEqual(requests, []);
	t.deepEqual(app.faults, []);
});
