import { formatDate, formatListSize, formatTime, shownName } from '@stowage/rules';
import { typeIcon } from '../../../ui/display/typeIcons.js';
import cells from '../list/cells.module.css';
import { actionsColumn, nameColumn, nameContent, typeColumn } from '../list/columns.js';
import type { Table } from '../list/table.js';
import { filesMessages as messages } from '../messages.js';
import { trashMessages } from './messages.js';
import type { TrashColumn, TrashedEntry } from './trashEntries.js';

/** What the list shows of the items of the trash. */
export const trashTable: Table<TrashedEntry, TrashColumn> = {
	columns: [
		typeColumn,
		{
			...nameColumn,
			render: (row) => {
				const { folder, mtime, deletedBy } = row.entry;
				return (
					<>
						{nameContent(row)}
						{deletedBy !== undefined && <span className={cells.owner}>{trashMessages.deletedBy(deletedBy)}</span>}
						{/* On a phone, in place of the columns that it has no room for. */}
						<span className={cells.below}>{`${formatDate(mtime)} · ${folder}`}</span>
					</>
				);
			},
		},
		{
			key: 'folder',
			header: { title: trashMessages.columns.folder, sortsBy: 'folder' },
			width: 'minmax(0, 0.5fr)',
			placeholder: 96,
			text: ({ folder }) => folder,
		},
		{
			key: 'date',
			header: { title: trashMessages.columns.deleted, sortsBy: 'deleted', span: 2 },
			width: '112px',
			placeholder: 72,
			text: ({ mtime }) => formatDate(mtime),
		},
		{ key: 'time', width: '84px', align: 'end', text: ({ mtime }) => formatTime(mtime) },
		{
			key: 'size',
			header: { title: messages.columns.size, sortsBy: 'size' },
			width: '88px',
			narrowWidth: '68px',
			align: 'end',
			placeholder: 48,
			text: ({ size }) => formatListSize(size),
		},
		actionsColumn,
	],
	labelOf(entry) {
		const { name, folder, mtime, deletedBy, size } = entry;
		const parts = [shownName(name), typeIcon(entry).label, trashMessages.from(folder)];
		parts.push(trashMessages.deletedAt(`${formatDate(mtime)} ${formatTime(mtime)}`));
		if (deletedBy !== undefined) parts.push(trashMessages.deletedBy(deletedBy));
		parts.push(formatListSize(size));
		return parts.join(', ');
	},
	detailsOf: ({ mtime, folder, deletedBy }) => ({
		column: 'date',
		text: [formatDate(mtime), deletedBy !== undefined && trashMessages.deletedBy(deletedBy), folder]
			.filter(Boolean)
			.join(' · '),
	}),
};
