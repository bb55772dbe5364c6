import { type Failure, isFailure } from '@stowage/rules';
import { onlineManager } from '@tanstack/react-query';
import { NetworkFailure, UnexplainedFailure, UnreadableAnswer } from './client.js';

/** How often something is fetched while the server does not respond. */
const reconnectIntervalMs = 4000;

/** How often something is fetched while the server responds with an error of its own, unless it names a time. */
const serverErrorIntervalMs = 15_000;

/** Whether the error says nothing about what was asked for: no response, a server error, or a rate limit. */
export function isTransient(error: unknown): error is Failure {
	return isFailure(error) && (error.status >= 500 || error.kind === 'rateLimited');
}

/** Whether the server may have done what it was asked for all the same: no answer of its own has come. */
export function isUnanswered(error: unknown): boolean {
	if (error instanceof NetworkFailure || error instanceof UnreadableAnswer) return true;
	return error instanceof UnexplainedFailure && error.status >= 500;
}

/** After how many milliseconds it is fetched again by itself after this error, or false for never. */
export function retryIntervalAfter(error: Error | null): number | false {
	if (error instanceof NetworkFailure) return whileOnline(reconnectIntervalMs)();
	return isTransient(error) && Math.max(serverErrorIntervalMs, (error.retryAfter ?? 0) * 1000);
}

/**
 * An interval in milliseconds at which something is fetched again by itself, which pauses without a network: each failure in place of a
 * list would be announced again, and take the focus from its button. When there is a network again, it is fetched in any case.
 */
export function whileOnline(intervalMs: number): () => number | false {
	return () => onlineManager.isOnline() && intervalMs;
}

/** Whether what has failed so often is fetched again at once, before the failure is shown: not without a network. */
export function retriesSoon(failures: number, error: Error): boolean {
	return isFailure(error, 'unavailable') && failures < 2 && onlineManager.isOnline();
}
