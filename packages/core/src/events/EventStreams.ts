import type { Request } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { limitAddress, siteKey, siteOf } from '../http/requests/proxy.js';

/** A page has one stream; a user may have this many pages at once, and visitors behind one address as many. */
const maxForOne = 32;
/** Visitors from the largest network that one customer has. */
const maxForSite = 4 * maxForOne;
/** A ticket has one page, or those of one user: each of its events is written to all that follow it. */
const maxForTicket = 32;
const maxInAll = 4000;
const maxOfVisitors = maxInAll / 2;

interface Stream {
	isOfVisitor: boolean;
	end(): void;
	leave(): void;
}

/**
 * The open event streams. Their number is limited for each client, and a stop of the server ends them. Where there are as many as may be,
 * a newcomer evicts the newest one of the user, or of the site of visitors, with the most.
 */
export class EventStreams {
	/** Of each user, and each site of visitors, the oldest first. */
	readonly #open = new Map<string, Set<Stream>>();
	#count = 0;
	#ofVisitors = 0;
	/** How many there are of each client, site and ticket. */
	readonly #counts = new Map<string, number>();
	#isStopping = false;

	/** `share` is what this process has of a limit of the whole server. */
	constructor(readonly share: (limit: number) => number) {}

	/**
	 * Counts a stream in; the returned function counts it out. `end` is called when the server stops, or others need its place. Throws
	 * `rateLimited` if its client or one of its tickets has too many, or there are too many in all and nobody has more, and `unavailable`
	 * while the server stops.
	 */
	enter(request: Pick<Request, 'viewer' | 'client'>, tickets: Iterable<string>, end: () => void): () => void {
		if (this.#isStopping) throw new Failure('unavailable', 'The server is stopping.');
		const limits = limitsOf(request, tickets);
		const isFull = [...limits].some(([key, max]) => (this.#counts.get(key) ?? 0) >= this.share(max));
		const isOfVisitor = request.viewer.kind !== 'user';
		const who =
			request.viewer.kind === 'user' ? `user ${request.viewer.id}` : siteKey(limitAddress(request.client.address));
		const isFullOfVisitors = isOfVisitor && this.#ofVisitors >= this.share(maxOfVisitors);
		const hasRoom = !isFullOfVisitors && this.#count < this.share(maxInAll);
		if (isFull || !(hasRoom || this.#makeRoom(who, isOfVisitor)))
			throw new Failure('rateLimited', 'There are too many open pages.', { retryAfter: 30 });
		const own = this.#open.get(who) ?? new Set();
		const leave = () => {
			if (!own.delete(stream)) return;
			if (own.size === 0) this.#open.delete(who);
			this.#count--;
			if (isOfVisitor) this.#ofVisitors--;
			for (const key of limits.keys()) {
				const left = (this.#counts.get(key) ?? 0) - 1;
				if (left > 0) this.#counts.set(key, left);
				else this.#counts.delete(key);
			}
		};
		const stream: Stream = { isOfVisitor, end, leave };
		this.#open.set(who, own.add(stream));
		this.#count++;
		if (isOfVisitor) this.#ofVisitors++;
		for (const key of limits.keys()) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
		return leave;
	}

	/** Ends the newest stream of who has most, for a visitor among visitors; false if nobody has more than this one will have. */
	#makeRoom(who: string, amongVisitors: boolean): boolean {
		let most = (this.#open.get(who)?.size ?? 0) + 1;
		let newest: Stream | undefined;
		for (const streams of this.#open.values()) {
			if (streams.size <= most) continue;
			const last = [...streams].at(-1);
			if (last === undefined || (amongVisitors && !last.isOfVisitor)) continue;
			most = streams.size;
			newest = last;
		}
		newest?.leave();
		newest?.end();
		return newest !== undefined;
	}

	endAll(): void {
		this.#isStopping = true;
		for (const streams of [...this.#open.values()]) for (const { end } of [...streams]) end();
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
