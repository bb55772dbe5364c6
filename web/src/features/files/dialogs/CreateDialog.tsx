import { invalidNameMessage, isValidName, trimName } from '@stowage/rules';
import { useState } from 'react';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import type { DialogProps } from './fileDialog.js';
import { dialogMessages as messages } from './messages.js';
import { NameField, useSignInAgain } from './NameField.js';

export interface CreateDialogProps extends DialogProps {
	what: 'file' | 'folder';
	/** Resolves to whether it was created. */
	onCreate: (name: string) => Promise<boolean>;
}

export function CreateDialog({ what, onCreate, ...dialog }: CreateDialogProps) {
	const texts = messages.createDialog[what];
	const [name, setName] = useState('');
	const [isEmptyRefused, setEmptyRefused] = useState(false);
	const signIn = useSignInAgain();
	const isEmpty = trimName(name) === '';
	const error = isEmpty ? (isEmptyRefused ? texts.enterName : undefined) : nameError(name);
	return (
		<FormDialog
			{...dialog}
			title={texts.title}
			confirm={messages.create}
			onConfirm={async () => {
				setEmptyRefused(isEmpty);
				if (isEmpty || !isValidName(name)) return false;
				// Who has signed in elsewhere by now has other files.
				if (signIn) signIn();
				return !signIn && (await onCreate(name));
			}}
		>
			<NameField
				label={texts.name}
				placeholder={texts.placeholder}
				value={name}
				onChange={(value) => {
					setName(value);
					setEmptyRefused(false);
				}}
				error={error}
				selected={0}
				isOpen={dialog.isOpen}
			/>
		</FormDialog>
	);
}

function nameError(name: string): string | undefined {
	return isValidName(name) ? undefined : invalidNameMessage;
}
