import type { Entry, MoveDirection } from '@stowage/rules';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { nameItems } from '../messages.js';
import styles from './dialogs.module.css';
import { EntryPaths } from './EntryPaths.js';
import type { DialogProps } from './fileDialog.js';
import { dialogMessages as messages } from './messages.js';

export interface MoveDialogProps extends DialogProps {
	direction: MoveDirection;
	entries: readonly Entry[];
	onMove: (direction: MoveDirection, entries: readonly Entry[]) => void;
}

export function MoveDialog({ direction, entries, onMove, ...dialog }: MoveDialogProps) {
	const isPublic = direction === 'toPublic';
	const items = nameItems(entries);
	return (
		<FormDialog
			{...dialog}
			title={isPublic ? messages.moveToPublic : messages.moveToPrivate}
			confirm={messages.move}
			focusesConfirm
			onConfirm={async () => {
				onMove(direction, entries);
				return true;
			}}
		>
			<p className={styles.question}>
				{isPublic ? messages.moveToPublicQuestion(items) : messages.moveToPrivateQuestion(items)}
			</p>
			<EntryPaths entries={entries} />
		</FormDialog>
	);
}
