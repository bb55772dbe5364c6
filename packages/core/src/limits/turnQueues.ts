import { isVisitorKey } from '../http/requests/proxy.js';
import { FairQueue } from './FairQueue.js';

/** What this process has of a limit of the whole server. */
type ShareOf = (limit: number) => number;

/**
 * The queue of parts of listings: a client that asks for one folder has its turn between those that ask for many at
 * once. None is refused, since a listing that has begun can't be.
 */
export const createListingQueue = (share?: ShareOf) =>
	createTurnQueue('Too many folders are listed at once. Please try again in a moment.', share);

/**
 * The queue of changes that are one call each: a new folder, a copy, a share. Each is many steps on the disk, and the steps of all that
 * are under way take turns: of a client that has hundreds under way everybody else's would wait for hundreds. None is refused.
 */
export const createChangeQueue = (share?: ShareOf) =>
	createTurnQueue('Too much is changed at once. Please try again in a moment.', share);

/**
 * A queue in which any number may wait: requests under way are bounded elsewhere. All visitors together have half of the places, and no
 * network has all, since a change may have its place for seconds.
 */
function createTurnQueue(busy: string, share: ShareOf = (limit) => limit): FairQueue {
	const unlimited = Number.POSITIVE_INFINITY;
	return new FairQueue(
		{
			// Two at least: visitors don't have them all.
			running: Math.max(2, share(12)),
			runningPerClient: share(4),
			waiting: unlimited,
			waitingPerClient: unlimited,
			group: { running: share(6), waiting: unlimited, includes: isVisitorKey },
			leavesPlaces: true,
		},
		busy,
	);
}
