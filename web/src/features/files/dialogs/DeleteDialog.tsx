import type { Entry } from '@stowage/rules';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { filesMessages as messages } from '../messages.js';
import type { DialogProps } from './DialogHost.js';
import styles from './dialogs.module.css';
import { EntryPaths } from './EntryPaths.js';
import { nameItems } from './fileDialog.js';

export interface DeleteDialogProps extends DialogProps {
	entries: readonly Entry[];
	onDelete: () => void;
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
				onDelete();
				return true;
			}}
		>
			<p className={styles.question}>{messages.deleteQuestion(nameItems(entries))}</p>
			<EntryPaths entries={entries} />
			{hasFolder && <p className={styles.note}>{messages.deleteFolders}</p>}
		</FormDialog>
	);
}
