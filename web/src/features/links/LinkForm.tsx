import { AnchorButton, Button, DialogBody, DialogFooter } from '@blueprintjs/core';
import type { ReactNode, Ref } from 'react';
import { FormFields } from '../../ui/dialogs/FormFields.js';
import { FormError } from '../../ui/display/FormError.js';
import styles from './LinkForm.module.css';
import { linkMessages as messages } from './messages.js';

export interface LinkFormProps {
	/** The text of the button that makes the link. */
	confirm: string;
	isBusy: boolean;
	/** Why the last attempt has failed. */
	failure: { title: string; reason: string } | undefined;
	onConfirm: () => void;
	onCancel: () => void;
	/** Something was typed or chosen. */
	onInput?: () => void;
	children: ReactNode;
}

/** What is asked before a link is made, in a dialog. It can't be changed while the link is being made. */
export function LinkForm({ confirm, isBusy, failure, onConfirm, onCancel, onInput, children }: LinkFormProps) {
	return (
		<form
			className={styles.form}
			tabIndex={-1}
			onSubmit={(event) => {
				event.preventDefault();
				if (!isBusy) onConfirm();
			}}
		>
			<DialogBody onInput={onInput}>
				<FormFields isBusy={isBusy}>{children}</FormFields>
				{failure && (
					<FormError className={styles.error} reason={failure.reason}>
						{failure.title}
					</FormError>
				)}
			</DialogBody>
			<DialogFooter
				actions={
					<>
						<Button text={messages.cancel} onClick={onCancel} />
						<Button type="submit" intent="primary" text={confirm} loading={isBusy} autoFocus />
					</>
				}
			/>
		</form>
	);
}

export interface MadeLinkFooterProps {
	/** The page of the link, which `Open` opens; a link to a file is only copied. */
	page?: string;
	copyButton: Ref<HTMLButtonElement>;
	onCopy: () => void;
	onClose: () => void;
}

/** What can be done with the link that was made. */
export function MadeLinkFooter({ page, copyButton, onCopy, onClose }: MadeLinkFooterProps) {
	return (
		<DialogFooter
			actions={
				<>
					<Button text={messages.close} onClick={onClose} />
					{page !== undefined && <AnchorButton text={messages.open} href={page} target="_blank" rel="noopener" />}
					<Button ref={copyButton} intent="primary" text={messages.copyLink} onClick={onCopy} />
				</>
			}
		/>
	);
}
