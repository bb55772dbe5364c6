import { IssueIcon } from '@blueprintjs/icons';
import type { ReactNode } from 'react';
import { DownloadLink } from './DownloadLink.js';
import type { PreviewFile } from './previewFile.js';
import styles from './viewers.module.css';

export interface ViewerErrorProps {
	file: PreviewFile;
	title: string;
	/** A second sentence. */
	text?: string | undefined;
	/** What the server or the format said. */
	reason?: string | undefined;
	/** What else can be done, beside downloading it. */
	children?: ReactNode;
}

/** Why a file is not shown, and how to get at it nevertheless. */
export function ViewerError({ file, title, text, reason, children }: ViewerErrorProps) {
	return (
		<div className={styles.state} role="alert">
			<IssueIcon className={styles.stateIcon} size={32} aria-hidden />
			<p className={styles.stateTitle}>{title}</p>
			{text && <p className={styles.stateText}>{text}</p>}
			{reason && <p className={styles.stateText}>{reason}</p>}
			<div className={styles.stateActions}>
				<DownloadLink file={file} />
				{children}
			</div>
		</div>
	);
}
