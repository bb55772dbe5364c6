import type { Entry } from '@stowage/rules';
import type { Ref } from 'react';
import type { View } from '../../../ui/useView.js';
import { type Layout, positionOf } from '../layout/layout.js';
import type { RowKey } from '../selection/selection.js';
import { FileRow, ParentRow } from './items/FileRow.js';
import { FileTile, ParentTile } from './items/FileTile.js';
import { entryAt, parentRowKey, type Rows } from './rows.js';
import type { Table } from './table.js';

export interface FileItemsProps<E extends Entry> {
	table: Table<E>;
	view: View;
	layout: Layout;
	rows: Rows<E>;
	/** Makes each folder's Up Directory another row. */
	folderKey: string;
	/** The entries to be rendered, by their indexes. */
	indexes: readonly number[];
	cursor: number | undefined;
	cursorRef: Ref<HTMLDivElement>;
	selected: ReadonlySet<RowKey>;
	/** The rows that were cut; none by default. */
	cutKeys?: ReadonlySet<RowKey> | undefined;
	/** Shows the folder of each entry, for search results. @default false */
	showsFolder?: boolean | undefined;
	/** None by default. */
	mayDrag?: ((entry: E) => boolean) | undefined;
	/** The URL of an entry's thumbnail in the grid; undefined for a kind without one. None by default. */
	thumbnailOf?: ((entry: E) => string | undefined) | undefined;
}

/** The entries on screen, as rows or as tiles. */
export function FileItems<E extends Entry>(props: FileItemsProps<E>) {
	const { table, view, layout, rows, folderKey, indexes, cursor, cursorRef, selected, cutKeys } = props;
	const [FileItem, ParentItem] = view === 'grid' ? [FileTile, ParentTile] : [FileRow, ParentRow];
	return indexes.map((index) => {
		const { left, top } = positionOf(layout, index);
		const isCursor = index === cursor;
		const place = { ref: isCursor ? cursorRef : undefined, left, top, isCursor };
		const entry = entryAt(rows, index);
		const key = rows.keyAt(index);
		if (!entry || key === undefined) return <ParentItem key={`${parentRowKey}${folderKey}`} {...place} table={table} />;
		return (
			<FileItem
				key={key}
				{...place}
				table={table}
				entry={entry}
				index={index}
				thumbnail={view === 'grid' ? props.thumbnailOf?.(entry) : undefined}
				isSelected={selected.has(key)}
				isCut={cutKeys?.has(key) ?? false}
				showsFolder={props.showsFolder ?? false}
				mayDrag={props.mayDrag?.(entry) ?? false}
			/>
		);
	});
}
