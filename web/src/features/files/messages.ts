import { type MemberRole, maxSearchResults, plural, shownName } from '@stowage/rules';

/** How a sentence names items: `report.pdf` or `3 items`. */
export function nameItems(items: readonly { name: string }[]): string {
	const [first] = items;
	return items.length === 1 && first ? shownName(first.name) : plural(items.length, 'item');
}

/**
 * The sentences of the file list and its menus. Those of dialogs and operations have their own modules, which guests of a share don't
 * need.
 */
export const filesMessages = {
	grid: 'Files',
	heading: (folder: string) => `Files in ${folder}`,
	upDirectory: 'Up Directory',
	columns: {
		type: 'Type',
		name: 'Name',
		count: 'Count',
		size: 'Size',
		time: 'Modified',
		actions: 'Actions',
	},
	rowActions: (name: string) => `Actions for ${name}`,
	noResults: 'No results found',
	noMatches: 'No results match filter',
	emptyFolder: 'This folder is empty.',
	nothingShared: 'Nothing is shared with you',
	nothingSharedHint: 'Folders that others make you a member of appear here.',
	emptySearch: (term: string) => `Nothing here or further down has “${term}” in its name.`,
	emptyFiltered: (term: string) =>
		term === ''
			? 'Nothing here or further down passes the filters.'
			: `Nothing here or further down has “${term}” in its name and passes the filters.`,
	emptyFilter: (letter: string) =>
		letter === '#' ? 'No name here starts with a digit.' : `No name here starts with ${letter}.`,
	showAll: 'Show all',
	missing: 'Some files are not shown: the disk that they lie on is not available right now.',
	truncated: `Only the best ${maxSearchResults.toLocaleString('en-US')} results are shown. A longer search term or a filter finds fewer.`,
	in: (folder: string) => `in ${folder}`,
	unreadable: 'The server may not read this',
	roles: { view: 'Can view', edit: 'Can edit' } satisfies Record<MemberRole, string>,
	sharedBy: (owner: string) => `shared by ${owner}`,

	loadFailed: 'Error loading files',
	noSuchFolder: 'There is no such folder, or it is not yours to see.',
	notSharedAnyMore: 'This folder has another name, is gone, or is not shared with you any more.',
	home: 'Home',
	sharedWithMe: 'Shared with Me',
	tryAgain: 'Try Again',
	offline: 'You are offline. What you see may be out of date.',
	unreachable: 'The server does not answer. Trying again…',

	restore: 'Restore',

	download: 'Download',

	notPreviewable: 'File cannot be previewed',

	dropHere: (folder: string) => `Drop to upload to ${folder}`,
} as const;
