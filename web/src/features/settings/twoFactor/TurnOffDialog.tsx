import { removeTotp } from '@stowage/contract';
import { call } from '../../../api/client/client.js';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { ConfirmedFields } from './ConfirmedFields.js';
import { twoFactorMessages as messages } from './messages.js';
import { useConfirmedCall } from './useConfirmedCall.js';

export interface TurnOffDialogProps {
	isOpen: boolean;
	username: string;
	onTurnedOff: () => void;
	onClose: () => void;
	onClosed: () => void;
}

export function TurnOffDialog({ isOpen, username, onTurnedOff, onClose, onClosed }: TurnOffDialogProps) {
	const removal = useConfirmedCall({
		request: (payload) => call(removeTotp, { payload }),
		onSuccess: onTurnedOff,
		failed: messages.turnOffFailed,
	});
	return (
		<FormDialog
			isOpen={isOpen}
			title={messages.turnOffTitle}
			confirm={messages.turnOff}
			intent="danger"
			focusesConfirm
			onConfirm={removal.submit}
			onClose={onClose}
			onClosed={onClosed}
		>
			<p>{messages.turnOffQuestion}</p>
			<ConfirmedFields username={username} call={removal} />
		</FormDialog>
	);
}
