import { Button, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import type { ReactNode } from 'react';
import { dialogMilliseconds, useLast, useOpenings } from '../../../ui/dialogs/dialogs.js';
import styles from './TextEditor.module.css';

/** What the editor asks, with the answers besides `Cancel`; the last one is what is usually wanted. */
export interface Question {
	title: string;
	text: ReactNode;
	answers: readonly { text: string; intent?: 'primary' | 'danger'; onClick: () => void }[];
}

export interface EditorDialogProps {
	/** Undefined closes it. */
	question: Question | undefined;
	cancel: string;
	onCancel: () => void;
	onClosed: () => void;
}

export function EditorDialog({ question, cancel, onCancel, onClosed }: EditorDialogProps) {
	const shown = useLast(question);
	const openings = useOpenings(question !== undefined);
	if (!shown) return null;
	return (
		<Dialog
			key={openings}
			className={styles.dialog}
			isOpen={question !== undefined}
			title={shown.title}
			isCloseButtonShown={false}
			transitionDuration={dialogMilliseconds}
			onClose={onCancel}
			onClosed={onClosed}
		>
			<DialogBody>{shown.text}</DialogBody>
			<DialogFooter
				actions={
					<>
						<Button text={cancel} onClick={onCancel} />
						{shown.answers.map(({ text, intent, onClick }, index) => (
							<Button
								key={text}
								text={text}
								{...(intent && { intent })}
								autoFocus={index === shown.answers.length - 1}
								onClick={onClick}
							/>
						))}
					</>
				}
			/>
		</Dialog>
	);
}
