import { Button } from '@blueprintjs/core';
import { type Entry, shownName } from '@stowage/rules';
import { type Dispatch, type SetStateAction, useRef, useState } from 'react';
import { ListDialog, ListEmpty, ListError, ListLoading } from '../../ui/dialogs/ListDialog.js';
import { FormError } from '../../ui/display/FormError.js';
import { TextField } from '../../ui/fields/TextField.js';
import { MemberList } from './MemberList.js';
import styles from './members.module.css';
import { memberMessages as messages } from './messages.js';
import { useMembers } from './useMembers.js';

export interface MembersDialogProps {
	isOpen: boolean;
	/** A folder of the private area. */
	entry: Entry;
	onClose: () => void;
	onClosed: () => void;
}

/** Who else has a folder, and what they can do in it. Each change holds at once. */
export function MembersDialog({ isOpen, entry, onClose, onClosed }: MembersDialogProps) {
	const [typed, setTyped] = useState('');
	if (typed !== '' && !isOpen) setTyped('');
	return (
		<ListDialog
			isOpen={isOpen}
			className={styles.dialog}
			title={messages.members}
			hasTyped={typed !== ''}
			onClose={onClose}
			onClosed={onClosed}
		>
			{() => <Members entry={entry} typed={typed} setTyped={setTyped} />}
		</ListDialog>
	);
}

interface MembersProps {
	entry: Entry;
	/** The name of who is to be added. */
	typed: string;
	setTyped: Dispatch<SetStateAction<string>>;
}

function Members({ entry: { path, name }, typed, setTyped }: MembersProps) {
	const { members, error, retry, failure, done, isBusy, add, setRole, remove } = useMembers(path);
	const field = useRef<HTMLInputElement>(null);
	async function submit() {
		field.current?.focus();
		// Meanwhile the next name may have been typed.
		if (await add(typed)) setTyped((now) => (now === typed ? '' : now));
	}
	if (error) return <ListError title={messages.loadFailed} reason={error.message} onRetry={retry} />;
	if (!members) return <ListLoading label={messages.loading} />;
	return (
		<>
			<p className={styles.name}>{shownName(name)}</p>
			<p className={styles.note}>{messages.lead}</p>
			<form
				className={styles.form}
				onSubmit={(event) => {
					event.preventDefault();
					if (!isBusy) void submit();
				}}
			>
				<TextField
					label={messages.username}
					autoComplete="off"
					inputRef={field}
					hasFocusFirst
					value={typed}
					onValue={setTyped}
					isInvalid={failure?.isOfField ?? false}
				/>
				<Button type="submit" size="large" intent="primary" text={messages.add} className={styles.add} />
			</form>
			{failure && (
				<FormError className={styles.error} reason={failure.reason}>
					{failure.message}
				</FormError>
			)}
			<p className="visually-hidden" role="status">
				{done}
			</p>
			{members.length === 0 ? (
				<ListEmpty title={messages.none} hint={messages.noneHint} />
			) : (
				<MemberList members={members} onRole={setRole} onRemove={remove} onEmptied={() => field.current?.focus()} />
			)}
		</>
	);
}
