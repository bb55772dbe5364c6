import { plainNames, withQuotes } from './cssTokens.js';
import { candidatesIn, elementsOf } from './styleCost.js';
import { type Declaration, declarationsIn } from './styleDeclarations.js';
import { maxCollapsedPlaces, maxSpannedPlaces, placesOf } from './tablePlaces.js';

/** Elements of a drawing that may have columns: each set within another one multiplies the time to lay out what is in it. */
const maxColumns = 4;
/** Characters of what the grids of a style sheet say of their areas: a browser that writes a grid again reads all of its own for each. */
const maxAreas = 2000;
/** Repetitions of a value times its length: `repeat(12, [col-start] 1fr)` has some 400. */
const maxRepeated = 100_000;

/**
 * Whether declarations repeat the tracks of a grid by the thousand, or in a way that nobody knows before a browser reads it. A browser
 * keeps the names of lines for each track, of which one repetition of a few letters may have ten million.
 */
export function repeatsTooOften(css: string): boolean {
	return repetitionsIn(plainNames(css)).some(isTooOften);
}

/** The same for one value, also where many names are repeated a few hundred times, or several parts of it are. */
export function hasTooManyTracks(value: string): boolean {
	const plain = plainNames(value);
	const repetitions = repetitionsIn(plain);
	const sum = repetitions.reduce((before, times) => before + (Number.parseInt(times, 10) || 0), 0);
	return repetitions.some(isTooOften) || sum * plain.length > maxRepeated;
}

/** Whether a grid of a style sheet, or of one element, names areas by the thousand. To be asked before a browser writes it again. */
export const namesTooManyAreas = (css: string): boolean =>
	css.length > maxAreas &&
	/grid|\\/i.test(css) &&
	declarationsIn(withQuotes(css)).reduce(
		(sum, { name, value }) => sum + (name.startsWith('grid') ? value.length ** 2 : 0),
		0,
	) >
		maxAreas ** 2;

/**
 * Whether a `shape-outside` may be a picture or gradient: a browser draws one for it in the size of its box, which may have gigabytes. It
 * is none where all its functions are of other shapes.
 */
export const isShapedByPicture = (value: string): boolean =>
	value
		.split('(')
		.slice(0, -1)
		.some((before) => !plainShape.test(` ${before.slice(-20)}`));

const plainShape =
	/[^\w-](?:a?cos|a?sin|a?tan2?|abs|calc|circle|clamp|ellipse|exp|hypot|inset|log|max|min|mod|path|polygon|pow|rect|rem|round|shape|sign|sqrt|xywh)?$/i;

const isTooOften = (times: string) => !/^(?:auto-fi(?:ll|t)|\d{1,3})$/i.test(times);

function repetitionsIn(plain: string): string[] {
	return [...plain.matchAll(/\brepeat\(([^,()]{0,30})/gi)].map(([, times = '']) => times.trim());
}

/**
 * Whether the HTML in a drawing would take long to lay out for its tables, columns or grids. Unlike that of a book it is drawn as it is, so
 * nothing can be taken from it.
 */
export function laysOutTooMuch(root: ParentNode, styles: readonly string[]): boolean {
	// A browser lays out what is of any namespace but that of drawings, such as tables of formulas.
	const html = [...root.querySelectorAll('*')].filter(({ namespaceURI }) => namespaceURI !== svg);
	if (html.length === 0) return false;
	const declarations = styles.flatMap(declarationsIn);
	const isCostly = ({ name, value }: Declaration) =>
		hasTooManyTracks(value) || (/^(?:-webkit-)?shape-outside$/.test(name) && isShapedByPicture(value));
	if (declarations.some(isCostly)) return true;
	const elements = elementsOf(root);
	const known = new Map<string, number>();
	const candidatesOf = (prelude: string) => {
		const candidates = known.get(prelude) ?? candidatesIn(prelude, elements);
		known.set(prelude, candidates);
		return candidates;
	};
	const columned = declarations.reduce(
		(sum, { name, prelude, value }) =>
			/^(?:-webkit-)?column(?:s|-count|-width)$/.test(name) && !isOnly(value, 'auto')
				? sum + (prelude === undefined ? 1 : candidatesOf(prelude))
				: sum,
		0,
	);
	if (columned > maxColumns) return true;
	const mayCollapse =
		html.some((each) => each.hasAttribute('rules')) ||
		declarations.some(
			({ name, value }) => (name === 'border-collapse' && !isOnly(value, 'separate')) || name.startsWith('--'),
		);
	const hasSpans = html.some((each) => each.matches(spanning));
	// A style makes a table of any element.
	return html.some((each) => {
		const isSpanned = hasSpans && each.querySelector(spanning) !== null;
		if (!isSpanned && !mayCollapse) return false;
		const columns = [...each.children].flatMap((child) => [child, ...child.children]).filter(isColumn);
		if (isSpanned && placesOf(each, columns, { hasStyledRows: false }) > maxSpannedPlaces) return true;
		return mayCollapse && placesOf(each, columns) > maxCollapsedPlaces;
	});
}

/** Whether a value is that of all elements without styles: programs that draw pages write all of them. */
function isOnly(value: string, usual: string): boolean {
	const words = value.toLowerCase().split(/[\s!]/);
	return words.every((word) => word === usual || word === '' || word === 'important');
}

const spanning = '[colspan], [columnspan], [rowspan], [span]';
const isColumn = ({ localName }: Element) => localName === 'col' || localName === 'colgroup';
const svg = 'http://www.w3.org/2000/svg';
