import { formatListSize } from '@stowage/rules';
import { useLast, useOpenings } from '../../../ui/dialogs/dialogs.js';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { DeleteForeverDialog } from '../dialogs/DeleteForeverDialog.js';
import styles from '../dialogs/dialogs.module.css';
import type { DialogProps } from '../dialogs/fileDialog.js';
import { trashMessages } from './messages.js';
import type { TrashedEntry } from './trashEntries.js';
import type { TrashOperations } from './useTrashOperations.js';

/** The open dialog of the trash. */
export type TrashDialog =
	| { kind: 'deleteForever'; entries: readonly TrashedEntry[] }
	| { kind: 'empty'; items: string; size: number };

export interface TrashDialogsProps extends Omit<DialogProps, 'isOpen'> {
	dialog: TrashDialog | undefined;
	operations: TrashOperations;
}

/** Renders the open dialog, and the last one while it fades out. */
export function TrashDialogs({ dialog, operations, ...props }: TrashDialogsProps) {
	const isOpen = dialog !== undefined;
	const shown = useLast(dialog);
	const openings = useOpenings(isOpen);
	switch (shown?.kind) {
		case 'deleteForever':
			return (
				<DeleteForeverDialog
					key={openings}
					{...props}
					isOpen={isOpen}
					entries={shown.entries}
					onDelete={() => operations.deleteForever(shown.entries)}
				/>
			);
		case 'empty':
			return (
				<FormDialog
					key={openings}
					{...props}
					isOpen={isOpen}
					title={trashMessages.emptyTrash}
					confirm={trashMessages.emptyTrash}
					intent="danger"
					focusesConfirm
					onConfirm={async () => {
						void operations.empty();
						return true;
					}}
				>
					<p className={styles.question}>{trashMessages.emptyTrashQuestion(shown.items, formatListSize(shown.size))}</p>
				</FormDialog>
			);
		default:
			return null;
	}
}
