import { isFailure } from '@stowage/rules';
import { messages } from '../../../messages.js';

/** A server error is described by its status; for a full disk the server's sentence is added. */
export function describeFailure(error: unknown): { error: string; detail?: string | undefined } {
	if (!isFailure(error)) return { error: messages.uploadFailed };
	const { message, cause } = error;
	const hasDetail = isFailure(cause, 'storageFull') && cause.message !== message;
	return { error: message, detail: hasDetail ? cause.message : undefined };
}
