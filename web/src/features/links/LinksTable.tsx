import { Button } from '@blueprintjs/core';
import { Cell, Column, ColumnHeaderCell, RenderMode } from '@blueprintjs/table';
import { formatDate, formatTime, plural, shownName } from '@stowage/rules';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { serverNow } from '../../api/client/serverClock.js';
import type { TemporaryLink } from '../../api/links.js';
import { DataTable } from '../../ui/display/DataTable.js';
import styles from './LinksTable.module.css';
import { linkMessages as messages } from './messages.js';

export interface LinksTableProps {
	links: readonly TemporaryLink[];
	onRevoke: (link: TemporaryLink) => void;
}

interface TableColumn {
	/** Its header. Screen readers read it before each value too, since the table's cells have no roles. */
	title: string;
	/** The width in pixels; undefined for the column that fills the rest. */
	width?: number;
	hasVisibleTitle?: boolean;
	show: (link: TemporaryLink) => ReactNode;
}

const headerHeight = 33;
const minWidth = 640;

export function LinksTable({ links, onRevoke }: LinksTableProps) {
	const container = useRef<HTMLDivElement>(null);
	const width = useWidth(container);
	const isNarrow = width !== undefined && width < minWidth;
	const columns = isNarrow ? narrowColumns : wideColumns;
	const rowHeight = isNarrow ? 84 : 44;

	function revoke(link: TemporaryLink, pressed: HTMLElement) {
		// The buttons keep their rows, so the last one is removed. Only those on screen are there.
		const buttons = [...(container.current?.querySelectorAll<HTMLElement>('button') ?? [])];
		if (links.at(-1) === link) buttons[buttons.indexOf(pressed) - 1]?.focus();
		onRevoke(link);
	}

	const shown: TableColumn[] = [
		...columns,
		{
			title: messages.columns.revoke,
			width: 88,
			hasVisibleTitle: false,
			show: (link) => (
				<Button
					variant="minimal"
					intent="danger"
					text={messages.revoke}
					aria-label={messages.revokeLink(shownName(link.path))}
					onClick={({ currentTarget }) => revoke(link, currentTarget)}
				/>
			),
		},
	];
	const taken = shown.reduce((sum, column) => sum + (column.width ?? 0), 0);
	return (
		<section
			ref={container}
			className={styles.table}
			aria-label={messages.myLinks}
			style={{ height: links.length * rowHeight + headerHeight }}
		>
			{width !== undefined && (
				<DataTable
					// Its cells and sizes are its own state.
					key={isNarrow ? 'narrow' : 'wide'}
					numRows={links.length}
					columnWidths={shown.map((column) => column.width ?? Math.max(80, width - taken))}
					defaultRowHeight={rowHeight}
					minRowHeight={rowHeight}
					rowHeights={links.map(() => rowHeight)}
					renderMode={RenderMode.NONE}
					cellRendererDependencies={[links, width]}
					enableRowHeader={false}
					enableColumnResizing={false}
					enableRowResizing={false}
					enableMultipleSelection={false}
					enableGhostCells={false}
					selectionModes={[]}
				>
					{shown.map(({ title, hasVisibleTitle = true, show }) => (
						<Column
							key={title}
							id={title}
							name={title}
							columnHeaderCellRenderer={() => (
								<ColumnHeaderCell nameRenderer={() => <span>{hasVisibleTitle ? title : ''}</span>} />
							)}
							cellRenderer={(row) => {
								const link = links[row];
								return (
									<Cell interactive truncated={false} className={styles.cell}>
										{link && (
											<>
												{hasVisibleTitle && <span className="visually-hidden">{title} </span>}
												{show(link)}
											</>
										)}
									</Cell>
								);
							}}
						/>
					))}
				</DataTable>
			)}
		</section>
	);
}

const path = ({ path: text }: TemporaryLink) => (
	<span className={styles.path} title={shownName(text)}>
		{shownName(text)}
	</span>
);

/** The server lists those that can be followed; one of them may end while it is shown. */
const stateOf = ({ expiresAt }: TemporaryLink) => (expiresAt > serverNow() ? messages.active : messages.expired);

const time = (milliseconds: number) => (
	<span className={styles.time}>
		{formatDate(milliseconds)} <span className={styles.hour}>{formatTime(milliseconds)}</span>
	</span>
);

const wideColumns: readonly TableColumn[] = [
	{ title: messages.columns.path, show: path },
	{ title: messages.columns.state, width: 88, show: (link) => <span className={styles.note}>{stateOf(link)}</span> },
	{ title: messages.columns.created, width: 168, show: ({ createdAt }) => time(createdAt) },
	{ title: messages.columns.expires, width: 168, show: ({ expiresAt }) => time(expiresAt) },
	{
		title: messages.columns.downloads,
		width: 96,
		show: ({ downloads }) => <span className={styles.count}>{downloads}</span>,
	},
];

const narrowColumns: readonly TableColumn[] = [
	{
		title: messages.columns.path,
		show: (link) => (
			<div className={styles.lines}>
				{path(link)}
				<span className={styles.note}>{messages.expires(formatDate(link.expiresAt), formatTime(link.expiresAt))}</span>
				<span className={styles.note}>
					{stateOf(link)} · {plural(link.downloads, 'download')}
				</span>
			</div>
		),
	},
];

function useWidth(element: { current: HTMLElement | null }): number | undefined {
	const [width, setWidth] = useState<number>();
	useLayoutEffect(() => {
		const observed = element.current;
		if (!observed) return;
		setWidth(observed.clientWidth);
		const observer = new ResizeObserver(() => setWidth(observed.clientWidth));
		observer.observe(observed);
		return () => observer.disconnect();
	}, [element]);
	return width;
}
