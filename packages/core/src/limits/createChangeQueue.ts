import { isVisitorKey } from '../http/requests/proxy.js';
import { FairQueue } from './FairQueue.js';

/**
 * The queue of changes that are one call each: a new folder, a copy, a share. Each is many steps on the disk, and the steps of all that
 * are under way take turns: of a client that has hundreds under way everybody else's would wait for hundreds. None is refused. `share` is
 * what this process has of a limit of the whole server.
 */
export function createChangeQueue(share = (limit: number) => limit): FairQueue {
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
		'Too much is changed at once. Please try again in a moment.',
	);
}
