import { isVisitorKey, siteKey } from '../http/requests/proxy.js';
import { FairQueue, type FairQueueLimits } from './FairQueue.js';
import { SpentTime } from './SpentTime.js';

const busy = 'Too many searches and ZIPs are under way. Please try again in a moment.';

/** How long work goes on while others wait. */
const turnMs = 250;

/** The most time that is held against a client, in an hour; who has had least is next. */
const rememberedMs = 15 * 60_000;

/** Work takes turns, and who has had least time comes first, the networks of one site together. */
export function byTurns(busy: string, paused: number): Required<Pick<FairQueueLimits, 'spent' | 'turns'>> {
	const had = new SpentTime({ hourly: () => rememberedMs, spent: busy });
	return {
		spent: (client) => had.of(siteKey(client)),
		turns: { ms: turnMs, paused, onEnd: (client, ms) => had.add(siteKey(client), ms) },
	};
}

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
