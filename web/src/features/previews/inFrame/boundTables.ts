import { maxCollapsedPlaces, maxSpannedPlaces, placesOf } from '../common/markup/tablePlaces.js';

/** The attribute of a table that has more places. */
const mark = 'data-wide';

/**
 * Styles that a document comes with, before its own ones: borders collapse in tables only whose places have been
 * counted.
 */
export const tableStyles = `@layer stowage-tables { :not(table), table[${mark}] { border-collapse: separate !important; } }`;

/** A table with too many places has no cells that span several, and no borders that collapse. */
export function boundTables(root: ParentNode): void {
	for (const table of root.querySelectorAll('table')) {
		table.removeAttribute(mark);
		const columns = table.querySelectorAll('col, colgroup');
		if (placesOf(table, columns, { hasStyledRows: false }) > maxSpannedPlaces) withoutSpans(table);
		if (placesOf(table, columns) > maxCollapsedPlaces) table.setAttribute(mark, '');
	}
}

function withoutSpans(table: Element): void {
	for (const each of table.querySelectorAll('td, th, col, colgroup')) {
		for (const name of ['colspan', 'rowspan', 'span']) each.removeAttribute(name);
	}
}
