import type { Entry } from '@stowage/rules';
import type { CSSProperties, ReactNode } from 'react';
import { rowHeight } from '../layout/layout.js';

/** An entry as a row shows it. */
export interface ListedEntry<E extends Entry = Entry> {
	entry: E;
	isSelected: boolean;
	mayDrag: boolean;
	/** Where it lies, for a search result. */
	where: string | undefined;
}

export type ColumnKey = 'type' | 'name' | 'folder' | 'count' | 'size' | 'date' | 'time' | 'deleted' | 'actions';

interface Layout<C extends string> {
	key: ColumnKey;
	/** Undefined below a header that spans this column too. */
	header?: Header<C>;
	/** A track of `grid-template-columns`. */
	width: string;
	/** The width on a screen of less than 600 px; undefined if the column is not shown there. */
	narrowWidth?: string;
	/** @default 'start' */
	align?: 'start' | 'end';
	/** The width of its placeholder while the entries are loading, in pixels; `name` for one of many widths; none by default. */
	placeholder?: number | 'name';
}

/** The content of its cells. */
type Content<E extends Entry> = { text: (entry: E) => string } | { render: (row: ListedEntry<E>) => ReactNode };

/** A column of entries `E` in a table that is sorted by `C`. */
export type Column<E extends Entry, C extends string = string> = Layout<C> & Content<E>;

export interface Header<C extends string = string> {
	title: string;
	/** The list has no room for the title, which is only read out. Above tiles that of a button is shown. */
	isHidden?: boolean;
	/** A click sorts by this. */
	sortsBy?: C;
	/** How many columns it spans. @default 1 */
	span?: number;
}

/** The column that a list is sorted by. */
export interface SortOrder<C extends string = string> {
	column: C;
	descending: boolean;
}

/** What a list shows of its entries. Rows, headers, tiles, placeholders and style sheets all have it from here. */
export interface Table<E extends Entry, C extends string = string> {
	/** The columns in their order. */
	columns: readonly Column<E, C>[];
	/** The accessible name of a row, which begins with the name of its entry. */
	labelOf: (entry: E, isCut: boolean, where: string | undefined) => string;
	/** The last line of a tile, and the column that it stands for. */
	detailsOf: (entry: E, where: string | undefined) => { column: ColumnKey; text: string };
}

/** The place of a column among all, from 1, as ARIA counts them. */
export function columnIndex({ columns }: Table<never>, key: ColumnKey): number {
	return columns.findIndex((column) => column.key === key) + 1;
}

/** How many columns there are from this one to the last, for a cell that spans all of them. */
export function columnsFrom(table: Table<never>, key: ColumnKey): number {
	return table.columns.length - columnIndex(table, key) + 1;
}

/** The attributes by which `cells.module.css` lays out a cell of a column, or its header. */
export function cellProps({ key, align = 'start', narrowWidth }: Layout<string>) {
	return {
		'data-column': key,
		'data-align': align,
		'data-wide': narrowWidth === undefined || undefined,
	};
}

/** The sizes that `cells.module.css` reads, for the element around all lines. */
export function columnSizes({ columns }: Table<never>): CSSProperties & Record<`--${string}`, string> {
	return {
		'--row-height': `${rowHeight}px`,
		'--wide-columns': columns.map(({ width }) => width).join(' '),
		'--narrow-columns': columns.flatMap(({ narrowWidth }) => narrowWidth ?? []).join(' '),
	};
}
