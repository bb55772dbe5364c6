import { LockIcon, TickIcon } from '@blueprintjs/icons';
import { type Entry, formatDate, formatListSize, formatTime, type SortColumn } from '@stowage/rules';
import type { CSSProperties, ReactNode } from 'react';
import { typeIcon } from '../../../ui/display/typeIcons.js';
import { rowHeight } from '../layout/layout.js';
import { filesMessages as messages } from '../messages.js';
import cells from './cells.module.css';
import { MenuButton } from './items/MenuButton.js';
import { nameParts } from './items/rowText.js';

/** An entry as a row shows it. */
export interface ListedEntry {
	entry: Entry;
	isSelected: boolean;
	mayDrag: boolean;
	/** Where it lies, for a search result. */
	where: string | undefined;
}

interface Layout {
	key: 'type' | 'name' | 'count' | 'size' | 'date' | 'time' | 'actions';
	/** Undefined below a header that spans this column too. */
	header?: Header;
	/** A track of `grid-template-columns`. */
	width: string;
	/** The same on a screen of less than 600 px; undefined if the column is not shown there. */
	narrowWidth?: string;
	/** @default 'start' */
	align?: 'start' | 'end';
	/** The width of its placeholder while the entries are loading, in pixels; `name` for one of many widths; none by default. */
	placeholder?: number | 'name';
}

/** The content of its cells. */
type Content = { text: (entry: Entry) => string } | { render: (row: ListedEntry) => ReactNode };

export type Column = Layout & Content;

export interface Header {
	title: string;
	/** The list has no room for the title, which is only read out. Above tiles that of a button is shown. */
	isHidden?: boolean;
	/** A click sorts by this. */
	sortsBy?: SortColumn;
	/** How many columns it spans. @default 1 */
	span?: number;
}

/** The columns of the list in their order. Rows, headers, tiles, placeholders and style sheets all have them from here. */
export const columns: readonly Column[] = [
	{
		key: 'type',
		header: { title: messages.columns.type, isHidden: true, sortsBy: 'type' },
		width: '44px',
		narrowWidth: '40px',
		placeholder: 16,
		render: ({ entry, isSelected }) => {
			const { Icon, hue } = typeIcon(entry);
			return (
				<span className={cells.icon} data-hue={hue}>
					{isSelected ? <TickIcon size={16} aria-hidden /> : <Icon size={16} aria-hidden />}
				</span>
			);
		},
	},
	{
		key: 'name',
		header: { title: messages.columns.name, sortsBy: 'name' },
		width: 'minmax(0, 1fr)',
		narrowWidth: 'minmax(0, 1fr)',
		placeholder: 'name',
		render: nameContent,
	},
	{
		key: 'count',
		header: { title: messages.columns.count, sortsBy: 'count' },
		width: '72px',
		narrowWidth: '52px',
		align: 'end',
		text: ({ count, unreadable }) => (unreadable ? '' : (count?.toLocaleString('en-US') ?? '')),
	},
	{
		key: 'size',
		header: { title: messages.columns.size, sortsBy: 'size' },
		width: '88px',
		narrowWidth: '68px',
		align: 'end',
		placeholder: 48,
		text: ({ type, size }) => (type === 'file' ? formatListSize(size) : ''),
	},
	{
		key: 'date',
		header: { title: messages.columns.time, sortsBy: 'time', span: 2 },
		width: '112px',
		placeholder: 72,
		text: ({ mtime }) => formatDate(mtime),
	},
	{ key: 'time', width: '84px', align: 'end', text: ({ mtime }) => formatTime(mtime) },
	{
		key: 'actions',
		header: { title: messages.columns.actions, isHidden: true },
		width: '44px',
		narrowWidth: '40px',
		align: 'end',
		render: ({ entry }) => <MenuButton name={entry.name} className={cells.menuButton} />,
	},
];

/** The place of a column among all, from 1, as ARIA counts them. */
export function columnIndex(key: Column['key']): number {
	return columns.findIndex((column) => column.key === key) + 1;
}

/** How many columns there are from this one to the last, for a cell that spans all of them. */
export function columnsFrom(key: Column['key']): number {
	return columns.length - columnIndex(key) + 1;
}

/** The attributes by which `cells.module.css` lays out a cell of a column, or its header. */
export function cellProps({ key, align = 'start', narrowWidth }: Column) {
	return {
		'data-column': key,
		'data-align': align,
		'data-wide': narrowWidth === undefined || undefined,
	};
}

/** The sizes that `cells.module.css` reads, for the element around all lines. */
export const columnSizes: CSSProperties & Record<`--${string}`, string> = {
	'--row-height': `${rowHeight}px`,
	'--wide-columns': columns.map(({ width }) => width).join(' '),
	'--narrow-columns': columns.flatMap(({ narrowWidth }) => narrowWidth ?? []).join(' '),
};

function nameContent({ entry, mayDrag, where }: ListedEntry): ReactNode {
	const { head, tail } = nameParts(entry.name);
	return (
		<>
			<span
				className={cells.name}
				data-part="name"
				draggable={mayDrag}
				title={entry.name.length > 32 ? entry.name : undefined}
			>
				<bdi className={cells.nameHead}>{head}</bdi>
				{tail !== '' && <span className={cells.nameTail}>{tail}</span>}
			</span>
			{entry.unreadable && (
				<span className={cells.lock} title={messages.unreadable} data-part="lock">
					<LockIcon size={14} aria-hidden />
				</span>
			)}
			{entry.owner && <span className={cells.owner}>{entry.owner}</span>}
			{where !== undefined && <span className={cells.where}>{where}</span>}
		</>
	);
}
