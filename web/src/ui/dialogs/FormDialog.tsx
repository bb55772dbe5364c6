import { Button, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { messages } from '../../messages.js';
import { dialogMilliseconds } from './dialogs.js';
import styles from './FormDialog.module.css';

export interface FormDialogProps {
	isOpen: boolean;
	title: string;
	/** What the button that goes on says. */
	confirm: string;
	/** @default 'primary' */
	intent?: 'primary' | 'danger';
	/** Does it; false keeps the dialog open for another try. */
	onConfirm: () => Promise<boolean>;
	onClose: () => void;
	/** The dialog has gone, and the focus is where it was if that is still there. */
	onClosed: () => void;
	/** `confirm` has the focus at first, for a dialog without fields. @default false */
	focusesConfirm?: boolean;
	children: ReactNode;
}

/** A dialog with `Cancel` and one button that does what it is named by, also on Enter; both wait while it is done. */
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
	async function submit(event: FormEvent) {
		event.preventDefault();
		if (isBusy) return;
		setBusy(true);
		try {
			if (await onConfirm()) onClose();
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
			onClose={onClose}
			onClosed={onClosed}
		>
			<form className={styles.form} onSubmit={submit}>
				<DialogBody>{children}</DialogBody>
				<DialogFooter
					actions={
						<>
							<Button text={messages.cancel} onClick={onClose} />
							<Button type="submit" intent={intent} text={confirm} loading={isBusy} autoFocus={focusesConfirm} />
						</>
					}
				/>
			</form>
		</Dialog>
	);
}
