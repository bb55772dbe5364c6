import { removeTotp } from '@stowage/contract';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../../api/client/client.js';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { TextField } from '../../../ui/fields/TextField.js';
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
	const [code, setCode] = useState('');
	const field = useRef<HTMLInputElement>(null);
	const removal = useConfirmedCall({
		username,
		request: (confirmation) => call(removeTotp, { payload: { ...confirmation, code } }),
		onSuccess: onTurnedOff,
		failed: messages.turnOffFailed,
	});
	const { isCodeWrong } = removal;
	useEffect(() => {
		if (isCodeWrong) field.current?.select();
	}, [isCodeWrong]);
	return (
		<FormDialog
			isOpen={isOpen}
			title={messages.turnOffTitle}
			confirm={messages.turnOff}
			intent="danger"
			onConfirm={removal.submit}
			onClose={onClose}
			onClosed={onClosed}
		>
			<p>{messages.turnOffQuestion}</p>
			<TextField
				label={messages.code}
				hint={messages.codeHint}
				value={code}
				onValue={setCode}
				inputRef={field}
				isInvalid={isCodeWrong}
				autoComplete="one-time-code"
				hasFocusFirst
			/>
			<ConfirmedFields username={username} call={removal} />
		</FormDialog>
	);
}
