/** The sentences of undoing. Apart from those of the list, which the page of a share has as well. */
export const undoMessages = {
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
	versionsRestored: (items: string) => `Restored what ${items} had before`,
	versionGone: (name: string) => `what “${name}” had before is not among its versions any more.`,
	replacedByMove: (name: string) => `“${name}” has replaced a file, which is among its versions now.`,
	movedAcross: (items: string) =>
		`${items} went into or out of a shared folder as a copy. The original is in the trash of its owner.`,
	replacedForGood: (name: string) => `“${name}” has replaced a file, and this server keeps no versions.`,
	noTrashForCopies: 'this server has no trash for the copies.',
	formerVersionUnknown: 'the version that it had before is not known.',
} as const;
