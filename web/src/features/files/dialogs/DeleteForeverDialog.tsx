import type { Entry } from '@stowage/rules';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { nameItems } from '../messages.js';
import { FoldersNote } from './DeleteDialog.js';
import styles from './dialogs.module.css';
import { EntryPaths } from './EntryPaths.js';
import type { DialogProps } from './fileDialog.js';
import { dialogMessages as messages } from './messages.js';

export interface DeleteForeverDialogProps extends DialogProps {
	/** Entries of a folder, or of the trash. */
	entries: readonly Pick<Entry, 'name' | 'path' | 'type'>[];
	onDelete: () => void;
}

/** Asks before entries are deleted past the trash, or from it. */
export function DeleteForeverDialog({ entries, onDelete, ...dialog }: DeleteForeverDialogProps) {
	return (
		<FormDialog
			{...dialog}
			title={messages.deleteForever}
			confirm={messages.deleteForever}
			intent="danger"
			focusesConfirm
			onConfirm={async () => {
				onDelete();
				return true;
			}}
		>
			<p className={styles.question}>{messages.deleteForeverQuestion(nameItems(entries))}</p>
			<EntryPaths entries={entries} />
			<FoldersNote entries={entries} />
		</FormDialog>
	);
}
