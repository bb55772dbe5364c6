import { Cell, Column, ColumnHeaderCell, RenderMode, RowHeaderCell } from '@blueprintjs/table';
import { useLayoutEffect, useMemo, useRef } from 'react';
import { DataTable } from '../../../ui/display/DataTable.js';
import { previewMessages as messages } from '../messages.js';
import { isNumber } from './isNumber.js';
import styles from './TextViewer.module.css';

const rowHeight = 28;
/** More columns are not useful, and each costs time to lay out. */
const maxColumns = 500;
const minWidth = 72;
const maxWidth = 320;
const characterWidth = 8;
const sampledRows = 200;

/** Values separated by commas or tabs; their first row names the columns. */
export function TextTable({ rows }: { rows: readonly (readonly string[])[] }) {
	const container = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const element = container.current;
		const scroller = element?.querySelector('.bp6-table-quadrant-main > .bp6-table-quadrant-scroll-container');
		if (!element || !scroller) return;
		// Blueprint's table scrolls by the mouse only.
		scroller.setAttribute('tabindex', '0');
		// It measures itself whenever it is scrolled. Made anew in another size, it would lose the focus and the place where its reader is.
		const observer = new ResizeObserver(() => scroller.dispatchEvent(new Event('scroll')));
		observer.observe(element);
		return () => observer.disconnect();
	}, []);

	const [head = [], ...body] = rows;
	const columns = Math.min(
		maxColumns,
		rows.reduce((most, row) => Math.max(most, row.length), 0),
	);
	const widths = useMemo(
		() =>
			Array.from({ length: columns }, (_, column) => {
				const longest = rows.slice(0, sampledRows).reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0);
				return Math.min(maxWidth, Math.max(minWidth, longest * characterWidth + 24));
			}),
		[rows, columns],
	);
	const areNumbers = useMemo(
		() =>
			Array.from({ length: columns }, (_, column) => {
				const values = rows.slice(1, sampledRows).flatMap((row) => row[column]?.trim() || []);
				return values.length > 0 && values.every((value) => isNumber(value));
			}),
		[rows, columns],
	);
	return (
		<section ref={container} className={styles.table} aria-label={messages.columns}>
			<DataTable
				numRows={body.length}
				columnWidths={widths}
				defaultRowHeight={rowHeight}
				renderMode={RenderMode.BATCH_ON_UPDATE}
				cellRendererDependencies={[rows]}
				enableRowResizing={false}
				enableGhostCells={false}
				rowHeaderCellRenderer={(row) => <RowHeaderCell name={String(row + 1)} />}
			>
				{widths.map((_, column) => (
					<Column
						// biome-ignore lint/suspicious/noArrayIndexKey: a column is known by its place alone
						key={column}
						id={String(column)}
						columnHeaderCellRenderer={() => (
							<ColumnHeaderCell
								className={areNumbers[column] ? styles.number : undefined}
								nameRenderer={() => <span title={head[column]}>{head[column] ?? ''}</span>}
							/>
						)}
						cellRenderer={(row) => (
							<Cell className={areNumbers[column] ? styles.number : undefined}>{body[row]?.[column] ?? ''}</Cell>
						)}
					/>
				))}
			</DataTable>
		</section>
	);
}
