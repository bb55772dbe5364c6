import { Button } from '@blueprintjs/core';
import { LockIcon } from '@blueprintjs/icons';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { enterPassword } from '../../api/sharePage.js';
import { FormError } from '../../ui/display/FormError.js';
import { PasswordField } from '../../ui/fields/PasswordField.js';
import { sharePageMessages as messages } from './messages.js';
import styles from './SharePassword.module.css';

export interface SharePasswordProps {
	token: string;
	/** The password was right, and the browser has not kept what opens the share. */
	needsCookies: boolean;
	/** Called if the password was right. Resolves once the share is shown, or can't be. */
	onOpened: () => Promise<unknown>;
}

/** Asks for the password of a share. */
export function SharePassword({ token, needsCookies, onOpened }: SharePasswordProps) {
	const [password, setPassword] = useState('');
	const field = useRef<HTMLInputElement>(null);
	const { mutate, isPending, error } = useMutation({
		mutationFn: async () => {
			await enterPassword(token, password);
			await onOpened();
		},
	});
	const reason = error?.message ?? (needsCookies && !isPending ? messages.needsCookies : undefined);
	useEffect(() => {
		// To be typed anew.
		if (error) field.current?.select();
	}, [error]);
	return (
		<div className={styles.place}>
			<form
				className={styles.form}
				aria-label={messages.password}
				onSubmit={(event) => {
					event.preventDefault();
					// The button keeps the focus while it waits, and a second press of Enter is not a second attempt.
					if (!isPending && password !== '') mutate();
				}}
			>
				<div className={styles.icon}>
					<LockIcon size={32} aria-hidden />
				</div>
				<h1 className={styles.title}>{messages.locked}</h1>
				<p className={styles.hint}>{messages.lockedHint}</p>
				<PasswordField
					label={messages.password}
					value={password}
					onValue={setPassword}
					inputRef={field}
					hasFocusFirst
					isInvalid={error !== null}
					autoComplete="off"
				/>
				{reason !== undefined && (
					<FormError className={styles.error} reason={reason}>
						{messages.refused}
					</FormError>
				)}
				<Button
					className={styles.open}
					type="submit"
					intent="primary"
					size="large"
					fill
					text={messages.open}
					aria-disabled={isPending || password === ''}
				/>
			</form>
		</div>
	);
}
