/** How many are fetched at once: a browser opens six connections to a server, and the page needs some of them. */
const maxInFlight = 4;

/** Tiles that are scrolled away sooner, as during fast scrolling, are not requested. */
const dwellMs = 60;
const pauseMs = 120;

/** How many fetched ones are kept for scrolling back, of some 15 kB each. */
const maxCached = 500;

/** The attempts with a busy server, and the longest `Retry-After` that is accepted. */
const maxAttempts = 5;
const maxWaitMs = 30_000;
const defaultWaitMs = 2000;

/** A thumbnail that was fetched: its object URL, or that the server has none. */
export type Thumbnail = { kind: 'picture'; url: string } | { kind: 'none' };

type Answer = { kind: 'picture'; blob: Blob } | { kind: 'none' } | { kind: 'busy'; waitMs: number };

/**
 * Fetches thumbnails, a few at once, in the order in which they were asked for. By fetch, since an image element reports neither why
 * it failed nor when a busy server permits a retry, and continues loading when it is removed.
 */
export class ThumbnailLoader {
	readonly #fetch: typeof fetch;
	/** Cached thumbnails in the order of their last use. */
	readonly #cached = new Map<string, Thumbnail>();
	readonly #waiting: (() => void)[] = [];
	#inFlight = 0;
	/** When thumbnails may be requested again. */
	#pausedUntil = 0;

	constructor(fetchThumbnail: typeof fetch = (...request) => fetch(...request)) {
		this.#fetch = fetchThumbnail;
	}

	/** The cached image of this URL. */
	peek(url: string): Thumbnail | undefined {
		return this.#cached.get(url);
	}

	/** Requests none for a moment, during fast scrolling. */
	pause(): void {
		this.#pausedUntil = performance.now() + pauseMs;
	}

	/** Fetches a thumbnail; undefined if it could not be fetched now. Throws an `AbortError` when the signal was aborted. */
	async load(url: string, signal: AbortSignal): Promise<Thumbnail | undefined> {
		await wait(dwellMs, signal);
		while (performance.now() < this.#pausedUntil) await wait(this.#pausedUntil - performance.now(), signal);
		for (let attempt = 1; attempt <= maxAttempts; attempt++) {
			const answer = await this.#withSlot(() => this.#request(url, signal), signal);
			if (answer?.kind !== 'busy') return answer && this.#cache(url, answer);
			if (attempt < maxAttempts) await wait(answer.waitMs, signal);
		}
		return undefined;
	}

	async #request(url: string, signal: AbortSignal): Promise<Answer | undefined> {
		try {
			const response = await this.#fetch(url, { credentials: 'same-origin', signal });
			if (response.ok) return { kind: 'picture', blob: await response.blob() };
			await response.body?.cancel();
			if (response.status === 503 || response.status === 429) {
				const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
				return { kind: 'busy', waitMs: Math.min(maxWaitMs, Number.isFinite(seconds) ? seconds * 1000 : defaultWaitMs) };
			}
			// Any other failure may be over the next time; that there is none stays so.
			return response.status === 404 || response.status === 415 ? { kind: 'none' } : undefined;
		} catch (cause) {
			if (signal.aborted) throw cause;
			return undefined;
		}
	}

	async #withSlot<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
		if (this.#inFlight >= maxInFlight) await this.#waitForSlot(signal);
		else this.#inFlight++;
		try {
			signal.throwIfAborted();
			return await work();
		} finally {
			const next = this.#waiting.shift();
			// The next one takes over the place.
			if (next) next();
			else this.#inFlight--;
		}
	}

	#waitForSlot(signal: AbortSignal): Promise<void> {
		return new Promise((resolve, reject) => {
			const leave = () => {
				this.#waiting.splice(this.#waiting.indexOf(enter), 1);
				reject(signal.reason);
			};
			const enter = () => {
				signal.removeEventListener('abort', leave);
				resolve();
			};
			this.#waiting.push(enter);
			signal.addEventListener('abort', leave, { once: true });
		});
	}

	#cache(url: string, answer: Exclude<Answer, { kind: 'busy' }>): Thumbnail {
		const thumbnail: Thumbnail =
			answer.kind === 'none' ? answer : { kind: 'picture', url: URL.createObjectURL(answer.blob) };
		this.#cached.set(url, thumbnail);
		const [oldest] = this.#cached;
		if (oldest && this.#cached.size > maxCached) {
			this.#cached.delete(oldest[0]);
			if (oldest[1].kind === 'picture') URL.revokeObjectURL(oldest[1].url);
		}
		return thumbnail;
	}
}

/** The loader that all lists of the page share. */
export const thumbnails = new ThumbnailLoader();

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		if (signal.aborted) return reject(signal.reason);
		const timer = setTimeout(done, milliseconds);
		function done(): void {
			signal.removeEventListener('abort', stop);
			resolve();
		}
		function stop(): void {
			clearTimeout(timer);
			reject(signal.reason);
		}
		signal.addEventListener('abort', stop, { once: true });
	});
}
