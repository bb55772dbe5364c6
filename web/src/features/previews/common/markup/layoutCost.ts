import { plainNames } from './cssTokens.js';
import { candidatesIn, elementsOf } from './styleCost.js';
import { declarationsIn } from './styleDeclarations.js';
import { maxCollapsedPlaces, maxSpannedPlaces, placesOf } from './tablePlaces.js';

/** Elements of a drawing that may have columns: each set within another one multiplies the time to lay out what is in it. */
const maxColumns = 4;

/**
 * Whether declarations repeat the tracks of a grid by the thousand, or in a way that nobody knows before a browser reads it. A browser
 * keeps the names of lines for each track, of which one repetition of a few letters may have ten million.
 */
export function repeatsTooOften(css: string): boolean {
	for (const [, times = ''] of plainNames(css).matchAll(/\brepeat\(([^,()]{0,30})/gi))
		if (!/^(?:auto-fi(?:ll|t)|\d{1,3})$/i.test(times.trim())) return true;
	return false;
}

/**
 * Whether the HTML in a drawing would take long to lay out for its tables, columns or grids. Unlike that of a book it is drawn as it is, so
 * nothing can be taken from it.
 */
export function laysOutTooMuch(root: ParentNode, styles: readonly string[]): boolean {
	const html = [...root.querySelectorAll('*')].filter(({ namespaceURI }) => namespaceURI === xhtml);
	if (html.length === 0) return false;
	const declarations = styles.flatMap(declarationsIn);
	if (declarations.some(({ value }) => repeatsTooOften(value))) return true;
	const elements = elementsOf(root);
	const columned = declarations.reduce(
		(sum, { name, prelude }) =>
			/^(?:-webkit-)?column(?:s|-count|-width)$/.test(name)
				? sum + (prelude === undefined ? 1 : candidatesIn(prelude, elements))
				: sum,
		0,
	);
	if (columned > maxColumns) return true;
	const mayCollapse =
		html.some((each) => each.hasAttribute('rules')) ||
		declarations.some(({ name }) => name === 'border-collapse' || name.startsWith('--'));
	const hasSpans = html.some((each) => each.matches(spanning));
	// A style makes a table of any element.
	return html.some((each) => {
		const mostPlaces =
			hasSpans && each.querySelector(spanning) !== null
				? maxSpannedPlaces
				: mayCollapse
					? maxCollapsedPlaces
					: Number.POSITIVE_INFINITY;
		const columns = [...each.children].flatMap((child) => [child, ...child.children]);
		return placesOf(each, columns.filter(isColumn)) > mostPlaces;
	});
}

const spanning = '[colspan], [rowspan], [span]';
const isColumn = ({ localName }: Element) => localName === 'col' || localName === 'colgroup';
const xhtml = 'http://www.w3.org/1999/xhtml';
