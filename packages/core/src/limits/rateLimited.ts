import { Failure } from '@stowage/rules';

/** The refusal of a request above the rate limit; it says when the next window begins. */
export function rateLimited(message: string, endsAt: number, now: number): Failure {
	return new Failure('rateLimited', message, { retryAfter: Math.max(1, (endsAt - now) / 1000) });
}
