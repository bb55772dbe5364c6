import { useEffect, useRef } from 'react';
import { FormError } from '../../../ui/display/FormError.js';
import { PasswordField } from '../../../ui/fields/PasswordField.js';
import styles from './ConfirmedFields.module.css';
import { twoFactorMessages as messages } from './messages.js';
import type { ConfirmedCall } from './useConfirmedCall.js';

/** The password, once the server has asked for it, and why the last attempt failed. */
export function ConfirmedFields({ username, call }: { username: string; call: ConfirmedCall }) {
	const { password, setPassword, error, isPasswordWrong } = call;
	const field = useRef<HTMLInputElement>(null);
	const isAsked = password !== undefined;

	useEffect(() => {
		if (isAsked) field.current?.focus();
	}, [isAsked]);
	useEffect(() => {
		if (!isPasswordWrong) return;
		field.current?.focus();
		field.current?.select();
	}, [isPasswordWrong]);

	return (
		<>
			{isAsked && (
				<div className={styles.password}>
					{/* For password managers, which store a password by its user name. */}
					<input hidden readOnly type="text" autoComplete="username" value={username} />
					<PasswordField
						label={messages.currentPassword}
						hint={messages.passwordNote}
						autoComplete="current-password"
						value={password}
						onValue={setPassword}
						inputRef={field}
						isInvalid={isPasswordWrong}
					/>
				</div>
			)}
			{error !== undefined && <FormError className={styles.error}>{error}</FormError>}
		</>
	);
}
