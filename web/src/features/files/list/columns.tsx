import { LockIcon, PeopleIcon, TickIcon } from '@blueprintjs/icons';
import { type Entry, formatDate, formatListSize, formatTime, plural, type SortColumn, shownName } from '@stowage/rules';
import type { ReactNode } from 'react';
import { typeIcon } from '../../../ui/display/typeIcons.js';
import { filesMessages as messages } from '../messages.js';
import cells from './cells.module.css';
import { MenuButton } from './items/MenuButton.js';
import { membersText, nameParts, ownerText, rowLabel } from './items/rowText.js';
import type { Column, ListedEntry, Table } from './table.js';

/** The icon of an entry, whatever else a table shows. */
export const typeColumn: Column<Entry, 'type'> = {
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
};

export const nameColumn: Column<Entry, 'name'> = {
	key: 'name',
	header: { title: messages.columns.name, sortsBy: 'name' },
	width: 'minmax(0, 1fr)',
	narrowWidth: 'minmax(0, 1fr)',
	placeholder: 'name',
	render: nameContent,
};

export const actionsColumn: Column<Entry, never> = {
	key: 'actions',
	header: { title: messages.columns.actions, isHidden: true },
	width: '44px',
	narrowWidth: '40px',
	align: 'end',
	render: ({ entry }) => <MenuButton name={entry.name} className={cells.menuButton} />,
};

/** The entries of a folder or a search. */
export const folderTable: Table<Entry, SortColumn> = {
	columns: [
		typeColumn,
		nameColumn,
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
		actionsColumn,
	],
	labelOf: rowLabel,
	detailsOf(entry, where) {
		const { type, count, unreadable, size } = entry;
		const isFolder = type === 'directory';
		const items = count === undefined || unreadable ? '' : plural(count, 'item');
		const measure = isFolder ? items : formatListSize(size);
		return {
			column: isFolder ? 'count' : 'size',
			text: [measure, ownerText(entry), where].filter(Boolean).join(' · '),
		};
	},
};

/** The name of an entry, with its marks. */
export function nameContent({ entry, mayDrag, where }: ListedEntry): ReactNode {
	const { head, tail } = nameParts(entry.name);
	return (
		<>
			<span
				className={cells.name}
				data-part="name"
				draggable={mayDrag}
				title={entry.name.length > 32 ? shownName(entry.name) : undefined}
			>
				<bdi className={cells.nameHead}>{head}</bdi>
				{tail !== '' && <span className={cells.nameTail}>{tail}</span>}
			</span>
			{entry.unreadable && (
				<span className={cells.lock} title={messages.unreadable} data-part="lock">
					<LockIcon size={14} aria-hidden />
				</span>
			)}
			{entry.members !== undefined && (
				<span className={cells.lock} title={membersText(entry.members)} data-part="members">
					<PeopleIcon size={14} aria-hidden />
				</span>
			)}
			{entry.owner && <span className={cells.owner}>{ownerText(entry)}</span>}
			{where !== undefined && <span className={cells.where}>{where}</span>}
		</>
	);
}
