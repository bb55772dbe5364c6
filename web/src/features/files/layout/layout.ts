/** The positions of the entries: one below the other, or several in a line. All have the same size, in pixels. */
export interface Layout {
	columns: number;
	/** The size of one entry. */
	width: number;
	height: number;
	/** The distances from one column, and from one line, to the next. */
	columnStep: number;
	lineStep: number;
	/** The space around all entries. */
	padding: number;
}

export const rowHeight = 40;

/** Rows are as wide as the list. */
export const listLayout: Layout = {
	columns: 1,
	width: Number.POSITIVE_INFINITY,
	height: rowHeight,
	columnStep: 0,
	lineStep: rowHeight,
	padding: 0,
};

/** The space between tiles, from which a marquee can be drawn. */
const gap = 8;
/** The height of a tile without its picture: padding, two lines of the name and one of details. */
const tilePadding = 8;
const captionHeight = 60;

/** Tiles that fill a width; at least two in a line, also on the narrowest phone. */
export function gridLayout(available: number): Layout {
	const isNarrow = available < 600;
	const padding = isNarrow ? 8 : 12;
	const room = Math.max(2 * 80, available - 2 * padding);
	const columns = Math.max(2, Math.floor((room + gap) / ((isNarrow ? 150 : 184) + gap)));
	const width = Math.floor((room - gap * (columns - 1)) / columns);
	const height = Math.round(((width - 2 * tilePadding) * 3) / 4) + 2 * tilePadding + captionHeight;
	return { columns, width, height, columnStep: width + gap, lineStep: height + gap, padding };
}

/**
 * The room that a short notice takes at the lower edge of a narrow window, where it is as wide as the rows: what is scrolled to stays above
 * it. `FileList.module.css` leaves as much behind the last row, so that no row moves when the notice goes.
 */
export function noticeRoom(windowWidth: number): number {
	return windowWidth < 600 ? 80 : 0;
}

export function lineOf({ columns }: Layout, index: number): number {
	return Math.floor(index / columns);
}

export function lineCount({ columns }: Layout, count: number): number {
	return Math.ceil(count / columns);
}

/** The upper left corner of an entry. */
export function positionOf(layout: Layout, index: number): { left: number; top: number } {
	const { columns, columnStep, lineStep, padding } = layout;
	return { left: padding + (index % columns) * columnStep, top: padding + lineOf(layout, index) * lineStep };
}

/** The height of `count` entries with the space around them. */
export function totalHeight(layout: Layout, count: number): number {
	if (count === 0) return 0;
	return (lineCount(layout, count) - 1) * layout.lineStep + layout.height + 2 * layout.padding;
}
