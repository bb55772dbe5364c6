// biome-ignore-all lint/a11y/useSemanticElements: a virtualized list can't be a table
// biome-ignore-all lint/a11y/useFocusableInteractive: in a grid its rows are focused, and the buttons of its headers
import { ArrowUpIcon } from '@blueprintjs/icons';
import type { Entry } from '@stowage/rules';
import { memo } from 'react';
import { filesMessages as messages } from '../../messages.js';
import cells from '../cells.module.css';
import { cellProps, columnsFrom } from '../table.js';
import type { FileItemProps, ParentItemProps } from './FileItem.js';
import styles from './FileRow.module.css';
import { whereOf } from './rowText.js';

/**
 * One entry of the list. It has no event handlers: the list finds the row of an event by `data-index`. So a row is rendered
 * again only when its properties have changed.
 */
export const FileRow = memo(Row) as typeof Row;

function Row<E extends Entry>(props: FileItemProps<E>) {
	const { table, ref, entry, index, top, isSelected, isCut, isCursor, showsFolder, mayDrag } = props;
	const where = showsFolder ? whereOf(entry) : undefined;
	const row = { entry, isSelected, mayDrag, where };
	return (
		<div
			ref={ref}
			role="row"
			aria-rowindex={index + 2}
			aria-selected={isSelected}
			aria-label={table.labelOf(entry, isCut, where)}
			tabIndex={isCursor ? 0 : -1}
			className={`${cells.line} ${styles.row}`}
			data-index={index}
			data-cut={isCut || undefined}
			style={{ transform: `translateY(${top}px)` }}
		>
			{table.columns.map((column) => (
				<span
					key={column.key}
					role="gridcell"
					className={cells.cell}
					data-text={'text' in column || undefined}
					{...cellProps(column)}
				>
					{'text' in column ? column.text(entry) : column.render(row)}
				</span>
			))}
		</div>
	);
}

/** The row that leads to the folder above. Always first, never selected. */
export const ParentRow = memo(function ParentRow({ table, ref, top, isCursor }: ParentItemProps) {
	return (
		<div
			ref={ref}
			role="row"
			aria-rowindex={2}
			aria-label={messages.upDirectory}
			tabIndex={isCursor ? 0 : -1}
			className={`${cells.line} ${styles.row}`}
			data-index={0}
			style={{ transform: `translateY(${top}px)` }}
		>
			<span role="gridcell" className={cells.cell} data-column="type">
				<span className={cells.icon} data-hue="plain">
					<ArrowUpIcon size={16} aria-hidden />
				</span>
			</span>
			<span role="gridcell" className={cells.cell} data-column="name" aria-colspan={columnsFrom(table, 'name')}>
				<span className={styles.parent}>{messages.upDirectory}</span>
			</span>
		</div>
	);
});
