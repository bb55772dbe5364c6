import { Button } from '@blueprintjs/core';
import { mayBeReadLater } from '../../../../api/previews.js';
import { messages } from '../../../../messages.js';
import { ViewerError, type ViewerErrorProps } from './ViewerError.js';

export interface NotReadProps extends Pick<ViewerErrorProps, 'file' | 'title' | 'text'> {
	error: Error;
	onRetry: () => void;
}

/** Why the bytes of a file could not be read. They can be asked for again where that says nothing about the file, as without a network. */
export function NotRead({ error, onRetry, ...props }: NotReadProps) {
	return (
		<ViewerError {...props} reason={error.message}>
			{mayBeReadLater(error) && <Button text={messages.retry} onClick={onRetry} />}
		</ViewerError>
	);
}
