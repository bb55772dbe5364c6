import { TickIcon } from '@blueprintjs/icons';
import { useEffect, useRef, useState } from 'react';
import { copyText } from '../../ui/copyText.js';
import { FormError } from '../../ui/display/FormError.js';
import { linkMessages as messages } from './messages.js';
import styles from './TemporaryLinkDialog.module.css';

/** A new link that is shown in a field, and the button that copies it, which gets the focus. `outcome` says how copying ended. */
export function useLinkToCopy(url: string) {
	const field = useRef<HTMLInputElement>(null);
	const button = useRef<HTMLButtonElement>(null);
	const [copying, setCopying] = useState<'not yet' | 'copied' | 'failed'>('not yet');
	// The button that had the focus was removed.
	useEffect(() => button.current?.focus(), []);
	async function copy() {
		try {
			await copyText(url, field.current ?? undefined);
			setCopying('copied');
			button.current?.focus();
		} catch {
			setCopying('failed');
			field.current?.select();
		}
	}
	const outcome = (
		<>
			<div className={styles.outcome} role="status">
				{copying === 'copied' && (
					<span className={styles.copied}>
						<TickIcon /> {messages.copied}
					</span>
				)}
			</div>
			{copying === 'failed' && (
				<FormError className={styles.error} reason={messages.copyByHand}>
					{messages.copyTemporaryFailed}
				</FormError>
			)}
		</>
	);
	return { field, button, copy, outcome };
}
