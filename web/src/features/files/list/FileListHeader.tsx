// biome-ignore-all lint/a11y/useSemanticElements: a virtualized list can't be a table
// biome-ignore-all lint/a11y/useFocusableInteractive: in a grid its rows are focused, and the buttons of its headers
import { CaretDownIcon, CaretUpIcon } from '@blueprintjs/icons';
import cells from './cells.module.css';
import styles from './FileListHeader.module.css';
import { cellProps, type Header, type SortOrder, type Table } from './table.js';

interface SortProps<C extends string> {
	sort: SortOrder<C>;
	/** A header was clicked. */
	onSort: (column: C) => void;
}

export interface FileListHeaderProps<C extends string> extends SortProps<C> {
	table: Table<never, C>;
}

/** The row of column headers; each is a button that sorts by its column, if that is possible. */
export function FileListHeader<C extends string>({ table, sort, onSort }: FileListHeaderProps<C>) {
	return (
		<div role="rowgroup" className={styles.group}>
			<div role="row" aria-rowindex={1} className={`${cells.line} ${styles.header}`}>
				{table.columns.map((column) => {
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

function directionOf(column: string, sort: SortOrder): 'ascending' | 'descending' | 'none' {
	if (sort.column !== column) return 'none';
	return sort.descending ? 'descending' : 'ascending';
}

function Title<C extends string>({ header, sort, onSort }: SortProps<C> & { header: Header<C> }) {
	const { title, isHidden = false, sortsBy } = header;
	if (!sortsBy) return <span className={isHidden ? 'visually-hidden' : undefined}>{title}</span>;
	const { column, descending } = sort;
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
