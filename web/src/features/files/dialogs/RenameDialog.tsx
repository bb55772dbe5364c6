import { type Entry, invalidNameMessage, isValidName, splitName, trimSpaces } from '@stowage/rules';
import { useState } from 'react';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { filesMessages as messages } from '../messages.js';
import type { DialogProps } from './DialogHost.js';
import { NameField } from './NameField.js';

export interface RenameDialogProps extends DialogProps {
	entry: Entry;
	/** Answers whether it was renamed. */
	onRename: (newName: string) => Promise<boolean>;
}

/** An empty name is ignored, and so is the name that it has already (spec, section 5). */
export function RenameDialog({ entry, onRename, ...dialog }: RenameDialogProps) {
	const [name, setName] = useState(entry.name);
	const isEmpty = name.trim() === '';
	const isUnchanged = trimSpaces(name) === entry.name;
	const isValid = isUnchanged || isValidName(name);
	const base = entry.type === 'file' ? splitName(entry.name).base : entry.name;
	return (
		<FormDialog
			{...dialog}
			title={messages.rename}
			confirm={messages.rename}
			onConfirm={async () => isUnchanged || (!isEmpty && isValid && (await onRename(name)))}
		>
			<NameField
				label={messages.newName}
				value={name}
				onChange={setName}
				error={isEmpty || isValid ? undefined : invalidNameMessage}
				selected={base.length}
			/>
		</FormDialog>
	);
}
