import { isVisitorKey } from '../http/requests/proxy.js';
import { byTurns } from './byTurns.js';
import { FairQueue } from './FairQueue.js';

const busy = 'Too many searches and ZIPs are under way. Please try again in a moment.';

/**
 * The queue of walks through folders, such as searches. A tree may take a minute to walk, so walks take turns, and who
 * has walked least comes first: a client who searches now and then waits for one turn, however long the walks of
 * others are. All visitors together have half of the places, since their addresses cost nothing. `share` is what this
 * process has of a limit of the whole server.
 */
export function createWalkQueue(share = (limit: number) => limit): FairQueue {
	return new FairQueue(
		{
			// Two at least: visitors don't have them all.
			running: Math.max(2, share(8)),
			runningPerClient: share(2),
			waiting: share(400),
			waitingPerClient: share(64),
			group: { running: share(4), waiting: share(200), includes: isVisitorKey },
			...byTurns(busy, 24),
		},
		busy,
	);
}
