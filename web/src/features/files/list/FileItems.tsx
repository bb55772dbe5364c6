import type { Entry } from '@stowage/rules';
import type { Ref } from 'react';
import type { View } from '../../../ui/useView.js';
import { type Layout, positionOf } from '../layout/layout.js';
import type { RowKey } from '../selection/selection.js';
import { FileRow, ParentRow } from './items/FileRow.js';
import { FileTile, ParentTile } from './items/FileTile.js';
import { entryAt, parentRowKey, type Rows } from './rows.js';

export interface FileItemsProps {
	view: View;
	layout: Layout;
	rows: Rows;
	/** Makes each folder's Up Directory another row. */
	folderKey: string;
	/** The entries to be rendered, by their indexes. */
	indexes: readonly number[];
	cursor: number | undefined;
	cursorRef: Ref<HTMLDivElement>;
	selected: ReadonlySet<RowKey>;
	/** The rows that were cut. */
	cutKeys: ReadonlySet<RowKey>;
	/** Shows the folder of each entry, for search results. */
	showsFolder: boolean;
	mayDrag: (entry: Entry) => boolean;
	/** The URL of an entry's thumbnail in the grid; undefined for a kind without one. */
	thumbnailOf: (entry: Entry) => string | undefined;
}

/** The entries on screen, as rows or as tiles. */
export function FileItems(props: FileItemsProps) {
	const { view, layout, rows, folderKey, indexes, cursor, cursorRef, selected, cutKeys } = props;
	const [FileItem, ParentItem] = view === 'grid' ? [FileTile, ParentTile] : [FileRow, ParentRow];
	return indexes.map((index) => {
		const { left, top } = positionOf(layout, index);
		const isCursor = index === cursor;
		const place = { ref: isCursor ? cursorRef : undefined, left, top, isCursor };
		const entry = entryAt(rows, index);
		const key = rows.keys[index];
		if (!entry || key === undefined) return <ParentItem key={`${parentRowKey}${folderKey}`} {...place} />;
		return (
			<FileItem
				key={key}
				{...place}
				entry={entry}
				index={index}
				thumbnail={view === 'grid' ? props.thumbnailOf(entry) : undefined}
				isSelected={selected.has(key)}
				isCut={cutKeys.has(key)}
				showsFolder={props.showsFolder}
				mayDrag={props.mayDrag(entry)}
			/>
		);
	});
}
