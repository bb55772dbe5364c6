import { Button, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { type ReactNode, useRef, useState } from 'react';
import { dialogMilliseconds, useLast, useOpenings } from '../../../ui/dialogs/dialogs.js';
import styles from './TextEditor.module.css';

/** What the editor asks, with the answers besides `Cancel`; the last one is what is usually wanted. */
export interface Question {
	title: string;
	text: ReactNode;
	answers: readonly Answer[];
}

export interface Answer {
	text: string;
	intent?: 'primary' | 'danger';
	/** Resolves once it is done, until when nothing can be typed and no other answer be given. */
	onClick: () => Promise<void>;
}

export interface EditorDialogProps {
	/** Undefined closes it. */
	question: Question | undefined;
	cancel: string;
	/** Also while an answer is under way, which then goes on. */
	onCancel: () => void;
	/** An answer is done. */
	onAnswered: (question: Question) => void;
	onClosed: () => void;
}

export function EditorDialog({ question, cancel, onCancel, onAnswered, onClosed }: EditorDialogProps) {
	const shown = useLast(question);
	const openings = useOpenings(question !== undefined);
	const [given, setGiven] = useState<{ question: Question; answer: Answer }>();
	const cancelButton = useRef<HTMLButtonElement>(null);
	if (!shown) return null;
	const underWay = given?.question === shown ? given.answer : undefined;

	async function give(answer: Answer): Promise<void> {
		// While it fades out it is not asked any more.
		if (underWay || !question) return;
		// A disabled button that has the focus swallows every key, Escape too.
		cancelButton.current?.focus();
		setGiven({ question, answer });
		try {
			await answer.onClick();
		} finally {
			setGiven((current) => (current?.question === question ? undefined : current));
			onAnswered(question);
		}
	}

	return (
		<Dialog
			key={openings}
			className={styles.dialog}
			isOpen={question !== undefined}
			title={shown.title}
			isCloseButtonShown={false}
			canOutsideClickClose={!underWay}
			transitionDuration={dialogMilliseconds}
			onClose={onCancel}
			onClosed={onClosed}
		>
			<DialogBody>{shown.text}</DialogBody>
			<DialogFooter
				actions={
					<>
						<Button ref={cancelButton} text={cancel} onClick={onCancel} />
						{shown.answers.map((answer, index) => (
							<Button
								key={answer.text}
								text={answer.text}
								{...(answer.intent && { intent: answer.intent })}
								autoFocus={index === shown.answers.length - 1}
								loading={answer === underWay}
								disabled={underWay !== undefined}
								onClick={() => void give(answer)}
							/>
						))}
					</>
				}
			/>
		</Dialog>
	);
}
