/** The sentences of the dialogs about files. */
export const dialogMessages = {
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

	rename: 'Rename',
	newName: 'New name',
	sessionEnded: 'Your session has ended. Sign in again to go on; what you have typed is kept.',
	signIn: 'Sign In',

	delete: 'Delete',
	deleteQuestion: (items: string) => `Delete ${items}? This cannot be undone.`,
	trashNote: (items: string, keptFor: string) =>
		`${items} will be moved to the trash and deleted forever after ${keptFor}.`,
	ownersTrashNote: (items: string, owner: string | undefined, keptFor: string) =>
		`${items} will be moved to the trash of ${owner ?? 'its owner'} and deleted forever after ${keptFor}.`,
	deleteForever: 'Delete forever',
	deleteForeverQuestion: (items: string) => `Delete ${items} forever? This cannot be undone.`,
	deleteFolders: 'A folder goes with everything in it.',

	move: 'Move',
	moveToPublic: 'Move to Public',
	moveToPublicQuestion: (items: string) => `Move ${items} to the public area? Anyone with the link can read it there.`,
	moveToPrivate: 'Move back to Private',
	moveToPrivateQuestion: (items: string) => `Move ${items} back to your private files? Public links stop working.`,

	alreadyThere: 'Already there',
	isAlreadyThere: (name: string, folder: string) => `“${name}” is already in ${folder}.`,
	there: 'There',
	new: 'New',
	file: 'File',
	folder: 'Folder',
	foldersStay: 'A folder is never replaced.',
	replacedKept: (keptFor: string) => `A file that is replaced can be restored from its versions for ${keptFor}.`,
	replacedInTrash: 'A file that is replaced goes to the trash of the folder’s owner, who can restore it.',
	replacedGone: 'A file that is replaced cannot be restored.',
	doThisForAll: 'Do this for all',
	moreTaken: (count: number) => `${count} more ${count === 1 ? 'name is' : 'names are'} taken`,
	keepBoth: 'Keep both',
	replace: 'Replace',
	skip: 'Skip',

	cancel: 'Cancel',
} as const;
