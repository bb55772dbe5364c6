import { type Entry, invalidNameMessage, isValidName, splitName, trimName } from '@stowage/rules';
import { useState } from 'react';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import type { DialogProps } from './fileDialog.js';
import { dialogMessages as messages } from './messages.js';
import { NameField, useSignInAgain } from './NameField.js';

export interface RenameDialogProps extends DialogProps {
	entry: Entry;
	/** Resolves to whether it was renamed. */
	onRename: (entry: Entry, newName: string) => Promise<boolean>;
}

/** An empty and an unchanged name are ignored (spec, section 5). */
export function RenameDialog({ entry, onRename, ...dialog }: RenameDialogProps) {
	const [name, setName] = useState(entry.name);
	const signIn = useSignInAgain();
	const isEmpty = trimName(name) === '';
	// The current name may have white space around it, which a new name can't have.
	const isUnchanged = name === entry.name || trimName(name) === entry.name;
	const isValid = isUnchanged || isValidName(name);
	const base = entry.type === 'file' ? splitName(entry.name).base : entry.name;
	return (
		<FormDialog
			{...dialog}
			title={messages.rename}
			confirm={messages.rename}
			onConfirm={async () => {
				if (isUnchanged) return true;
				if (isEmpty || !isValid) return false;
				// Who has signed in elsewhere by now has other files.
				if (signIn) signIn();
				return !signIn && (await onRename(entry, name));
			}}
		>
			<NameField
				label={messages.newName}
				value={name}
				onChange={setName}
				error={isEmpty || isValid ? undefined : invalidNameMessage}
				selected={base.length}
				isOpen={dialog.isOpen}
			/>
		</FormDialog>
	);
}
