/** Rows times columns of a table in which cells span several. */
export const maxSpannedPlaces = 20_000;
/** Rows times columns of a table whose borders collapse: a browser keeps 90 bytes for each place, also where no cell is. */
export const maxCollapsedPlaces = 500_000;

/**
 * Rows times columns of what is, or may be, a table. A style makes a row of any of its parts, which those of a table of HTML seldom have:
 * without such styles its groups of rows are none.
 */
export function placesOf(
	table: Element,
	columnElements: Iterable<Element>,
	{ hasStyledRows = true }: { hasStyledRows?: boolean } = {},
): number {
	const { outer, inner } = rowsOf(table);
	const rows = 1 + outer.length + inner.length;
	const columns = [...columnElements].reduce((sum, each) => sum + spanOf(each, 'span'), 0);
	const cellsOf = (row: Element) =>
		!hasStyledRows && isGroup(row)
			? [...row.children].filter(({ localName }) => localName !== 'tr')
			: [...row.children];
	const most = [[table], outer, inner].map((each) => columnsOf(each.map(cellsOf)));
	return rows * Math.max(columns, ...most);
}

const isGroup = ({ localName }: Element) => /^(?:tbody|thead|tfoot)$/.test(localName);

/**
 * What may be a row of a table, by itself or by a style: its children, and theirs that are rows, have children or are reached by cells
 * above.
 */
function rowsOf(table: Element): { outer: Element[]; inner: Element[] } {
	const parts = (element: Element) => [...element.children].filter(({ localName }) => localName !== 'colgroup');
	const outer = parts(table);
	return { outer, inner: outer.flatMap((part) => rowsWithCells(parts(part))) };
}

function rowsWithCells(rows: readonly Element[]): Element[] {
	let reached = 0;
	return rows.filter((row, index) => {
		for (const cell of row.children) reached = Math.max(reached, index + downOf(cell));
		// Also one without cells has borders along all columns.
		return index < reached || row.childElementCount > 0 || /^m?tr$/.test(row.localName);
	});
}

/** The most columns of rows with these cells, with the cells of rows above that reach into them. */
function columnsOf(rows: readonly (readonly Element[])[]): number {
	const changes: number[] = [];
	const change = (row: number, by: number) => {
		changes[row] = (changes[row] ?? 0) + by;
	};
	for (const [index, cells] of rows.entries()) {
		for (const cell of cells) {
			// The second one is of tables in formulas.
			const across = Math.max(spanOf(cell, 'colspan'), spanOf(cell, 'columnspan'));
			change(index, across);
			change(Math.min(rows.length, index + downOf(cell)), -across);
		}
	}
	let here = 0;
	let most = 0;
	for (let row = 0; row < rows.length; row++) {
		here += changes[row] ?? 0;
		most = Math.max(most, here);
	}
	return most;
}

const spanOf = (element: Element, name: string) =>
	Math.max(1, Number.parseInt(element.getAttribute(name) ?? '', 10) || 1);

/** 0 stands for all rows. */
const downOf = (cell: Element) =>
	/^\s*\+?0/.test(cell.getAttribute('rowspan') ?? '') ? Number.POSITIVE_INFINITY : spanOf(cell, 'rowspan');
