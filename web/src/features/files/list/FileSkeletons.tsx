import type { View } from '../../../ui/useView.js';
import cells from './cells.module.css';
import styles from './FileSkeletons.module.css';
import { type Column, cellProps, type Table } from './table.js';

/** The widths of names in percent, one for each placeholder. */
const nameWidths = [38, 24, 52, 31, 45, 28, 60, 35, 42, 22, 48, 33];

/** Placeholders for the entries while they are loading. */
export function FileSkeletons({ view, table }: { view: View; table: Table<never> }) {
	if (view === 'grid') {
		return (
			<div className={`${styles.skeletons} ${styles.tiles}`} aria-hidden="true">
				{nameWidths.map((width) => (
					<div key={width} className={styles.tile}>
						<span className={styles.picture} />
						<span className={styles.bar} style={{ width: `${width + 20}%` }} />
					</div>
				))}
			</div>
		);
	}
	return (
		<div className={styles.skeletons} aria-hidden="true">
			{nameWidths.map((nameWidth) => (
				<div key={nameWidth} className={`${cells.line} ${styles.row}`}>
					{table.columns.map((column) => (
						<span key={column.key} className={cells.cell} {...cellProps(column)}>
							<Placeholder column={column} nameWidth={nameWidth} />
						</span>
					))}
				</div>
			))}
		</div>
	);
}

function Placeholder({ column, nameWidth }: { column: Column<never>; nameWidth: number }) {
	const { key, placeholder } = column;
	if (placeholder === undefined) return null;
	const width = placeholder === 'name' ? `${nameWidth}%` : placeholder;
	return <span className={styles.bar} data-square={key === 'type' || undefined} style={{ width }} />;
}
