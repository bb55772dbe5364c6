import type { Area } from '@stowage/rules';
import { Fragment, type ReactNode, useState } from 'react';
import { lazyComponent } from '../../../ui/lazyComponent.js';
import type { FileOperations } from '../operations/useFileOperations.js';
import { CreateDialog } from './CreateDialog.js';
import { DeleteDialog } from './DeleteDialog.js';
import { DeleteForeverDialog } from './DeleteForeverDialog.js';
import type { DialogProps, FileDialog, OtherDialog } from './fileDialog.js';
import { MoveDialog } from './MoveDialog.js';
import { RenameDialog } from './RenameDialog.js';

const VersionsDialog = lazyComponent(async () => (await import('../versions/VersionsDialog.js')).VersionsDialog);

export interface FileDialogsProps {
	/** The open one. */
	dialog: FileDialog | undefined;
	operations: FileOperations;
	area: Area;
	/** The owner of the shared folder on screen. */
	owner: string | undefined;
	/** Closes this one, unless another one is open by now: what it waits for may come late. */
	onClose: (dialog: FileDialog) => void;
	/** Called once it has faded out. */
	onClosed: () => void;
	/** Renders a dialog of another feature. */
	renderOther: (dialog: OtherDialog, props: DialogProps) => ReactNode;
}

/** Renders the open dialog, and the last one while it fades out. */
export function FileDialogs({ dialog, ...props }: FileDialogsProps) {
	const [last, setLast] = useState({ dialog, opening: 0 });
	if (dialog && dialog !== last.dialog) setLast({ dialog, opening: last.opening + 1 });
	if (!last.dialog) return null;
	// Keyed by its opening, so that the text typed into an earlier one is gone.
	return <Fragment key={last.opening}>{render(last.dialog, dialog !== undefined, props)}</Fragment>;
}

function render(dialog: FileDialog, isOpen: boolean, props: Omit<FileDialogsProps, 'dialog'>): ReactNode {
	const { operations, area, onClosed } = props;
	const onClose = () => props.onClose(dialog);
	const common = { isOpen, onClose, onClosed };
	switch (dialog.kind) {
		case 'create':
			return <CreateDialog {...common} {...dialog} onCreate={(name) => operations.create(dialog.what, name)} />;
		case 'rename':
			return <RenameDialog {...common} {...dialog} onRename={operations.rename} />;
		case 'delete':
			return (
				<DeleteDialog
					{...common}
					entries={dialog.entries}
					trashOf={area === 'shared' ? { owner: props.owner } : undefined}
					onDelete={operations.remove}
				/>
			);
		case 'deleteForever':
			return (
				<DeleteForeverDialog
					{...common}
					entries={dialog.entries}
					onDelete={() => operations.remove(dialog.entries, 'forever')}
				/>
			);
		case 'move':
			return <MoveDialog {...common} {...dialog} onMove={operations.moveToOtherArea} />;
		case 'versions':
			return (
				<VersionsDialog
					{...common}
					area={area}
					entry={dialog.entry}
					onRestore={operations.restoreVersion}
					onLoadFailed={() => {
						onClose();
						onClosed();
					}}
				/>
			);
		default:
			return props.renderOther(dialog, common);
	}
}
