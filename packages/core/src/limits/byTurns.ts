import { siteKey } from '../http/requests/proxy.js';
import type { FairQueueLimits } from './FairQueue.js';
import { mostOfNetworkMs, SpentTime } from './SpentTime.js';

/** How long work goes on while others wait. */
const turnMs = 250;

/** How much of the time that a client has had is forgotten in an hour; who has had least is next. */
const rememberedMs = 15 * 60_000;

/** Networks share more places than a client has, and what is forgotten as fast as it is spent would tell none of them apart. */
const rememberedOfNetworkMs = 60 * 60_000;

/**
 * Work takes turns: that of the network which has had least time comes first, and of its clients that of the site which has. `busy` is the
 * message of the refusal.
 */
export function byTurns(
	busy: string,
	paused: number,
): Required<Pick<FairQueueLimits, 'spent' | 'spentOfNetwork' | 'turns'>> {
	const had = new SpentTime({ hourly: () => rememberedMs, spent: busy });
	const hadByNetwork = new SpentTime({ hourly: () => rememberedOfNetworkMs, most: mostOfNetworkMs, spent: busy });
	return {
		spent: (client) => had.of(siteKey(client)),
		spentOfNetwork: (network) => hadByNetwork.of(network),
		turns: {
			ms: turnMs,
			paused,
			onEnd(client, ms, network) {
				had.add(siteKey(client), ms);
				hadByNetwork.add(network, ms);
			},
		},
	};
}
