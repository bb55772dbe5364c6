import type { Entry } from '@stowage/rules';
import type { Ref } from 'react';
import type { Table } from '../table.js';

/** A place in the list or the grid. */
export interface ParentItemProps {
	table: Table<never>;
	ref?: Ref<HTMLDivElement> | undefined;
	left: number;
	top: number;
	/** Whether it has the cursor: the one row that the Tab key reaches. */
	isCursor: boolean;
}

/** An entry of the list or the grid. */
export interface FileItemProps<E extends Entry> extends Omit<ParentItemProps, 'table'> {
	table: Table<E>;
	entry: E;
	index: number;
	/** The URL of its thumbnail, for the grid. */
	thumbnail: string | undefined;
	isSelected: boolean;
	isCut: boolean;
	/** Shows the folder of the entry, for search results. */
	showsFolder: boolean;
	mayDrag: boolean;
}
