import { previewLimits } from '@stowage/rules';
import { parseAsync, renderDocument } from 'docx-preview';
import { zipSync } from 'fflate';
import { openZip } from '../common/bytes/zip.js';
import { sheetsOf } from '../common/markup/drawings.js';
import { FontBudget } from '../common/markup/fonts.js';
import { boundTexts } from '../common/markup/longTexts.js';
import { isNestedTooDeep, StyleBudget } from '../common/markup/styleCost.js';
import type { FrameContent, FrameEvent, FrameView } from '../frame/frameMessages.js';
import { scaleAfter } from '../frame/zoom.js';
import { tableStyles } from '../inFrame/boundTables.js';
import { cleanMarkup } from '../inFrame/cleanMarkup.js';
import { languageIn } from './languageIn.js';
import { withPlainSymbols } from './symbols.js';
import { assertModestFiles, assertModestPages } from './wordBounds.js';

/** The decompressed content of a document may be this many times as large as the largest document that is shown. */
const growth = 3;

const pageStyles = `
	html { background: #171b20; }
	body { margin: 0; }
	.docx-wrapper { background: transparent !important; padding: 20px 12px 4px !important; }
	/* Pages that are wider than the frame begin at its left edge, to which it can be scrolled. */
	.docx-wrapper { box-sizing: border-box; width: max-content; min-width: 100%; }
	/* A page without settings of its own is that of Word's blank document; the settings of a section are styles of its element. */
	.docx-wrapper > section.docx { width: 595.3pt; min-height: 841.9pt; padding: 72pt; }
	.docx-wrapper > section.docx { margin-bottom: 16px !important; box-shadow: 0 1px 6px rgb(0 0 0 / 45%) !important; }
`;

const options = {
	inWrapper: true,
	breakPages: true,
	useBase64URL: true,
	renderAltChunks: false,
	renderComments: false,
	renderChanges: false,
	experimental: false,
	debug: false,
};

type WordContent = Extract<FrameContent, { kind: 'word' }>;

