import { type Failure, isFailure } from '@stowage/rules';
import { NetworkFailure, reconnectIntervalMs } from '../../../api/client/client.js';

/** How often the listing is fetched while the server responds with an error of its own, unless it names a time. */
const serverErrorIntervalMs = 15_000;

/** Whether the error says nothing about the folder: no response, a server error, or a rate limit. */
export function isTransient(error: Error | null): error is Failure {
	return isFailure(error) && (error.status >= 500 || error.kind === 'rateLimited');
}

/**
 * How many milliseconds after this error a listing is fetched again by itself, or false for never; `isShown` if an
 * older one is on screen.
 */
export function refetchIntervalAfter(error: Error | null, isShown: boolean): number | false {
	if (error instanceof NetworkFailure) return reconnectIntervalMs;
	if (!isShown || !isTransient(error)) return false;
	return Math.max(serverErrorIntervalMs, (error.retryAfter ?? 0) * 1000);
}
