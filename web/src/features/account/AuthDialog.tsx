import { Button, Dialog, FormGroup, InputGroup } from '@blueprintjs/core';
import { EyeOffIcon, EyeOpenIcon } from '@blueprintjs/icons';
import { passwordLength } from '@stowage/rules';
import { type FormEvent, type Ref, useEffect, useId, useRef, useState } from 'react';
import { messages } from '../../messages.js';
import { dialogMilliseconds, useOpenings } from '../../ui/dialogs/dialogs.js';
import styles from './AuthDialog.module.css';
import type { AuthForm, AuthMode } from './authForm.js';
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
	/** It has faded out, and the focus is back where it was, if that still exists. */
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
	const change = (field: 'username' | 'password' | 'confirm') => (value: string) =>
		dispatch({ type: 'changed', field, value });

	useEffect(() => {
		// The pressed button lost the focus when it was disabled.
		if (form.error !== undefined && document.activeElement === document.body) password.current?.focus();
	}, [form.error]);

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
				<p className={styles.lead}>{isLogin ? messages.signInLead : messages.signUpLead}</p>
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
						label={messages.confirmPassword}
						value={form.confirm}
						onValue={change('confirm')}
						type="password"
						autoComplete="new-password"
					/>
				)}
				<AuthError error={form.error} />
				<div className={styles.actions}>
					<Button text={messages.cancel} onClick={close} />
					<Button
						type="submit"
						intent="primary"
						text={form.isBusy ? messages.pleaseWait : title}
						disabled={!maySubmit}
					/>
				</div>
			</form>
			{isRegistrationOpen && (
				<div className={styles.other}>
					<span>{isLogin ? messages.noAccountYet : messages.haveAnAccount}</span>
					<Button
						variant="minimal"
						intent="primary"
						text={isLogin ? messages.createOne : messages.signInInstead}
						onClick={switchMode}
					/>
				</div>
			)}
		</Dialog>
	);
}

function AuthError({ error }: Pick<AuthForm, 'error'>) {
	return error === undefined ? null : (
		<div className={styles.error} role="alert">
			{error}
		</div>
	);
}

interface FieldProps {
	label: string;
	value: string;
	onValue: (value: string) => void;
	autoComplete: string;
	hint?: string;
	inputRef?: Ref<HTMLInputElement>;
}

interface TextFieldProps {
	type?: string;
	/** Focused as soon as it appears. A focus after the fade would lose the first characters that a quick user types. */
	hasFocusFirst?: boolean;
}

function TextField(props: FieldProps & TextFieldProps) {
	const { label, value, onValue, autoComplete, type = 'text', inputRef, hasFocusFirst } = props;
	const id = useId();
	return (
		<FormGroup label={label} labelFor={id}>
			<InputGroup
				id={id}
				size="large"
				type={type}
				value={value}
				onValueChange={onValue}
				autoComplete={autoComplete}
				autoCapitalize="none"
				spellCheck={false}
				autoFocus={hasFocusFirst}
				{...(inputRef ? { inputRef } : {})}
			/>
		</FormGroup>
	);
}

function PasswordField({ label, value, onValue, autoComplete, hint, inputRef }: FieldProps) {
	const id = useId();
	const [isShown, setShown] = useState(false);
	return (
		<FormGroup label={label} labelFor={id} {...(hint === undefined ? {} : { helperText: hint })}>
			<InputGroup
				id={id}
				size="large"
				type={isShown ? 'text' : 'password'}
				value={value}
				onValueChange={onValue}
				autoComplete={autoComplete}
				autoCapitalize="none"
				spellCheck={false}
				{...(inputRef ? { inputRef } : {})}
				rightElement={
					<Button
						variant="minimal"
						icon={isShown ? <EyeOffIcon /> : <EyeOpenIcon />}
						aria-label={messages.reveal}
						aria-pressed={isShown}
						title={messages.reveal}
						onClick={() => setShown(!isShown)}
					/>
				}
			/>
		</FormGroup>
	);
}