/** Renders a file into the document of the frame. Throws for anything but a docx, and for one that is too large. */
export async function renderDocx(
	{ bytes, fileName }: WordContent,
	say: (event: FrameEvent) => void,
): Promise<FrameView> {
	const zip = openZip(bytes, growth * previewLimits.document);
	if (!zip.has('word/document.xml')) throw new Error('It is no docx.');
	assertModestFiles(zip);
	// Packed again from the counted entries, so that nothing else can be decompressed.
	const counted = zipSync(Object.fromEntries(zip.names.map((name) => [name, zip.read(name) as Uint8Array])), {
		level: 0,
	});

	// A document without a window: nothing in it is drawn, fetched or run.
	const inert = document.implementation.createHTMLDocument('');
	// Styles have texts of the file in them, and are read as soon as they are part of a document.
	const sheets = inert.createElement('div');
	const parsed = await parseAsync(counted, options);
	assertModestPages(parsed);
	readFilesOnce(parsed);
	for (const node of await renderDocument(parsed, options)) {
		(node.nodeName === 'STYLE' ? sheets : inert.body).append(node);
	}
	if (sheetsOf(sheets).some(isNestedTooDeep)) throw new Error('Its styles are too deep.');
	inert.head.append(...sheets.childNodes);
	replaceSymbols(inert);
	cleanMarkup(inert, { resolve: () => undefined, fonts: new FontBudget(), styles: new StyleBudget() });
	boundTexts(inert.body, sheetsOf(inert));
	const styleOf = (css: string) => {
		const style = document.createElement('style');
		style.textContent = css;
		return style;
	};
	document.head.replaceChildren(
		styleOf(tableStyles),
		...[...inert.head.querySelectorAll('style')].map((each) => document.importNode(each, true)),
		styleOf(pageStyles),
	);
	document.title = fileName;
	const declared = zip.read('word/styles.xml');
	document.documentElement.lang = (declared && languageIn(new TextDecoder().decode(declared))) ?? 'en';
	document.body.replaceChildren(...[...inert.body.childNodes].map((each) => document.importNode(each, true)));
	const zoom = fitPages((scale) => say({ kind: 'scale', scale }));
	say({ kind: 'shown', width: 0, height: 0 });
	return {
		run: (command) => command.kind === 'zoom' && zoom(command.to),
		follow: (address) => document.getElementById(address.replace(/^#/, ''))?.scrollIntoView(),
	};
}

/**
 * An address with all bytes of an image is made once for all places where it is shown, that of a font for its first
 * name only, and no more of them than the browser reads in time.
 */
function readFilesOnce(document: WordFiles): void {
	const known = new Map<string | null, Promise<string | null>>();
	let images = maxImageCharacters;
	let fonts = maxFontCharacters;
	const readImage = async (path: string | null, load: () => Promise<string | null>) => {
		const reading = known.get(path) ?? load();
		known.set(path, reading);
		const image = await reading;
		images -= image?.length ?? 0;
		return images < 0 ? null : image;
	};

	const loadImage = document.loadDocumentImage.bind(document);
	document.loadDocumentImage = (id, part) =>
		readImage(document.getPathById(part ?? document.documentPart, id), () => loadImage(id, part));

	const loadBullet = document.loadNumberingImage.bind(document);
	const bullets = new Set<string>();
	document.loadNumberingImage = async (id) => {
		// One property has it for all levels with that bullet. What throws is not written again.
		if (bullets.has(id)) throw new Error('The bullet is there.');
		bullets.add(id);
		return readImage(document.getPathById(document.numberingPart, id), () => loadBullet(id));
	};

	const loadFont = document.loadFont.bind(document);
	const read = new Set<string | null>();
	document.loadFont = async (id, key) => {
		// Word brings each font by itself, and hides it by a key of its own.
		const path = document.getPathById(document.fontTablePart, id);
		if (read.has(path)) return null;
		read.add(path);
		const font = await loadFont(id, key);
		fonts -= font?.length ?? 0;
		return fonts < 0 ? null : font;
	};
}

/** The characters of the addresses of all images, each as often as it is shown. */
const maxImageCharacters = 100_000_000;
/** The characters of the addresses of all fonts, each once: 75 MB of fonts, of which the browser has several copies meanwhile. */
const maxFontCharacters = 100_000_000;

interface WordFiles {
	documentPart: unknown;
	numberingPart: unknown;
	fontTablePart: unknown;
	getPathById(part: unknown, id: string): string | null;
	loadDocumentImage(id: string, part?: unknown): Promise<string | null>;
	loadNumberingImage(id: string): Promise<string | null>;
	loadFont(id: string, key: string): Promise<string | null>;
}

/** Bullets above all: in a style each rule has its own, beside the font that it wants. */
function replaceSymbols(document: Document): void {
	for (const style of document.querySelectorAll('style')) {
		style.textContent = (style.textContent ?? '').replaceAll(/\{[^{}]*\}/g, (rule) => withPlainSymbols(rule, rule));
	}
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let text = texts.nextNode(); text; text = texts.nextNode()) {
		const fonts = text.parentElement?.style.fontFamily ?? '';
		if (/[\uf020-\uf0ff]/.test(text.nodeValue ?? '')) text.nodeValue = withPlainSymbols(text.nodeValue ?? '', fonts);
	}
}

/**
 * A page that is wider than the frame is drawn smaller, until it is enlarged by what is returned: the browser's own zoom
 * makes the frame narrower, and so undoes itself.
 */
function fitPages(onScale: (scale: number) => void): (to: 'in' | 'out') => void {
	const wrapper = document.querySelector<HTMLElement>('.docx-wrapper');
	if (!wrapper) return () => {};
	let fitted = 1;
	let enlarged = 1;
	const draw = () => {
		wrapper.style.zoom = String(fitted * enlarged);
		onScale(fitted * enlarged);
	};
	const fit = () => {
		const { scrollLeft, scrollTop } = document.documentElement;
		const before = fitted * enlarged;
		wrapper.style.zoom = '1';
		const widest = Math.max(...[...wrapper.children].map((page) => (page as HTMLElement).offsetWidth));
		fitted = Math.min(1, document.documentElement.clientWidth / (widest + 24));
		draw();
		const ratio = (fitted * enlarged) / before;
		window.scrollTo({ left: scrollLeft * ratio, top: scrollTop * ratio, behavior: 'instant' });
	};
	fit();
	window.addEventListener('resize', fit);
	return (to) => {
		const { scrollLeft, scrollTop, clientWidth, clientHeight } = document.documentElement;
		const before = fitted * enlarged;
		enlarged = scaleAfter(before, to) / fitted;
		draw();
		// What is in the middle stays there.
		const ratio = (fitted * enlarged) / before;
		const moved = (start: number, length: number) => (start + length / 2) * ratio - length / 2;
		window.scrollTo({ left: moved(scrollLeft, clientWidth), top: moved(scrollTop, clientHeight), behavior: 'instant' });
	};
}
