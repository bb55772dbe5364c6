import { isVisitorKey } from '../http/requests/proxy.js';
import { FairQueue } from './FairQueue.js';

/**
 * The queue of parts of listings: a client that asks for one folder has its turn between those that ask for many at
 * once. As many may wait as there may be requests under way, since a listing that has begun can't be refused. All
 * visitors together have half of the places. `share` is what this process has of a limit of the whole server.
 */
export function createListingQueue(share = (limit: number) => limit): FairQueue {
	const unlimited = Number.POSITIVE_INFINITY;
	return new FairQueue(
		{
			// Two at least: visitors don't have them all.
			running: Math.max(2, share(12)),
			runningPerClient: share(4),
			waiting: unlimited,
			waitingPerClient: unlimited,
			group: { running: share(6), waiting: unlimited, includes: isVisitorKey },
		},
		'Too many folders are listed at once. Please try again in a moment.',
	);
}
