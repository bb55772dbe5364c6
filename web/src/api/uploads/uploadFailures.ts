import { Failure } from '@stowage/rules';
import { messages } from '../../messages.js';
import { failureFrom, NetworkFailure } from '../client/client.js';
import type { UploadAnswer } from './sendUpload.js';

/** The connection broke while the file was on its way. */
export class UploadNetworkFailure extends NetworkFailure {
	constructor(cause?: unknown) {
		super(cause, messages.uploadNetworkError);
	}
}

/** An answer other than success. */
export class UploadRefusal extends Failure {
	readonly httpStatus: number;
	/** Our server said it; otherwise it was a proxy in between. */
	readonly isOurs: boolean;

	constructor({ status, header, body }: UploadAnswer) {
		const failure = failureFrom(status, body, header('retry-after'));
		const isOurs = typeof (body as { code?: unknown } | undefined)?.code === 'string';
		// Of a fault of the server a person needs no more than its number.
		const hasSentence = isOurs && status < 500 && status !== 429;
		super(failure.kind, hasSentence ? failure.message : messages.uploadFailedWithStatus(status), {
			cause: failure,
			...(failure.retryAfter === undefined ? {} : { retryAfter: failure.retryAfter }),
		});
		this.httpStatus = status;
		this.isOurs = isOurs;
	}
}

/** The file was changed, moved or deleted after it had been chosen. */
export class UnreadableFile extends Failure {
	constructor(cause: unknown) {
		super('invalid', messages.fileUnreadable, { cause });
	}
}

/** A proxy between here and the server takes no request of that size. */
export function isProxyLimit(error: unknown): boolean {
	return error instanceof UploadRefusal && error.httpStatus === 413 && !error.isOurs;
}
