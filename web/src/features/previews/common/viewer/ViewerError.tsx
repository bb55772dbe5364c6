import { IssueIcon } from '@blueprintjs/icons';
import type { ReactNode } from 'react';
import { EmptyState } from '../../../../ui/display/EmptyState.js';
import type { PreviewFile } from '../bytes/previewFile.js';
import { DownloadLink } from './DownloadLink.js';
import styles from './viewers.module.css';

export interface ViewerErrorProps {
	file: PreviewFile;
	title: string;
	/** A second sentence. */
	text?: string | undefined;
	/** The message of the server or the format. */
	reason?: string | undefined;
	/** Further actions, beside downloading it. */
	children?: ReactNode;
}

/** Why a file is not shown, and how to get at it nevertheless. */
export function ViewerError({ file, title, text, reason, children }: ViewerErrorProps) {
	return (
		<div className={styles.state} role="alert">
			<EmptyState
				icon={<IssueIcon size={32} aria-hidden />}
				title={title}
				titleTagName="h3"
				detail={text}
				reason={reason}
			>
				<DownloadLink file={file} />
				{children}
			</EmptyState>
		</div>
	);
}
