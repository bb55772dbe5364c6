import { type Entry, formatDownloadSize } from '@stowage/rules';
import { FormDialog } from '../../../ui/FormDialog.js';
import { filesMessages as messages } from '../messages.js';
import type { DialogProps } from './DialogHost.js';
import styles from './dialogs.module.css';

export interface DownloadDialogProps extends DialogProps {
	/** Files only. */
	entries: readonly Entry[];
	onDownload: () => void;
}

export function DownloadDialog({ entries, onDownload, ...dialog }: DownloadDialogProps) {
	const total = entries.reduce((sum, { size }) => sum + size, 0);
	return (
		<FormDialog
			{...dialog}
			title={messages.downloadConfirm}
			confirm={messages.download}
			focusesConfirm
			onConfirm={async () => {
				onDownload();
				return true;
			}}
		>
			<p>{entries.length === 1 ? messages.downloadFile : messages.downloadFiles(entries.length)}</p>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reached by the keyboard */}
			<ul className={styles.files} tabIndex={0} aria-label={messages.filesToDownload}>
				{entries.map(({ name, path, owner, size }) => (
					<li key={`${owner}:${path}`} className={styles.file}>
						<span>{name}</span>
						<span className={styles.fileSize}>{formatDownloadSize(size)}</span>
					</li>
				))}
			</ul>
			<p className={styles.total}>
				<span>{messages.totalSize}</span>
				<span>{formatDownloadSize(total)}</span>
			</p>
		</FormDialog>
	);
}
