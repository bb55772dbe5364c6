import { Checkbox } from '@blueprintjs/core';
import type { Entry } from '@stowage/rules';
import { useState } from 'react';
import { useTrashKeepFor } from '../../../api/capabilities.js';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { nameItems } from '../messages.js';
import type { Removal } from '../operations/verbs/removeEntries.js';
import { keptFor } from '../trash/keptFor.js';
import styles from './dialogs.module.css';
import { EntryPaths } from './EntryPaths.js';
import type { DialogProps } from './fileDialog.js';
import { dialogMessages as messages } from './messages.js';

export interface DeleteDialogProps extends DialogProps {
	entries: readonly Entry[];
	/** Somebody else, into whose trash they go and who alone may delete them past it; the name is undefined for several. */
	trashOf?: { owner: string | undefined } | undefined;
	onDelete: (entries: readonly Entry[], to: Removal) => void;
}

/** Asks before entries are deleted: into the trash where there is one, unless its box is checked. */
export function DeleteDialog({ entries, trashOf, onDelete, ...dialog }: DeleteDialogProps) {
	const keepFor = useTrashKeepFor();
	const [isForever, setForever] = useState(false);
	const items = nameItems(entries);
	const isKept = keepFor > 0 && !isForever;
	return (
		<FormDialog
			{...dialog}
			title={messages.delete}
			confirm={messages.delete}
			intent={isKept ? 'primary' : 'danger'}
			focusesConfirm
			onConfirm={async () => {
				onDelete(entries, isForever ? 'forever' : keepFor > 0 ? 'trash' : 'trashIfAny');
				return true;
			}}
		>
			<p className={styles.question}>{questionFor(items, keepFor, isForever, trashOf)}</p>
			<EntryPaths entries={entries} />
			<FoldersNote entries={entries} />
			{keepFor > 0 && !trashOf && (
				<Checkbox
					className={styles.box}
					label={messages.deleteForever}
					checked={isForever}
					onChange={(event) => setForever(event.currentTarget.checked)}
				/>
			)}
		</FormDialog>
	);
}

function questionFor(
	items: string,
	keepFor: number,
	isForever: boolean,
	trashOf: DeleteDialogProps['trashOf'],
): string {
	if (keepFor === 0) return messages.deleteQuestion(items);
	if (trashOf) return messages.ownersTrashNote(items, trashOf.owner, keptFor(keepFor));
	return isForever ? messages.deleteForeverQuestion(items) : messages.trashNote(items, keptFor(keepFor));
}

/** Says so if a folder is among the entries. */
export function FoldersNote({ entries }: { entries: readonly Pick<Entry, 'type'>[] }) {
	if (!entries.some(({ type }) => type === 'directory')) return null;
	return <p className={styles.note}>{messages.deleteFolders}</p>;
}
