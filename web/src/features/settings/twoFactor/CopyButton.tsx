import { Button } from '@blueprintjs/core';
import { DuplicateIcon, TickIcon } from '@blueprintjs/icons';
import { type ReactNode, type RefObject, useState } from 'react';
import { copyText } from '../../../ui/copyText.js';
import { FormError } from '../../../ui/display/FormError.js';
import styles from './CopyButton.module.css';
import { twoFactorMessages as messages } from './messages.js';

export interface CopyButtonProps {
	label: string;
	text: string;
	/** Shows the text, and is selected when the browser refuses to copy it. */
	source: RefObject<HTMLElement | null>;
	/** Further buttons beside it. */
	children?: ReactNode;
}

/** Copies a text to the system's clipboard and says so. */
export function CopyButton({ label, text, source, children }: CopyButtonProps) {
	const [copying, setCopying] = useState<'not yet' | 'copied' | 'failed'>('not yet');
	async function copy() {
		try {
			await copyText(text);
			setCopying('copied');
		} catch {
			setCopying('failed');
			if (source.current) getSelection()?.selectAllChildren(source.current);
		}
	}
	return (
		<>
			<div className={styles.actions}>
				<Button icon={<DuplicateIcon />} text={label} onClick={copy} />
				{children}
				<span className={styles.copied} role="status">
					{copying === 'copied' && (
						<>
							<TickIcon /> {messages.copied}
						</>
					)}
				</span>
			</div>
			{copying === 'failed' && (
				<FormError className={styles.error} reason={messages.copyByHand}>
					{messages.copyFailed}
				</FormError>
			)}
		</>
	);
}
