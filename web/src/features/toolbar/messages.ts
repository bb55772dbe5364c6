import type { MemberRole } from '@stowage/rules';

/** The words of the toolbar. */
export const toolbarMessages = {
	home: 'Home',
	membership: (owner: string, role: MemberRole) => `${owner} · ${role === 'view' ? 'Can view' : 'Can edit'}`,
	settings: 'Settings',
	breadcrumbs: 'Breadcrumbs',
	letters: 'Filter by first letter',
	selected: (count: number) => `${count} Selected`,
	clearSelection: 'Clear selection',
	hint: 'Ctrl+Click to select',
	touchHint: { list: 'Tap an icon to select', grid: 'Tap a circle to select' },
	view: 'View',
	list: 'List',
	grid: 'Grid',
	actions: 'Actions',
	toolbar: 'Folder',
	trash: 'Trash',
	trashSummary: (items: string, size: string) => `${items}, ${size}`,
	trashHint: 'Select items to restore them',
	downloadAll: 'Download all',
	download: 'Download',
	restore: 'Restore',
	deleteForever: 'Delete forever',
	emptyTrash: 'Empty Trash',
} as const;
