import { maxSearchResults, plural } from '@stowage/rules';

/** How a sentence names items: `report.pdf` or `3 items`. */
export function nameItems(items: readonly { name: string }[]): string {
	const [first] = items;
	return items.length === 1 && first ? first.name : plural(items.length, 'item');
}

/** The sentences of the file list, its menus and dialogs. */
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
		folder: 'Original folder',
		deleted: 'Deleted',
		actions: 'Actions',
	},
	rowActions: (name: string) => `Actions for ${name}`,
	noResults: 'No results found',
	noMatches: 'No results match filter',
	emptyFolder: 'This folder is empty.',
	emptyHint: 'Drop files here to upload them.',
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
	refused: (name: string) => `No permission to read or change: ${name}`,

	loadFailed: 'Error loading files',
	noSuchFolder: 'There is no such folder, or it is not yours to see.',
	home: 'Home',
	tryAgain: 'Try Again',
	offline: 'You are offline. What you see may be out of date.',
	unreachable: 'The server does not answer. Trying again…',

	createDialog: {
		folder: {
			title: 'Create Folder',
			name: 'Folder name',
			placeholder: 'New folder',
			enterName: 'Please enter a folder name',
			failed: 'Error creating folder',
		},
		file: {
			title: 'Create File',
			name: 'File name',
			placeholder: 'New file.txt',
			enterName: 'Please enter a file name',
			failed: 'Error creating file',
		},
	},
	create: 'Create',
	created: (name: string) => `Created ${name}`,

	rename: 'Rename',
	newName: 'New name',
	renameFailed: 'Error renaming item',
	renamed: (name: string) => `Renamed to ${name}`,

	delete: 'Delete',
	deleteQuestion: (items: string) => `Delete ${items}? This cannot be undone.`,
	trashNote: (items: string, keptFor: string) =>
		`${items} will be moved to the trash and deleted forever after ${keptFor}.`,
	deleteForever: 'Delete forever',
	deleteForeverQuestion: (items: string) => `Delete ${items} forever? This cannot be undone.`,
	deletedForever: (items: string) => `Deleted ${items} forever`,
	deleteFolders: 'A folder goes with everything in it.',
	deleting: (items: string) => `Deleting ${items}`,
	deleted: (items: string) => `Deleted ${items}`,
	deletedNone: 'Failed to delete any items',
	deleteFailed: 'Error during delete operation',
	deletedSome: (done: string, failed: number, reason = '') => `Deleted ${done}. ${failed} failed. ${reason}`,

	trash: 'Trash',
	trashKeptFor: (keptFor: string) => `Items are deleted forever after ${keptFor}.`,
	noTrash: 'This server keeps no deleted files.',
	trashEmpty: 'The trash is empty',
	trashEmptyHint: 'What you delete is kept here until it is deleted forever.',
	trashTruncated: 'Only the newest items are shown.',
	from: (folder: string) => `from ${folder}`,
	deletedAt: (time: string) => `deleted ${time}`,
	deletedBy: (username: string) => `deleted by ${username}`,
	restore: 'Restore',
	restoring: (items: string) => `Restoring ${items}`,
	restored: (items: string) => `Restored ${items}`,
	restoreFailed: (items: string) => `${items} could not be restored`,
	show: 'Show',

	undo: 'Undo',
	undoing: (items: string) => `Undoing: ${items}`,
	undoCancelled: 'Undo cancelled',
	nothingToUndo: 'Nothing to undo',
	movedBack: (items: string) => `Moved ${items} back`,
	renamedBack: (name: string) => `Renamed back to ${name}`,
	discarded: (items: string) => `Moved ${items} to the trash`,
	cannotUndo: (reason: string) => `Cannot undo: ${reason}`,
	cannotUndoFor: (items: string) => `Cannot undo for ${items}`,
	notInTrash: (name: string) => `"${name}" is not in the trash any more.`,
	notThere: (name: string, folder: string) => `"${name}" is not in ${folder} any more.`,
	wasDeletedForever: 'what is deleted forever cannot be restored.',
	namesUnknown: 'the new names of the items are not all known.',
	noTrashForCopies: 'this server has no trash for the copies.',

	emptyTrash: 'Empty Trash',
	emptyTrashQuestion: (items: string, size: string) =>
		`Delete all that is in the trash forever (${items}, ${size})? This cannot be undone.`,
	emptying: 'Emptying the trash',
	emptied: 'The trash is empty now',
	emptyFailed: 'The trash could not be emptied',

	move: 'Move',
	moveToPublic: 'Move to Public',
	moveToPublicQuestion: (items: string) => `Move ${items} to the public area? Anyone with the link can read it there.`,
	moveToPrivate: 'Move back to Private',
	moveToPrivateQuestion: (items: string) => `Move ${items} back to your private files? Public links stop working.`,
	moving: (items: string) => `Moving ${items}`,
	moved: (items: string) => `Moved ${items}`,
	movedToPublic: (items: string) => `Moved ${items} to public`,
	movedToPrivate: (items: string) => `Moved ${items} back to private`,
	moveFailed: 'Failed to move items',
	moveToPublicFailed: 'Error moving items to public',
	moveToPrivateFailed: 'Failed to move items back to private',

	cut: (items: string) => `Cut ${items}`,
	copied: (items: string) => `Copied ${items}`,
	nothingToCut: 'No items selected to cut/copy',
	nothingToPaste: 'Nothing to paste',
	pasting: (items: string) => `Pasting ${items}`,
	pasteFailed: 'Failed to paste items',
	pasteError: 'Error pasting items',
	pasted: (items: string) => `Pasted ${items}`,
	pasteCancelled: 'Paste cancelled',
	moveCancelled: 'Move cancelled',
	cancelFailed: 'Error cancelling',
	goesOnSignedOut: 'The session has ended. What was begun goes on: sign in to see it in Activity.',

	notPreviewable: 'File cannot be previewed',
	notVideo: 'File is not a video',
	noVideosSelected: 'No video files selected',
	noFilesToDownload: 'No files selected for download',

	dropHere: (folder: string) => `Drop to upload to ${folder}`,

	cancel: 'Cancel',
} as const;
