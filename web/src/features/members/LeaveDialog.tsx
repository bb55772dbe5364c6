import { type Entry, shownName } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { leaveFolder } from '../../api/members.js';
import { queryKeys } from '../../api/queryKeys.js';
import { FormDialog } from '../../ui/dialogs/FormDialog.js';
import { FormError } from '../../ui/display/FormError.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import styles from './members.module.css';
import { memberMessages as messages } from './messages.js';

export interface LeaveDialogProps {
	isOpen: boolean;
	/** A row of the list of shared folders. */
	entry: Entry;
	onClose: () => void;
	onClosed: () => void;
}

/** Asks before the user's membership of a folder ends. */
export function LeaveDialog({ isOpen, entry, onClose, onClosed }: LeaveDialogProps) {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const [reason, setReason] = useState<string>();
	const name = shownName(entry.name);
	async function leave(): Promise<boolean> {
		try {
			await leaveFolder(entry.path);
		} catch (error) {
			setReason((error as Error).message);
			return false;
		} finally {
			void queryClient.invalidateQueries({ queryKey: queryKeys.listings.area('shared') });
		}
		notify({ intent: 'success', message: messages.left(name) });
		return true;
	}
	return (
		<FormDialog
			isOpen={isOpen}
			title={messages.leave}
			confirm={messages.leave}
			intent="danger"
			focusesConfirm
			onConfirm={leave}
			onClose={onClose}
			onClosed={onClosed}
		>
			<p className={styles.question}>{messages.leaveQuestion(name, entry.owner ?? '')}</p>
			<p className={styles.note}>{messages.leaveNote}</p>
			{reason !== undefined && <FormError reason={reason}>{messages.leaveFailed(name)}</FormError>}
		</FormDialog>
	);
}
