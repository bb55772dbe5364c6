import { Button, Dialog, DialogBody, DialogFooter, Spinner } from '@blueprintjs/core';
import { shownName } from '@stowage/rules';
import { type ReactNode, useRef } from 'react';
import { messages } from '../../messages.js';
import { dialogMilliseconds, useOpenings } from './dialogs.js';
import styles from './ListDialog.module.css';

export interface ListDialogProps {
	isOpen: boolean;
	/** Its width. */
	className: string | undefined;
	title: string;
	/** Something is typed in it, which a click beside it must not discard. @default false */
	hasTyped?: boolean;
	onClose: () => void;
	onClosed?: () => void;
	/**
	 * Unmounted when the dialog closes, so the list is fetched anew when it opens again. Gets a function that moves the
	 * focus to `Close`.
	 */
	children: (focusClose: () => void) => ReactNode;
}

/** A dialog that shows a list and has `Close` as its only button, which has the focus initially. */
export function ListDialog({
	isOpen,
	className,
	title,
	hasTyped = false,
	onClose,
	onClosed,
	children,
}: ListDialogProps) {
	const close = useRef<HTMLButtonElement>(null);
	const openings = useOpenings(isOpen);
	return (
		<Dialog
			key={openings}
			isOpen={isOpen}
			className={className}
			title={title}
			isCloseButtonShown={false}
			canOutsideClickClose={!hasTyped}
			transitionDuration={dialogMilliseconds}
			onClose={onClose}
			{...(onClosed && { onClosed })}
		>
			<DialogBody>{children(() => close.current?.focus())}</DialogBody>
			<DialogFooter actions={<Button ref={close} text={messages.close} autoFocus onClick={onClose} />} />
		</Dialog>
	);
}

/** Shown in place of the list while it is fetched. */
export function ListLoading({ label }: { label: string }) {
	return (
		<div className={styles.state} role="status">
			<Spinner size={24} aria-label={label} />
		</div>
	);
}

/** Shown in place of a list that can't be fetched. */
export function ListError({ title, reason, onRetry }: { title: string; reason: string; onRetry: () => void }) {
	return (
		<div className={styles.state} role="alert">
			<p>{title}</p>
			<p className={styles.hint}>{shownName(reason)}</p>
			<Button text={messages.retry} onClick={onRetry} />
		</div>
	);
}

/** Shown in place of an empty list. */
export function ListEmpty({ title, hint }: { title: string; hint: string }) {
	return (
		<div className={styles.state}>
			<p>{title}</p>
			<p className={styles.hint}>{hint}</p>
		</div>
	);
}
