import { Failure } from '@stowage/rules';
import { messages } from '../../messages.js';
import { failureFrom, kindOfStatus, NetworkFailure } from '../client/client.js';
import type { UploadResponse } from './uploadRequest.js';

/** The connection was lost during an upload. */
export class UploadNetworkFailure extends NetworkFailure {
	constructor(cause?: unknown) {
		super(cause, messages.uploadNetworkError);
	}
}

/** An error response to an upload. */
export class UploadRefusal extends Failure {
	readonly httpStatus: number;
	/** Whether the server sent it; otherwise a proxy did. */
	readonly isFromServer: boolean;

	constructor({ status, header, body }: UploadResponse) {
		const failure = failureFrom(status, body, header('retry-after'));
		const isFromServer = typeof (body as { code?: unknown } | undefined)?.code === 'string';
		// For a server error the status suffices.
		const hasSentence = isFromServer && status < 500 && status !== 429;
		// An answer to HEAD has no body that could tell who sent it.
		super(
			isFromServer ? failure.kind : kindOfStatus(status),
			hasSentence ? failure.message : messages.uploadFailedWithStatus(status),
			{
				cause: failure,
				...(failure.retryAfter === undefined ? {} : { retryAfter: failure.retryAfter }),
			},
		);
		this.httpStatus = status;
		this.isFromServer = isFromServer;
	}
}

/** The file was changed, moved or deleted after it was chosen. */
export class UnreadableFile extends Failure {
	constructor(cause: unknown) {
		super('invalid', messages.fileUnreadable, { cause });
	}
}

/** Whether a proxy refused the request for its size. */
export function isProxyLimit(error: unknown): boolean {
	return error instanceof UploadRefusal && error.httpStatus === 413 && !error.isFromServer;
}
