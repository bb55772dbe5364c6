import { useState } from 'react';
import { serverNow } from '../../../api/client/serverClock.js';
import { changeShare, type Share, useShareLimits } from '../../../api/shares.js';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { FormError } from '../../../ui/display/FormError.js';
import { shareMessages as messages } from './messages.js';
import { ShareFields } from './ShareFields.js';
import { changesOf, type FormProblem, formOf } from './shareForm.js';

export interface EditShareDialogProps {
	isOpen: boolean;
	share: Share;
	onChanged: (share: Share) => void;
	onClose: () => void;
	onClosed: () => void;
}

/** Changes what was chosen for a share but its items and what others can do with it. */
export function EditShareDialog({ isOpen, share, onChanged, onClose, onClosed }: EditShareDialogProps) {
	const [form, setForm] = useState(() => formOf(share));
	const [problem, setProblem] = useState<FormProblem>();
	const [reason, setReason] = useState<string>();
	async function save(): Promise<boolean> {
		const changes = changesOf(form, share, serverNow());
		const isWrong = 'problem' in changes;
		setProblem(isWrong ? changes : undefined);
		setReason(undefined);
		if (isWrong) return false;
		try {
			onChanged(await changeShare(share.id, changes));
			return true;
		} catch (error) {
			setReason((error as Error).message);
			return false;
		}
	}
	return (
		<FormDialog
			isOpen={isOpen}
			title={messages.editShare}
			confirm={messages.save}
			focusesConfirm
			onConfirm={save}
			onClose={onClose}
			onClosed={onClosed}
		>
			<ShareFields
				form={form}
				onChange={(changes) => setForm({ ...form, ...changes })}
				share={share}
				mayReceive={false}
				limits={useShareLimits()}
				problem={problem}
			/>
			{reason && <FormError reason={reason}>{messages.saveFailed}</FormError>}
		</FormDialog>
	);
}
