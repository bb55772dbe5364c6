import { Button, FormGroup, InputGroup } from '@blueprintjs/core';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useSession } from '../../../api/session/useSession.js';
import { useFrame } from '../../../ui/frame.js';
import { holdTyping } from '../../../ui/unsavedWork.js';
import styles from './dialogs.module.css';
import { dialogMessages as messages } from './messages.js';

export interface NameFieldProps {
	label: string;
	value: string;
	onChange: (value: string) => void;
	/** Why the name is not valid; undefined if it is. */
	error: string | undefined;
	placeholder?: string;
	/** How many characters of the name are selected initially: the part before the extension. */
	selected: number;
	/** Whether the dialog is open. */
	isOpen: boolean;
}

/** The field of a dialog that sends nothing while `useSignInAgain` offers the sign-in: what is typed outlives the session. */
export function NameField({ label, value, onChange, error, placeholder, selected, isOpen }: NameFieldProps) {
	const id = useId();
	const errorId = useId();
	const input = useRef<HTMLInputElement>(null);
	const initial = useRef(selected);
	const [first] = useState(value);
	const hasTyped = isOpen && value !== first;
	useEffect(() => (hasTyped ? holdTyping() : undefined), [hasTyped]);
	const signIn = useSignInAgain();
	// Before any key can arrive, or it would replace what was typed by then.
	useLayoutEffect(() => input.current?.setSelectionRange(0, initial.current), []);
	return (
		<>
			<FormGroup
				label={label}
				labelFor={id}
				intent={error === undefined ? 'none' : 'danger'}
				helperText={
					error !== undefined && (
						<span id={errorId} role="alert">
							{error}
						</span>
					)
				}
			>
				<InputGroup
					id={id}
					value={value}
					size="large"
					fill
					autoFocus
					autoComplete="off"
					autoCapitalize="off"
					spellCheck={false}
					placeholder={placeholder}
					title={error}
					aria-invalid={error !== undefined}
					aria-describedby={error === undefined ? undefined : errorId}
					inputRef={input}
					onValueChange={onChange}
				/>
			</FormGroup>
			{signIn && (
				<div className={styles.ended} role="alert">
					<span>{messages.sessionEnded}</span>
					<Button text={messages.signIn} onClick={signIn} />
				</div>
			)}
		</>
	);
}

/** Opens the sign-in, once the session has ended, as in another window; undefined before. A visitor has no dialog with names. */
export function useSignInAgain(): (() => void) | undefined {
	const session = useSession();
	const { openSignIn } = useFrame();
	return session.status === 'signedOut' ? openSignIn : undefined;
}
