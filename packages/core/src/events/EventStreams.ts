import { Failure } from '@stowage/rules';

/** A page has one stream; a user may have this many pages at once, and visitors behind one address as many. */
const maxForOne = 32;
const maxInAll = 4000;

/** The open event streams. Their number is limited for each client, and a stop of the server ends them. */
export class EventStreams {
	readonly #open = new Map<string, Set<() => void>>();
	#count = 0;
	#isStopping = false;

	/** `share` is what this process has of a limit of the whole server. */
	constructor(readonly share: (limit: number) => number) {}

	/**
	 * Counts a stream in; the returned function counts it out. `end` is called when the server stops. Throws `rateLimited` if `who` has too
	 * many, and `unavailable` while the server stops.
	 */
	enter(client: string, end: () => void): () => void {
		if (this.#isStopping) throw new Failure('unavailable', 'The server is stopping.');
		const streams = this.#open.get(client) ?? new Set();
		if (streams.size >= this.share(maxForOne) || this.#count >= this.share(maxInAll)) {
			throw new Failure('rateLimited', 'There are too many open pages.', { retryAfter: 30 });
		}
		this.#open.set(client, streams.add(end));
		this.#count++;
		return () => {
			if (!streams.delete(end)) return;
			this.#count--;
			if (streams.size === 0) this.#open.delete(client);
		};
	}

	endAll(): void {
		this.#isStopping = true;
		for (const streams of [...this.#open.values()]) for (const end of [...streams]) end();
	}
}
