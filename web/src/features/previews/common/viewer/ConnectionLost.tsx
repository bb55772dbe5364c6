import { Button } from '@blueprintjs/core';
import { messages as pageMessages } from '../../../../messages.js';
import { previewMessages as messages } from '../../messages.js';
import type { PreviewFile } from '../bytes/previewFile.js';
import { useFailureReason } from './useFailureReason.js';
import { ViewerError } from './ViewerError.js';

export interface ConnectionLostProps {
	file: PreviewFile;
	onRetry: () => void;
}

/** Shown in place of a player that has lost its connection, with what the server says by now. */
export function ConnectionLost({ file, onRetry }: ConnectionLostProps) {
	const answer = useFailureReason(file.url, true);
	return (
		<ViewerError file={file} title={messages.connectionLost} text={messages.connectionLostDetail} reason={answer}>
			<Button text={pageMessages.retry} onClick={onRetry} />
		</ViewerError>
	);
}
