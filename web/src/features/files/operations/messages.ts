/** What operations on files say: while they run, how they ended, and why they do nothing. */
export const operationMessages = {
	/** How files come into an empty folder: a finger drops none. */
	uploadHint: { mouse: 'Drop files here to upload them.', touch: 'Upload files with Actions.' },

	refused: (name: string) => `No permission to read or change: ${name}`,

	created: (name: string) => `Created ${name}`,
	renameFailed: 'Error renaming item',
	renamed: (name: string) => `Renamed to ${name}`,

	deletedForever: (items: string) => `Deleted ${items} forever`,
	deleting: (items: string) => `Deleting ${items}`,
	deleted: (items: string) => `Deleted ${items}`,
	deletedNone: 'Failed to delete any items',
	deleteFailed: 'Error during delete operation',
	deleteCancelled: 'Delete cancelled',
	failedCount: (failed: number) => `${failed} failed.`,
	left: (items: string) => `${items} left.`,

	restored: (items: string) => `Restored ${items}`,
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
	comparing: (folder: string) => `Looking into ${folder}`,
	skipped: (items: string) => `Skipped ${items}`,
	restoringVersion: (name: string) => `Restoring ${name}`,
	versionRestored: (name: string, time: string) => `Restored ${name} as it was on ${time}`,
	restoreVersionFailed: 'The version could not be restored',
	moveCancelled: 'Move cancelled',
	cancelFailed: 'Error cancelling',
	notSignedInAnyMore: (username: string) => `${username} is not signed in any more.`,
	mayHaveBegun: 'No answer came. It may have begun all the same: see Activity before you try again.',
	goesOnSignedOut: 'The session has ended. What was begun goes on: sign in to see it in Activity.',

	notVideo: 'File is not a video',
	noVideosSelected: 'No video files selected',
	noFilesToDownload: 'No files selected for download',
} as const;
