import { siteKey } from '../http/requests/proxy.js';
import type { FairQueueLimits } from './FairQueue.js';
import { SpentTime } from './SpentTime.js';

/** How long work goes on while others wait. */
const turnMs = 250;

/** The most time that is held against a client, in an hour; who has had least is next. */
const rememberedMs = 15 * 60_000;

/** Work takes turns, and the site that has had least time comes first. `busy` is the message of the refusal. */
export function byTurns(busy: string, paused: number): Required<Pick<FairQueueLimits, 'spent' | 'turns'>> {
	const had = new SpentTime({ hourly: () => rememberedMs, spent: busy });
	return {
		spent: (client) => had.of(siteKey(client)),
		turns: { ms: turnMs, paused, onEnd: (client, ms) => had.add(siteKey(client), ms) },
	};
}
