import type { Request } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { limitAddress, siteOf } from '../http/requests/proxy.js';

/** A page has one stream; a user may have this many pages at once, and visitors behind one address as many. */
const maxForOne = 32;
/** Visitors from the largest network that one customer has. */
const maxForSite = 4 * maxForOne;
/** A ticket has one page, or those of one user: each of its events is written to all that follow it. */
const maxForTicket = 32;
const maxInAll = 4000;

/** The open event streams. Their number is limited for each client, and a stop of the server ends them. */
export class EventStreams {
	readonly #ends = new Set<() => void>();
	/** How many there are of each client, site and ticket. */
	readonly #counts = new Map<string, number>();
	#isStopping = false;

	/** `share` is what this process has of a limit of the whole server. */
	constructor(readonly share: (limit: number) => number) {}

	/**
	 * Counts a stream in; the returned function counts it out. `end` is called when the server stops. Throws `rateLimited` if its client or
	 * one of its tickets has too many, and `unavailable` while the server stops.
	 */
	enter(request: Pick<Request, 'viewer' | 'client'>, tickets: Iterable<string>, end: () => void): () => void {
		if (this.#isStopping) throw new Failure('unavailable', 'The server is stopping.');
		const limits = limitsOf(request, tickets);
		const isFull = [...limits].some(([key, max]) => (this.#counts.get(key) ?? 0) >= this.share(max));
		if (isFull || this.#ends.size >= this.share(maxInAll)) {
			throw new Failure('rateLimited', 'There are too many open pages.', { retryAfter: 30 });
		}
		this.#ends.add(end);
		for (const key of limits.keys()) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
		return () => {
			if (!this.#ends.delete(end)) return;
			for (const key of limits.keys()) {
				const left = (this.#counts.get(key) ?? 0) - 1;
				if (left > 0) this.#counts.set(key, left);
				else this.#counts.delete(key);
			}
		};
	}

	endAll(): void {
		this.#isStopping = true;
		for (const end of [...this.#ends]) end();
	}
}

/** What a stream is counted for, and how many of it there may be: a user, or visitors by their address. */
function limitsOf(
	{ viewer, client: { address } }: Pick<Request, 'viewer' | 'client'>,
	tickets: Iterable<string>,
): ReadonlyMap<string, number> {
	const limits = new Map<string, number>();
	const site = siteOf(address);
	if (viewer.kind === 'user') limits.set(`user ${viewer.id}`, maxForOne);
	else {
		limits.set(`address ${limitAddress(address)}`, maxForOne);
		if (site !== undefined) limits.set(`site ${site}`, maxForSite);
	}
	for (const ticket of tickets) limits.set(`ticket ${ticket}`, maxForTicket);
	return limits;
}
