import { Button } from '@blueprintjs/core';
import { FormError } from '../../../ui/display/FormError.js';
import { editorMessages as messages } from './messages.js';
import styles from './TextEditor.module.css';

export interface EditorTroubleProps {
	error: Error | undefined;
	/** Who began to edit, and who is signed in now. */
	owner: string | undefined;
	username: string | undefined;
	isChecked: boolean;
	onSignIn: () => void;
}

/** Why the text is not saved, and that it is not lost. */
export function EditorTrouble({ error, owner, username, isChecked, onSignIn }: EditorTroubleProps) {
	if (isChecked && owner !== username) {
		return (
			<div className={styles.trouble} role="alert">
				<span>{username === undefined ? messages.sessionEnded : messages.otherUser(owner ?? '')}</span>
				<Button text={messages.signIn} onClick={onSignIn} />
			</div>
		);
	}
	if (!error) return null;
	return (
		<FormError className={styles.error} reason={error.message}>
			{messages.saveFailed}
		</FormError>
	);
}
