import { isVisitorKey } from '../http/requests/proxy.js';
import { FairQueue } from './FairQueue.js';
import { SpentTime } from './SpentTime.js';

const busy = 'Too many searches and ZIPs are under way. Please try again in a moment.';

/** How long a walk goes on while others wait. */
const turnMs = 250;

/** Of walking a client is remembered to have had this much in an hour, which decides who is next. */
const rememberedMs = 15 * 60_000;

/**
 * The queue of walks through folders, such as searches. A tree may take a minute to walk, so walks take turns, and who has walked least comes
 * first: a client who searches now and then waits for one turn, however long the walks of others are. All visitors together have half of the
 * places, since their addresses cost nothing.
 */
export function createWalkQueue(): FairQueue {
	const walked = new SpentTime({ hourly: () => rememberedMs, spent: busy });
	return new FairQueue(
		{
			running: 8,
			runningPerClient: 2,
			waiting: 400,
			waitingPerClient: 64,
			group: { running: 4, waiting: 200, includes: isVisitorKey },
			spent: (client) => walked.of(client),
			turns: { ms: turnMs, paused: 24, onEnd: (client, ms) => walked.add(client, ms) },
		},
		busy,
	);
}
