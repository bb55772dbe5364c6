/** The sentences of the trash, which no other page needs. */
export const trashMessages = {
	trash: 'Trash',
	emptyTrash: 'Empty Trash',
	columns: { folder: 'Original folder', deleted: 'Deleted' },
	from: (folder: string) => `from ${folder}`,
	trashKeptFor: (keptFor: string) => `Items are deleted forever after ${keptFor}.`,
	noTrash: 'This server keeps no deleted files.',
	trashEmpty: 'The trash is empty',
	trashEmptyHint: 'What you delete is kept here until it is deleted forever.',
	trashTruncated: 'Only the newest items are shown.',
	deletedAt: (time: string) => `deleted ${time}`,
	deletedBy: (username: string) => `deleted by ${username}`,
	restoring: (items: string) => `Restoring ${items}`,
	restoreFailed: (items: string) => `${items} could not be restored`,
	restoreCancelled: 'Restore cancelled',
	show: 'Show',
	emptyTrashQuestion: (items: string, size: string) =>
		`Delete all that is in the trash forever (${items}, ${size})? This cannot be undone.`,
	emptying: 'Emptying the trash',
	emptied: 'The trash is empty now',
	emptyFailed: 'The trash could not be emptied',
	moreThan: (items: string) => `more than ${items}`,
};
