import type { Entry } from '@stowage/rules';
import { Fragment, type ReactNode, useState } from 'react';
import { CreateFolderDialog } from './CreateFolderDialog.js';
import { DeleteDialog } from './DeleteDialog.js';
import type { FileDialog, MoveDirection, SharingDialog } from './fileDialog.js';
import { MoveDialog } from './MoveDialog.js';
import { RenameDialog } from './RenameDialog.js';

/** What every dialog of the page gets. */
export interface DialogProps {
	isOpen: boolean;
	onClose: () => void;
	onClosed: () => void;
}

export interface DialogHostProps {
	/** The one that is open. */
	dialog: FileDialog | undefined;
	onClose: () => void;
	/** It has faded out. */
	onClosed: () => void;
	/** The first two answer whether it went well; otherwise the dialog stays for another try. */
	onCreateFolder: (name: string) => Promise<boolean>;
	onRename: (entry: Entry, newName: string) => Promise<boolean>;
	onDelete: (entries: readonly Entry[]) => void;
	onMove: (direction: MoveDirection, entries: readonly Entry[]) => void;
	/** Shows what does not belong to this feature. */
	showOther: (dialog: SharingDialog, props: DialogProps) => ReactNode;
}

/** Shows the dialog that is open, and the last one while it fades out. */
export function DialogHost({ dialog, ...props }: DialogHostProps) {
	const [last, setLast] = useState({ dialog, opening: 0 });
	if (dialog && dialog !== last.dialog) setLast({ dialog, opening: last.opening + 1 });
	if (!last.dialog) return null;
	// Each opening is a new one: nothing typed into the last is left.
	return <Fragment key={last.opening}>{show(last.dialog, dialog !== undefined, props)}</Fragment>;
}

function show(
	dialog: FileDialog,
	isOpen: boolean,
	{ onClose, onClosed, ...on }: Omit<DialogHostProps, 'dialog'>,
): ReactNode {
	const common = { isOpen, onClose, onClosed };
	switch (dialog.kind) {
		case 'createFolder':
			return <CreateFolderDialog {...common} onCreate={on.onCreateFolder} />;
		case 'rename':
			return <RenameDialog {...common} entry={dialog.entry} onRename={(name) => on.onRename(dialog.entry, name)} />;
		case 'delete':
			return <DeleteDialog {...common} entries={dialog.entries} onDelete={() => on.onDelete(dialog.entries)} />;
		case 'move':
			return <MoveDialog {...common} {...dialog} onMove={() => on.onMove(dialog.direction, dialog.entries)} />;
		default:
			return on.showOther(dialog, common);
	}
}
