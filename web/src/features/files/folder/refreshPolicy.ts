import { NetworkFailure } from '../../../api/client/client.js';
import { retryIntervalAfter } from '../../../api/client/retries.js';

/**
 * How many milliseconds after this error a listing is fetched again by itself, or false for never; `isShown` if an
 * older one is on screen.
 */
export function refetchIntervalAfter(error: Error | null, isShown: boolean): number | false {
	return (isShown || error instanceof NetworkFailure) && retryIntervalAfter(error);
}
