import { Button, Dialog } from '@blueprintjs/core';
import { passwordLength } from '@stowage/rules';
import { type FormEvent, useEffect, useRef } from 'react';
import { messages } from '../../messages.js';
import { dialogMilliseconds, useOpenings } from '../../ui/dialogs/dialogs.js';
import { FormError } from '../../ui/display/FormError.js';
import { PasswordField } from '../../ui/fields/PasswordField.js';
import { TextField } from '../../ui/fields/TextField.js';
import { isFocusLost } from '../../ui/keyboard/keptFocus.js';
import styles from './AuthDialog.module.css';
import type { AuthFieldName, AuthMode } from './authForm.js';
import { authMessages } from './messages.js';
import { useAuth } from './useAuth.js';

export interface AuthDialogProps {
	isOpen: boolean;
	mode: AuthMode;
	/** Whether it offers `Sign Up`. */
	isRegistrationOpen: boolean;
	onMode: (mode: AuthMode) => void;
	/** Cancelled; the fields are cleared. */
	onClose: () => void;
	onSignedIn: () => void;
	/** Called once it has faded out, and the focus is back where it was, if that still exists. */
	onClosed: () => void;
}

export function AuthDialog(props: AuthDialogProps) {
	const { isOpen, mode, isRegistrationOpen, onMode, onClose, onSignedIn, onClosed } = props;
	const { form, dispatch, submit, maySubmit } = useAuth(mode, onSignedIn);
	const openings = useOpenings(isOpen);
	const isLogin = mode === 'login';
	const title = isLogin ? messages.signIn : messages.signUp;
	const firstField = useRef<HTMLInputElement>(null);
	const password = useRef<HTMLInputElement>(null);
	const code = useRef<HTMLInputElement>(null);
	const button = useRef<HTMLButtonElement>(null);
	const change = (field: AuthFieldName) => (value: string) => dispatch({ type: 'changed', field, value });

	const asksForCode = form.code !== undefined;

	useEffect(() => {
		if (asksForCode) code.current?.focus();
		// The pressed button lost the focus when it was disabled, and may have it again.
		else if (form.error !== undefined && (isFocusLost() || document.activeElement === button.current))
			password.current?.focus();
		if (form.error !== undefined) code.current?.select();
	}, [asksForCode, form.error]);

	const close = () => {
		dispatch({ type: 'reset' });
		onClose();
	};
	const switchMode = () => {
		dispatch({ type: 'modeChanged' });
		onMode(isLogin ? 'register' : 'login');
		firstField.current?.focus();
	};

	return (
		<Dialog
			key={openings}
			className={styles.dialog}
			isOpen={isOpen}
			title={title}
			isCloseButtonShown={false}
			canOutsideClickClose={false}
			transitionDuration={dialogMilliseconds}
			onClose={close}
			onClosed={onClosed}
		>
			<form
				className={styles.form}
				onSubmit={(event: FormEvent) => {
					event.preventDefault();
					void submit();
				}}
			>
				<p className={styles.lead}>{isLogin ? authMessages.signInLead : authMessages.signUpLead}</p>
				<TextField
					label={messages.username}
					value={form.username}
					onValue={change('username')}
					inputRef={firstField}
					hasFocusFirst
					autoComplete="username"
				/>
				<PasswordField
					key={mode}
					label={messages.password}
					value={form.password}
					onValue={change('password')}
					inputRef={password}
					autoComplete={isLogin ? 'current-password' : 'new-password'}
					{...(isLogin ? {} : { hint: messages.passwordHint(passwordLength.min) })}
				/>
				{!isLogin && (
					<TextField
						label={authMessages.confirmPassword}
						value={form.confirm}
						onValue={change('confirm')}
						type="password"
						autoComplete="new-password"
					/>
				)}
				{form.code !== undefined && (
					<TextField
						label={messages.code}
						hint={messages.codeHint}
						value={form.code}
						onValue={change('code')}
						inputRef={code}
						isInvalid={form.isCodeWrong}
						autoComplete="one-time-code"
					/>
				)}
				{form.error !== undefined && <FormError className={styles.error}>{form.error}</FormError>}
				<div className={styles.actions}>
					<Button text={messages.cancel} onClick={close} />
					<Button
						ref={button}
						type="submit"
						intent="primary"
						text={form.isBusy ? authMessages.pleaseWait : title}
						disabled={!maySubmit}
					/>
				</div>
			</form>
			{isRegistrationOpen && (
				<div className={styles.other}>
					<span>{isLogin ? authMessages.noAccountYet : authMessages.haveAnAccount}</span>
					<Button
						variant="minimal"
						intent="primary"
						text={isLogin ? authMessages.createOne : authMessages.signInInstead}
						onClick={switchMode}
					/>
				</div>
			)}
		</Dialog>
	);
}
