import { findDoctype, previewLimits } from '@stowage/rules';
import Packaging from 'epubjs/src/epub/packaging.js';
import { openZip, type ZipArchive } from '../common/bytes/zip.js';
import { htmlAsXml, numberCharacters, textOfHtml } from '../common/markup/htmlAsXml.js';
import { countElements, TooMuchMarkup } from '../common/markup/markupBounds.js';
import { sanitise } from '../common/markup/sanitise.js';
import type { BookContents, TocItem } from '../frame/frameMessages.js';
import { maxAddress, maxChapters, maxLabel, maxTocItems, maxTocLevels } from './bookBounds.js';
import { bookPaths, type ResolvePath } from './bookPaths.js';
import { type ContentsLine, readContents } from './readContents.js';

export interface Book extends BookContents {
	zip: ZipArchive;
	/** The type that the book gives one of its files. */
	typeOf(path: string): string | undefined;
}

export const noOpf = 'No OPF file found in EPUB';
export const noChapters = 'No readable chapters found in EPUB';

/** Why a book can't be read, in the words of the spec. */
export class UnreadableBook extends Error {}

const growth = 3;
const maxTextBytes = 6 * 1024 * 1024;
/** Elements of its package, or of its table of contents. */
const maxItems = 30_000;
/** Characters. */
const maxDescription = 5_000;

/** Opens a book. Throws `UnreadableBook` with one of the two sentences, and another error for a file that is no book at all. */
export function readBook(bytes: Uint8Array, fileName: string): Book {
	const zip = openZip(bytes, growth * previewLimits.epub);
	const parser = new DOMParser();
	const opfPath = findOpf(zip, parser);
	if (opfPath === undefined) throw new UnreadableBook(noOpf);
	const opf = parseXml(parser, textOf(zip, opfPath));
	if (!opf) throw new UnreadableBook(noOpf);
	const pack = new Packaging(undefined);
	const parts = readParts(pack, opf);
	const resolve = bookPaths();
	const inBook = (href: string) => resolve(opfPath, href);
	const types = new Map(Object.values(pack.manifest).map(({ href, type }) => [inBook(href), type]));
	const paths = (isAside: boolean) =>
		parts.spine
			.filter(({ linear }) => (linear === 'no') === isAside)
			.flatMap(({ idref }) => {
				const item = pack.manifest[idref];
				if (!item || !/xhtml|html|svg/.test(item.type)) return [];
				const path = inBook(item.href);
				return zip.has(path) && path.length <= maxAddress ? [path] : [];
			})
			.slice(0, maxChapters);
	const chapters = paths(false);
	if (chapters.length === 0) throw new UnreadableBook(noChapters);
	const { metadata } = parts;
	const orFallback = (value: string | undefined, fallback: string) => value?.trim().slice(0, maxLabel) || fallback;
	return {
		title: orFallback(metadata.title, fileName.replace(/\.epub$/i, '')),
		creator: orFallback(metadata.creator, 'Unknown Author'),
		description: textOfHtml(metadata.description ?? '', maxDescription).trim(),
		publisher: orFallback(metadata.publisher, ''),
		language: orFallback(metadata.language, 'en'),
		chapters,
		asides: paths(true),
		toc: readToc(zip, pack, opfPath, resolve, parser),
		zip,
		typeOf: (path) => types.get(path),
	};
}

type Pack = InstanceType<typeof Packaging>;

/** A book without one of the parts lacks only that part. */
function readParts(pack: Pack, opf: Document): Pick<Pack, 'spine' | 'metadata'> {
	const part = (name: string) => opf.getElementsByTagNameNS('*', name)[0];
	const manifest = part('manifest');
	const spine = part('spine');
	const metadata = part('metadata');
	if (!manifest || !spine) throw new UnreadableBook(noChapters);
	pack.manifest = pack.parseManifest(manifest);
	pack.navPath = pack.findNavPath(manifest) || '';
	pack.ncxPath = ncxPathOf(pack, manifest, spine);
	return {
		spine: pack.parseSpine(spine, pack.manifest),
		metadata: metadata ? pack.parseMetadata(metadata) : {},
	};
}

function ncxPathOf(pack: Pack, manifest: Element, spine: Element): string {
	try {
		return pack.findNcxPath(manifest, spine) || '';
	} catch {
		// It would resolve one that is only in the spine as if the manifest were a document.
		const id = spine.getAttribute('toc') ?? '';
		return pack.manifest[id]?.href ?? '';
	}
}

function findOpf(zip: ZipArchive, parser: DOMParser): string | undefined {
	const container = parseXml(parser, textOf(zip, 'META-INF/container.xml'));
	for (const file of container?.getElementsByTagNameNS('*', 'rootfile') ?? []) {
		const path = file.getAttribute('full-path') ?? '';
		if (zip.has(path)) return path;
	}
	return zip.names.find((name) => /\.opf$/i.test(name));
}

/** The table of contents of EPUB 3, or else the older one, which a book may have beside it. Empty where none can be read. */
function readToc(zip: ZipArchive, pack: Pack, opfPath: string, resolve: ResolvePath, parser: DOMParser): TocItem[] {
	for (const path of [pack.navPath, pack.ncxPath]) {
		const items = path ? readTocAt(zip, resolve(opfPath, path), resolve, parser) : [];
		if (items.length > 0) return items;
	}
	return [];
}

function readTocAt(zip: ZipArchive, path: string, resolve: ResolvePath, parser: DOMParser): TocItem[] {
	let count = 0;
	const convert = (lines: readonly ContentsLine[], depth: number): TocItem[] =>
		lines.flatMap(({ label, href, items }) => {
			if (depth >= maxTocLevels || ++count > maxTocItems) return [];
			const inner = convert(items, depth + 1);
			// A heading without a link of its own leads to its first child.
			const target = href ? resolve(path, href) : inner[0]?.href;
			if (target === undefined || target.length > maxAddress) return inner;
			return { label: label.slice(0, maxLabel), href: target, items: inner };
		});
	try {
		const text = textOf(zip, path);
		// It may be HTML.
		const xml = parseXml(parser, text) ?? parseXml(parser, htmlAsXml(withoutDoctype(sanitise(text ?? ''))));
		return xml ? convert(readContents(xml), 0) : [];
	} catch {
		return [];
	}
}

export function textOf(zip: ZipArchive, path: string): string | undefined {
	const bytes = zip.read(path);
	if (!bytes) return undefined;
	if (bytes.length > maxTextBytes) throw new TooMuchMarkup('One of its texts is too long.');
	const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
	return new TextDecoder(isWide ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8').decode(bytes);
}

/** Parses XML without its document type, whose entities could be expanded without end. Throws for more than is read in time. */
function parseXml(parser: DOMParser, text = ''): Document | undefined {
	const markup = withoutDoctype(sanitise(text));
	countElements(markup, maxItems);
	const parsed = parseWithHtmlEntities(parser, markup, 'application/xml');
	return parsed.querySelector('parsererror') ? undefined : parsed;
}

/** Parses XML, also with characters that only HTML names. A document with a `parsererror` stands for what is no XML. */
export function parseWithHtmlEntities(
	parser: DOMParser,
	markup: string,
	type: 'application/xml' | 'application/xhtml+xml',
): Document {
	const parsed = parser.parseFromString(markup, type);
	return parsed.querySelector('parsererror') ? parser.parseFromString(numberCharacters(markup), type) : parsed;
}

/** A broken one is kept: no parser of XML reads what follows it. */
export function withoutDoctype(text: string): string {
	const found = findDoctype(text);
	return typeof found === 'string' ? text : text.slice(0, found.start) + text.slice(found.end);
}
