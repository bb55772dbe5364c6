import { type Area, isFailure } from '@stowage/rules';
import { messages } from '../../../messages.js';

/**
 * A server error is described by its status; for a full disk and for too many uploads the server's sentence is added.
 * What is not found in a shared folder was there when it was chosen.
 */
export function describeFailure(error: unknown, area?: Area): { error: string; detail?: string | undefined } {
	if (!isFailure(error)) return { error: messages.uploadFailed };
	if (area === 'shared' && isFailure(error, 'notFound')) return { error: messages.notSharedAnyMore };
	const { message, cause } = error;
	const isExplained = isFailure(cause, 'storageFull') || isFailure(cause, 'rateLimited');
	return { error: message, detail: isExplained && cause.message !== message ? cause.message : undefined };
}
