import type { Entry } from '@stowage/rules';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { filesMessages as messages, nameItems } from '../messages.js';
import styles from './dialogs.module.css';
import { EntryPaths } from './EntryPaths.js';
import type { DialogProps } from './fileDialog.js';

export interface DeleteDialogProps extends DialogProps {
	entries: readonly Entry[];
	onDelete: (entries: readonly Entry[]) => void;
}

export function DeleteDialog({ entries, onDelete, ...dialog }: DeleteDialogProps) {
	const hasFolder = entries.some(({ type }) => type === 'directory');
	return (
		<FormDialog
			{...dialog}
			title={messages.delete}
			confirm={messages.delete}
			intent="danger"
			focusesConfirm
			onConfirm={async () => {
				onDelete(entries);
				return true;
			}}
		>
			<p className={styles.question}>{messages.deleteQuestion(nameItems(entries))}</p>
			<EntryPaths entries={entries} />
			{hasFolder && <p className={styles.note}>{messages.deleteFolders}</p>}
		</FormDialog>
	);
}
