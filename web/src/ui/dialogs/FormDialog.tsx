import { Button, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { type FormEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { messages } from '../../messages.js';
import { dialogMilliseconds } from './dialogs.js';
import styles from './FormDialog.module.css';
import { FormFields } from './FormFields.js';
import { useTyping } from './useTyping.js';

export interface FormDialogProps {
	isOpen: boolean;
	title: string;
	/** The text of the confirming button. */
	confirm: string;
	/** @default 'primary' */
	intent?: 'primary' | 'danger';
	/**
	 * Resolves to false if the dialog is to stay open for another attempt. What resolves after it was closed closes no
	 * other one.
	 */
	onConfirm: () => Promise<boolean>;
	onClose: () => void;
	/** Called once it has faded out, and the focus is back where it was, if that still exists. */
	onClosed: () => void;
	/** The confirming button has the focus initially, for a dialog without fields. @default false */
	focusesConfirm?: boolean;
	children: ReactNode;
}

/**
 * A dialog with `Cancel` and a confirming button, which Enter presses as well. While `onConfirm` runs the button shows
 * that it is busy, and its fields can't be changed.
 */
export function FormDialog(props: FormDialogProps) {
	const {
		isOpen,
		title,
		confirm,
		intent = 'primary',
		onConfirm,
		onClose,
		onClosed,
		focusesConfirm = false,
		children,
	} = props;
	const [isBusy, setBusy] = useState(false);
	const { hasTyped, onInput } = useTyping(isOpen);
	const form = useRef<HTMLFormElement>(null);
	const button = useRef<HTMLButtonElement>(null);
	useEffect(() => {
		if (!isBusy && document.activeElement === form.current) button.current?.focus();
	}, [isBusy]);
	const opening = useRef<object>(undefined);
	useLayoutEffect(() => {
		if (!isOpen) return;
		opening.current = {};
		return () => {
			opening.current = undefined;
		};
	}, [isOpen]);
	async function submit(event: FormEvent) {
		event.preventDefault();
		const answered = opening.current;
		// While it fades out it is not asked any more.
		if (isBusy || !answered) return;
		// A disabled button that has the focus swallows every key, Escape too.
		if (document.activeElement === button.current) form.current?.focus();
		setBusy(true);
		try {
			// It may have been closed meanwhile, and what is open then has not been answered.
			if ((await onConfirm()) && opening.current === answered) onClose();
		} finally {
			setBusy(false);
		}
	}
	return (
		<Dialog
			isOpen={isOpen}
			title={title}
			transitionDuration={dialogMilliseconds}
			isCloseButtonShown={false}
			canOutsideClickClose={!hasTyped}
			onClose={onClose}
			onClosed={onClosed}
		>
			<form ref={form} className={styles.form} tabIndex={-1} onSubmit={submit}>
				<DialogBody onInput={onInput}>
					<FormFields isBusy={isBusy}>{children}</FormFields>
				</DialogBody>
				<DialogFooter
					actions={
						<>
							<Button text={messages.cancel} onClick={onClose} />
							<Button
								ref={button}
								type="submit"
								intent={intent}
								text={confirm}
								loading={isBusy}
								autoFocus={focusesConfirm}
							/>
						</>
					}
				/>
			</form>
		</Dialog>
	);
}
