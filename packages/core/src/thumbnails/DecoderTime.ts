import { isVisitorKey, siteKey } from '../http/requests/proxy.js';
import type { FairQueueLimits, QueueClient } from '../limits/FairQueue.js';
import { RecentNetworks } from '../limits/RecentNetworks.js';
import { mostOfNetworkMs, SpentTime } from '../limits/SpentTime.js';

interface Options {
	/** How long a client may have decoders at work in an hour. */
	hourlyMs: { account: number; address: number };
	/** A picture that takes this long is slow. */
	slowMs: number;
	/** How long a picture may take. */
	timeLimitMs: number;
	/** How many pictures are made at once. */
	running: number;
	/** The message of the refusal. */
	busy: string;
	/** Milliseconds of any clock that never goes back. */
	now?: () => number;
}

/** A picture that is being made. */
interface Running extends Required<QueueClient> {
	since: number;
	/** Whether it is known from the beginning that it may take long. */
	isSlow: boolean;
}

const hourMs = 3_600_000;

/** Networks that were forgotten have no account left that is known to be slow, so this many is no limit of theirs. */
const sweepAt = 1000;

/** How long clients and their networks have had decoders at work, and whose pictures take long, by which they are served. */
export class DecoderTime implements Required<Pick<FairQueueLimits, 'spent' | 'spentOfNetwork' | 'isSlow'>> {
	readonly #options: Required<Options>;
	readonly #ofClient: SpentTime;
	/** Forgotten by a quarter of all places: more than that is what keeps others waiting. */
	readonly #ofNetwork: SpentTime;
	/** Of slow pictures only. A second of them is remembered for a minute: longer than an account waits for its next ones. */
	readonly #slow: SpentTime;
	/** The accounts of each network that are, or were, slow. */
	readonly #slowOf = new Map<string, Set<string>>();
	readonly #running = new Set<Running>();
	readonly #networks: RecentNetworks;
	/** Of the pictures that have ended; see `visitorsLead`. */
	#lead = 0;

	constructor(options: Options) {
		const { hourlyMs, running, busy: spent, now = () => performance.now() } = options;
		this.#options = { ...options, now };
		this.#ofClient = new SpentTime({
			hourly: (client) => (isVisitorKey(client) ? hourlyMs.address : hourlyMs.account),
			...{ spent, now },
		});
		this.#ofNetwork = new SpentTime({ hourly: () => (running * hourMs) / 4, most: mostOfNetworkMs, spent, now });
		this.#slow = new SpentTime({ hourly: () => hourMs / 60, spent, now });
		this.#networks = new RecentNetworks(hourMs, now);
	}

	/** Throws `unavailable` if the client has had all that it may in an hour. */
	assertLeft(client: string): void {
		this.#ofClient.assertLeft(client);
	}

	/** Notes that a picture was asked for from a network. */
	see({ client, network = siteKey(client) }: QueueClient): void {
		this.#networks.see(network);
	}

	/** Begins to count; the function that is returned, and is called once, ends it. */
	begin({ client, network = siteKey(client) }: QueueClient): () => void {
		const { now, slowMs, timeLimitMs } = this.#options;
		const running = { client, network, since: now(), isSlow: this.isSlow(client, network) };
		this.#running.add(running);
		return () => {
			this.#running.delete(running);
			const ms = now() - running.since;
			this.#lead = Math.max(-timeLimitMs, Math.min(this.#lead + this.#leadBy(running), timeLimitMs));
			this.#ofClient.add(client, ms);
			this.#ofNetwork.add(network, ms);
			if (ms < slowMs) return;
			this.#slow.add(client, ms);
			if (isVisitorKey(client)) return;
			this.#slowOf.set(network, (this.#slowOf.get(network) ?? new Set()).add(client));
			if (this.#slowOf.size < sweepAt) return;
			for (const each of this.#slowOf.keys()) this.#slowAccounts(each);
		};
	}

	spent(client: string): number {
		return this.#ofClient.of(client);
	}

	/** Also of what is being made: else any number of accounts could begin before the first of them counts. */
	spentOfNetwork(network: string): number {
		let ms = this.#ofNetwork.of(network);
		for (const each of this.#running) if (each.network === network) ms += this.#options.now() - each.since;
		return ms;
	}

	/**
	 * How much longer visitors have had decoders at work lately than accounts that are slow, in milliseconds. Who was alone for long owes the
	 * others no more than one picture of the longest kind.
	 */
	visitorsLead(): number {
		let lead = this.#lead;
		for (const each of this.#running) lead += this.#leadBy(each);
		return lead;
	}

	#leadBy({ client, since, isSlow }: Running): number {
		const ms = this.#options.now() - since;
		if (isVisitorKey(client)) return ms;
		return isSlow || ms >= this.#options.slowMs ? -ms : 0;
	}

	/**
	 * Whether a client's pictures are known to take long, or it is an account of a network of which as many accounts are slow as could have
	 * all places: the next one would be another that nobody knows. Where all ask from one network, as through a proxy that is not trusted,
	 * a place that is kept for other networks would be lost.
	 */
	isSlow(client: string, network: string): boolean {
		// What visitors have had says little: the next one may come from another address.
		if (isVisitorKey(client) || this.#slow.of(client) > 0) return true;
		const long = this.#runningLong();
		if (long.some((each) => each.client === client)) return true;
		if (!this.#networks.hasOthers(network)) return false;
		const accounts = new Set(this.#slowAccounts(network));
		for (const each of long) if (each.network === network && !isVisitorKey(each.client)) accounts.add(each.client);
		return accounts.size >= Math.max(2, this.#options.running);
	}

	#runningLong(): Running[] {
		const before = this.#options.now() - this.#options.slowMs;
		return [...this.#running].filter(({ since }) => since <= before);
	}

	/** Some accounts of a network that are slow now, as many as there are places at most. */
	#slowAccounts(network: string): string[] {
		const known = this.#slowOf.get(network);
		const slow: string[] = [];
		for (const client of known ?? []) {
			if (slow.length >= Math.max(2, this.#options.running)) break;
			if (this.#slow.of(client) > 0) slow.push(client);
			else known?.delete(client);
		}
		if (known?.size === 0) this.#slowOf.delete(network);
		return slow;
	}
}
