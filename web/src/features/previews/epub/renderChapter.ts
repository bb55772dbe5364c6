import { ZipTooLarge } from '../common/bytes/zip.js';
import { maxPixels, pixelsOf } from '../common/images/pixels.js';
import { pictureOfDrawing } from '../common/markup/drawings.js';
import { FontBudget } from '../common/markup/fonts.js';
import { htmlAsXml } from '../common/markup/htmlAsXml.js';
import { boundTexts } from '../common/markup/longTexts.js';
import { countElements } from '../common/markup/markupBounds.js';
import { sanitise } from '../common/markup/sanitise.js';
import { StyleBudget } from '../common/markup/styleCost.js';
import { tableStyles } from '../inFrame/boundTables.js';
import { cleanCss, cleanMarkup } from '../inFrame/cleanMarkup.js';
import { bookPaths, type ResolvePath } from './bookPaths.js';
import { type Book, parseWithHtmlEntities, textOf, withoutDoctype } from './readBook.js';

/** The default style, for books without one. */
const pageStyles = `
	html { background: #fbfaf7; color: #1c2127; font: 100%/1.6 Georgia, "Times New Roman", serif; }
	body { max-width: 38em; margin: 0 auto !important; padding: 2.5em 1.5em 4em !important; overflow-wrap: break-word; }
	img, svg, image, table, pre { max-width: 100%; }
	img, svg { height: auto; max-height: 90vh; }
	pre { overflow-x: auto; }
	a { color: #215db0; }
`;

/**
 * Renders a chapter into the document of the frame; the URLs of its pictures are valid until the returned function is called. Throws for
 * one that is broken, or more than is laid out in time.
 */
export function renderChapter(book: Book, path: string): () => void {
	const urls: string[] = [];
	const release = () => {
		for (const url of urls) URL.revokeObjectURL(url);
	};
	try {
		render(book, path, urls);
	} catch (cause) {
		release();
		throw cause;
	}
	return release;
}

/** Adds the URLs that it makes. */
function render(book: Book, path: string, urls: string[]): void {
	const parser = new DOMParser();
	const known = new Map<string, string | undefined>();
	const budgets = { fonts: new FontBudget(), styles: new StyleBudget() };
	const resolve = bookPaths();
	const resolveFrom = (base: string) => (address: string) => {
		const [target = ''] = resolve(base, address).split('#');
		if (known.has(target)) return known.get(target);
		const url = /^[a-z][\w+.-]*:|^\/\//i.test(address) ? undefined : addressOf(book, target, parser, budgets.fonts);
		if (url !== undefined) urls.push(url);
		known.set(target, url);
		return url;
	};

	const chapter = parse(parser, textOf(book.zip, path) ?? '');
	const linked = linkedSheets(chapter, path, resolve).flatMap((sheet) => {
		const css = textOf(book.zip, sheet);
		return css === undefined ? [] : [cleanCss(css, { resolve: resolveFrom(sheet), ...budgets })];
	});
	const styles = [...cleanMarkup(chapter, { resolve: resolveFrom(path), ...budgets }, linked)];
	for (const style of chapter.querySelectorAll('style')) {
		styles.push(style.textContent ?? '');
		style.remove();
	}

	const body = chapter.querySelector('body');
	boundTexts(chapter.documentElement, styles);
	document.head.replaceChildren(
		...[tableStyles, pageStyles, ...styles].map((css) => {
			const style = document.createElement('style');
			style.textContent = css;
			return style;
		}),
	);
	for (const name of ['class', 'id', 'dir', 'lang', 'style']) {
		const value = body?.getAttribute(name);
		if (value) document.body.setAttribute(name, value);
		else document.body.removeAttribute(name);
	}
	document.title = book.title;
	document.documentElement.lang = chapter.documentElement.getAttribute('lang') ?? book.language;
	const nodes = body ? [...body.childNodes] : [chapter.documentElement];
	document.body.replaceChildren(...nodes.map((node) => document.importNode(node, true)));
}

/** The linked style sheets, each once, at its last place, where it decides: a chapter may link the same one by the thousand. */
function linkedSheets(chapter: Document, path: string, resolve: ResolvePath): readonly string[] {
	const sheets = [...chapter.querySelectorAll('link')]
		.filter((link) => /\bstylesheet\b/i.test(link.getAttribute('rel') ?? ''))
		.map((link) => resolve(path, link.getAttribute('href') ?? ''));
	return [...new Set(sheets.reverse())].reverse();
}

/** Throws for more than is laid out in time. */
function parse(parser: DOMParser, text: string): Document {
	const markup = withoutDoctype(sanitise(text));
	const read = (xml: string) => {
		countElements(xml);
		return parseWithHtmlEntities(parser, xml, 'application/xhtml+xml');
	};
	const parsed = read(markup);
	return parsed.querySelector('parsererror') ? read(htmlAsXml(markup)) : parsed;
}

const typesByExtension: ReadonlyMap<string, string> = new Map([
	['png', 'image/png'],
	['jpg', 'image/jpeg'],
	['jpeg', 'image/jpeg'],
	['gif', 'image/gif'],
	['webp', 'image/webp'],
	['svg', 'image/svg+xml'],
	['ttf', 'font/ttf'],
	['otf', 'font/otf'],
	['woff', 'font/woff'],
	['woff2', 'font/woff2'],
]);

/** Pictures and fonts only. */
function addressOf(book: Book, path: string, parser: DOMParser, fonts: FontBudget): string | undefined {
	const declared = book.typeOf(path) ?? '';
	const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
	const type = /^(image|font)\/[\w.+-]+$/.test(declared) ? declared : typesByExtension.get(extension);
	const read = type === undefined ? undefined : readWhole(book, path);
	if (read === undefined) return undefined;
	const bytes = type === 'image/svg+xml' ? pictureOfDrawing(read, parser) : read;
	const isHarmless = type?.startsWith('font/')
		? fonts.admits(read)
		: type === 'image/svg+xml' || pixelsOf(read) <= maxPixels;
	return bytes && isHarmless ? URL.createObjectURL(new Blob([bytes], { type: type ?? '' })) : undefined;
}

/** The bytes of a file of the book; undefined for a broken one, without which the chapter is shown. */
function readWhole(book: Book, path: string): Uint8Array<ArrayBuffer> | undefined {
	try {
		return book.zip.read(path);
	} catch (cause) {
		if (cause instanceof ZipTooLarge) throw cause;
		return undefined;
	}
}
