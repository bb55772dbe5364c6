/** A line of a table of contents, as the book has it. */
export interface ContentsLine {
	label: string;
	/** Undefined for a heading. */
	href: string | undefined;
	items: readonly ContentsLine[];
}

/**
 * The table of contents of a parsed document, in the form of EPUB 3 or of EPUB 2. What has more levels than the parser lets in is not
 * there.
 */
export function readContents(document: Document): readonly ContentsLine[] {
	const [map] = document.getElementsByTagNameNS('*', 'navMap');
	if (map) return pointsIn(map);
	const list = childrenOf(navigationOf(document), 'ol', 'ul')[0];
	return list ? linesIn(list) : [];
}

const childrenOf = (parent: Element | undefined, ...names: readonly string[]): Element[] =>
	[...(parent?.children ?? [])].filter(({ localName }) => names.includes(localName));

/** The element with the table of contents; one without a type may be it, and lists of pages and landmarks are not. */
function navigationOf(document: Document): Element | undefined {
	const all = [...document.getElementsByTagNameNS('*', 'nav')];
	const types = (nav: Element) =>
		[nav.getAttributeNS(ops, 'type'), nav.getAttribute('epub:type'), nav.getAttribute('role')].join(' ').split(/\s+/);
	return (
		all.find((nav) => types(nav).some((type) => type === 'toc' || type === 'doc-toc')) ??
		all.find((nav) => types(nav).join('') === '')
	);
}

const ops = 'http://www.idpf.org/2007/ops';

/** The lines of a list, of which each `li` has a link or a heading, and perhaps a list of those below it. */
function linesIn(list: Element): ContentsLine[] {
	return childrenOf(list, 'li').map((line) => {
		const [inner] = childrenOf(line, 'ol', 'ul');
		const [title] = [...line.children].filter((child) => child !== inner);
		const link = title?.localName === 'a' ? title : title?.getElementsByTagNameNS('*', 'a')[0];
		return {
			label: title?.textContent?.trim() || (link?.getAttribute('title') ?? ''),
			href: link?.getAttribute('href') ?? undefined,
			items: inner ? linesIn(inner) : [],
		};
	});
}

function pointsIn(parent: Element): ContentsLine[] {
	return childrenOf(parent, 'navPoint').map((point) => ({
		label: childrenOf(point, 'navLabel')[0]?.textContent?.trim() ?? '',
		href: childrenOf(point, 'content')[0]?.getAttribute('src') ?? undefined,
		items: pointsIn(point),
	}));
}
