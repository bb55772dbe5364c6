import { invalidNameMessage, isValidName, trimName } from '@stowage/rules';
import { useState } from 'react';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { filesMessages as messages } from '../messages.js';
import type { DialogProps } from './fileDialog.js';
import { NameField } from './NameField.js';

export interface CreateFolderDialogProps extends DialogProps {
	/** Resolves to whether the folder was created. */
	onCreate: (name: string) => Promise<boolean>;
}

export function CreateFolderDialog({ onCreate, ...dialog }: CreateFolderDialogProps) {
	const [name, setName] = useState('');
	const [isEmptyRefused, setEmptyRefused] = useState(false);
	const isEmpty = trimName(name) === '';
	const error = isEmpty ? (isEmptyRefused ? messages.enterFolderName : undefined) : nameError(name);
	return (
		<FormDialog
			{...dialog}
			title={messages.createFolder}
			confirm={messages.create}
			onConfirm={async () => {
				setEmptyRefused(isEmpty);
				return !isEmpty && isValidName(name) && (await onCreate(name));
			}}
		>
			<NameField
				label={messages.folderName}
				placeholder={messages.newFolder}
				value={name}
				onChange={(value) => {
					setName(value);
					setEmptyRefused(false);
				}}
				error={error}
				selected={0}
			/>
		</FormDialog>
	);
}

function nameError(name: string): string | undefined {
	return isValidName(name) ? undefined : invalidNameMessage;
}
