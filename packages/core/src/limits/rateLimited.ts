import { Failure } from '@stowage/rules';

/** The refusal of what has come too often in a window; it says when the next one begins. */
export function rateLimited(message: string, endsAt: number, now: number): Failure {
	return new Failure('rateLimited', message, { retryAfter: Math.max(1, (endsAt - now) / 1000) });
}
