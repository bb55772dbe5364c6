import { Button } from '@blueprintjs/core';
import { messages } from '../../../../messages.js';
import type { PreviewFile } from '../bytes/previewFile.js';
import { ViewerError } from './ViewerError.js';

export interface NotLoadedProps {
	file: PreviewFile;
	onRetry: () => void;
}

/** Shown where the code of a viewer, or of a worker that it can't do without, could not be loaded: nothing is wrong with the file. */
export function NotLoaded({ file, onRetry }: NotLoadedProps) {
	return (
		<ViewerError file={file} title={messages.moduleFailed} text={messages.moduleFailedReason}>
			<Button text={messages.retry} onClick={onRetry} />
		</ViewerError>
	);
}
