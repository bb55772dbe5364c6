import type { Entry } from '@stowage/rules';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { filesMessages as messages } from '../messages.js';
import type { DialogProps } from './DialogHost.js';
import styles from './dialogs.module.css';
import { EntryPaths } from './EntryPaths.js';
import { type MoveDirection, nameItems } from './fileDialog.js';

export interface MoveDialogProps extends DialogProps {
	direction: MoveDirection;
	entries: readonly Entry[];
	onMove: () => void;
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
				onMove();
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
