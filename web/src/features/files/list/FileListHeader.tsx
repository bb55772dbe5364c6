// biome-ignore-all lint/a11y/useSemanticElements: a virtualized list can't be a table
// biome-ignore-all lint/a11y/useFocusableInteractive: in a grid its rows are focused, and the buttons of its headers
import { CaretDownIcon, CaretUpIcon } from '@blueprintjs/icons';
import { type SortColumn, type SortMode, sortOrder } from '@stowage/rules';
import { filesMessages as messages } from '../messages.js';
import styles from './FileList.module.css';

export interface FileListHeaderProps {
	sort: SortMode;
	/** A header was clicked. */
	onSort: (column: SortColumn) => void;
}

/** The row of column headers; each is a button that sorts by its column. */
export function FileListHeader({ sort, onSort }: FileListHeaderProps) {
	const order = sortOrder(sort);
	return (
		<div role="row" aria-rowindex={1} className={styles.header}>
			{columns.map(({ column, className, span }) => {
				const isSorted = order.column === column;
				const direction = order.descending ? 'descending' : 'ascending';
				return (
					<span
						key={column}
						role="columnheader"
						aria-colspan={span}
						aria-sort={isSorted ? direction : 'none'}
						className={className}
					>
						<button
							type="button"
							className={styles.sortButton}
							data-sorted={isSorted || undefined}
							onClick={() => onSort(column)}
						>
							<span className={column === 'type' ? styles.sortLabelHidden : undefined}>{messages.columns[column]}</span>
							<span className={styles.sortMark} aria-hidden>
								{order.descending ? <CaretDownIcon size={14} /> : <CaretUpIcon size={14} />}
							</span>
						</button>
					</span>
				);
			})}
			<span role="columnheader" className={styles.actions}>
				<span className="visually-hidden">{messages.columns.actions}</span>
			</span>
		</div>
	);
}

const columns: readonly { column: SortColumn; className: string | undefined; span?: number }[] = [
	{ column: 'type', className: styles.type },
	{ column: 'name', className: styles.nameCell },
	{ column: 'count', className: styles.count },
	{ column: 'size', className: styles.size },
	{ column: 'time', className: styles.modified, span: 2 },
];
