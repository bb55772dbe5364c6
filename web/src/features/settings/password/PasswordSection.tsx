import { Button } from '@blueprintjs/core';
import { passwordLength } from '@stowage/rules';
import { useEffect, useId, useRef } from 'react';
import { messages as pageMessages } from '../../../messages.js';
import { FormFields } from '../../../ui/dialogs/FormFields.js';
import { FormError } from '../../../ui/display/FormError.js';
import { PasswordField } from '../../../ui/fields/PasswordField.js';
import { TextField } from '../../../ui/fields/TextField.js';
import { accountMessages as messages } from '../messages.js';
import { type Hold, Section, useHold } from '../Section.js';
import styles from './PasswordSection.module.css';
import { isEmpty, type PasswordFieldName } from './passwordForm.js';
import { usePasswordForm } from './usePasswordForm.js';

export function PasswordSection({ username, hold }: { username: string; hold: Hold }) {
	const { form, dispatch, submit, maySubmit } = usePasswordForm(username);
	const { error } = form;
	useHold(hold, !isEmpty(form));
	const noteId = useId();
	const title = useRef<HTMLHeadingElement>(null);
	const button = useRef<HTMLButtonElement>(null);
	const inputs = {
		current: useRef<HTMLInputElement>(null),
		new: useRef<HTMLInputElement>(null),
		confirm: useRef<HTMLInputElement>(null),
	};
	const field = (name: PasswordFieldName) => ({
		value: form[name],
		onValue: (value: string) => dispatch({ type: 'typed', field: name, value }),
		inputRef: inputs[name],
		isInvalid: error?.field === name,
	});

	const refused = error?.field && inputs[error.field];
	useEffect(() => {
		if (error) (refused ?? button).current?.focus();
		refused?.current?.select();
	}, [error, refused]);

	return (
		<Section title={messages.password} titleRef={title}>
			<form
				className={styles.form}
				tabIndex={-1}
				onSubmit={(event) => {
					event.preventDefault();
					// It is disabled then, and a disabled button that has the focus swallows every key.
					if (document.activeElement === button.current) title.current?.focus();
					submit();
				}}
			>
				{/* For password managers, which store a password by its user name. */}
				<input hidden readOnly type="text" autoComplete="username" value={username} />
				<FormFields isBusy={form.isBusy}>
					<PasswordField label={messages.currentPassword} autoComplete="current-password" {...field('current')} />
					<div className={styles.pair}>
						<PasswordField
							label={messages.newPassword}
							autoComplete="new-password"
							hint={pageMessages.passwordHint(passwordLength.min)}
							{...field('new')}
						/>
						<TextField
							label={messages.confirmNewPassword}
							type="password"
							autoComplete="new-password"
							{...field('confirm')}
						/>
					</div>
				</FormFields>
				{error && <FormError className={styles.error}>{error.message}</FormError>}
				<div className={styles.actions}>
					<Button
						ref={button}
						type="submit"
						text={messages.changePassword}
						aria-describedby={noteId}
						disabled={!maySubmit}
						loading={form.isBusy}
					/>
					<p className={styles.note} id={noteId}>
						{messages.passwordNote}
					</p>
				</div>
			</form>
		</Section>
	);
}
