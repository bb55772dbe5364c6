// biome-ignore-all lint/a11y/useSemanticElements: a virtualized list can't be a table
// biome-ignore-all lint/a11y/useFocusableInteractive: in a grid its rows are focused, and the buttons of its headers
import { CaretDownIcon, CaretUpIcon } from '@blueprintjs/icons';
import { type SortColumn, type SortMode, sortOrder } from '@stowage/rules';
import cells from './cells.module.css';
import { cellProps, columns, type Header } from './columns.js';
import styles from './FileListHeader.module.css';

export interface FileListHeaderProps {
	sort: SortMode;
	/** A header was clicked. */
	onSort: (column: SortColumn) => void;
}

/** The row of column headers; each is a button that sorts by its column, if that is possible. */
export function FileListHeader({ sort, onSort }: FileListHeaderProps) {
	return (
		<div role="rowgroup" className={styles.group}>
			<div role="row" aria-rowindex={1} className={`${cells.line} ${styles.header}`}>
				{columns.map((column) => {
					const { key, header } = column;
					if (!header) return null;
					return (
						<span
							key={key}
							role="columnheader"
							aria-colspan={header.span}
							aria-sort={header.sortsBy && directionOf(header.sortsBy, sort)}
							className={`${cells.cell} ${styles.title}`}
							style={header.span === undefined ? undefined : { gridColumn: `span ${header.span}` }}
							{...cellProps(column)}
						>
							<Title header={header} sort={sort} onSort={onSort} />
						</span>
					);
				})}
			</div>
		</div>
	);
}

function directionOf(column: SortColumn, sort: SortMode): 'ascending' | 'descending' | 'none' {
	const order = sortOrder(sort);
	if (order.column !== column) return 'none';
	return order.descending ? 'descending' : 'ascending';
}

function Title({ header, sort, onSort }: FileListHeaderProps & { header: Header }) {
	const { title, isHidden = false, sortsBy } = header;
	if (!sortsBy) return <span className={isHidden ? 'visually-hidden' : undefined}>{title}</span>;
	const { column, descending } = sortOrder(sort);
	return (
		<button
			type="button"
			className={styles.button}
			data-sorted={column === sortsBy || undefined}
			onClick={() => onSort(sortsBy)}
		>
			<span className={isHidden ? styles.hidden : undefined}>{title}</span>
			<span className={styles.mark} aria-hidden>
				{descending ? <CaretDownIcon size={14} /> : <CaretUpIcon size={14} />}
			</span>
		</button>
	);
}
