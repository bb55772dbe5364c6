import { isFailure } from '@stowage/rules';
import { messages } from '../../../messages.js';

/** A fault of the server is told by its number; a full disk deserves its sentence too. */
export function describeFailure(error: unknown): { error: string; detail?: string | undefined } {
	if (!isFailure(error)) return { error: messages.uploadFailed };
	const { message, cause } = error;
	const isTold = isFailure(cause, 'storageFull') && cause.message !== message;
	return { error: message, detail: isTold ? cause.message : undefined };
}
