import { Checkbox } from '@blueprintjs/core';
import { type Entry, formatDownloadSize, shownName } from '@stowage/rules';
import { useState } from 'react';
import type { DownloadTicket } from '../../api/downloads.js';
import { FormDialog } from '../../ui/dialogs/FormDialog.js';
import styles from './DownloadDialog.module.css';
import { downloadQuestion, knownSize, mayBeZip, mustBeZip } from './downloadChoice.js';
import { downloadMessages as messages } from './messages.js';
import { usePreparedTicket } from './usePreparedTicket.js';

export interface DownloadDialogProps {
	isOpen: boolean;
	directory: string;
	entries: readonly Entry[];
	/** Whether the box is ticked initially; with a folder it always is. */
	asZip: boolean;
	onClose: () => void;
	onClosed: () => void;
	/** `ticket` was created to show the size and is used for the download. */
	onDownload: (entries: readonly Entry[], asZip: boolean, ticket: DownloadTicket | undefined) => void;
}

export function DownloadDialog(props: DownloadDialogProps) {
	const { isOpen, directory, entries, onClose, onClosed, onDownload } = props;
	const isForced = mustBeZip(entries);
	const [asZip, setAsZip] = useState(isForced || props.asZip);
	const prepared = usePreparedTicket(isForced ? { directory, entries } : undefined);
	const size = knownSize(entries) ?? prepared.ticket?.size;
	return (
		<FormDialog
			isOpen={isOpen}
			title={messages.confirm}
			confirm={messages.download}
			focusesConfirm
			onClose={onClose}
			onClosed={onClosed}
			onConfirm={async () => {
				onDownload(entries, asZip, prepared.take());
				return true;
			}}
		>
			<p>{downloadQuestion(entries)}</p>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: so that the keyboard can scroll it */}
			<ul className={styles.files} tabIndex={0} aria-label={messages.list}>
				{entries.map((entry) => (
					<li key={`${entry.owner}:${entry.path}`} className={styles.file}>
						<span className={styles.name}>{shownName(entry.name)}</span>
						<span className={styles.size}>{sizeOf(entry)}</span>
					</li>
				))}
			</ul>
			<p className={styles.total}>
				<span>{messages.totalSize}</span>
				<span className={styles.size} aria-live="polite">
					{size !== undefined ? formatDownloadSize(size) : prepared.hasFailed ? '–' : messages.calculating}
				</span>
			</p>
			{mayBeZip(entries) && (
				<Checkbox
					className={styles.zip}
					label={messages.asZip}
					checked={asZip}
					disabled={isForced}
					onChange={(event) => setAsZip(event.currentTarget.checked)}
				/>
			)}
		</FormDialog>
	);
}

function sizeOf({ type, size, count }: Entry): string {
	if (type === 'file') return formatDownloadSize(size);
	return count === undefined ? messages.folder : messages.items(count);
}
