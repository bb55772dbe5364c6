import { Classes } from '@blueprintjs/core';
import { DownloadIcon } from '@blueprintjs/icons';
import { previewMessages as messages } from '../../messages.js';
import type { PreviewFile } from '../bytes/previewFile.js';

export interface DownloadLinkProps {
	file: PreviewFile;
	/** @default false */
	isMinimal?: boolean;
}

/** Blueprint's own link that looks like a button has the role of a button. */
export function DownloadLink({ file, isMinimal = false }: DownloadLinkProps) {
	const classes = isMinimal ? `${Classes.BUTTON} ${Classes.MINIMAL}` : `${Classes.BUTTON} ${Classes.INTENT_PRIMARY}`;
	return (
		<a className={classes} href={file.downloadUrl} download="" rel="noopener">
			<DownloadIcon aria-hidden />
			<span className={Classes.BUTTON_TEXT}>{messages.download}</span>
		</a>
	);
}
