import { hasWatch, type StorageProvider, type Watch } from '@stowage/plugin-api';
import { isFailure, type StoragePath } from '@stowage/rules';
import type { Log } from '../../log.js';
import { fingerprintOf } from './fingerprint.js';

/** The times of feeds, in milliseconds. */
export const feedTimes = {
	/** How often a missing folder is searched for. */
	searchMs: 1000,
	/** Of many folders each is searched for less often: a page shows one that is missing in the trees of all other users. */
	searchMsPerFeed: 2,
	/** The longest time between two searches, however long one takes. */
	mostSearchMs: 30_000,
	/** How often a folder without notifications is polled. */
	pollMs: 5000,
};

/** Polling takes at most this share of the time, so a large remote folder is polled less often. */
const pollShare = 0.25;

/** Searching for a missing folder takes at most this share of the time. It may lie below a thousand others, on a slow disk. */
const searchShare = 0.1;

interface Surroundings {
	/** Called with whether the system allows a further watch, each time one is tried. */
	onWatch(isAllowed: boolean): void;
	/** How many folders are watched by this process. */
	countFeeds(): number;
	/** Whether the folder above is known to be missing, too. */
	isAboveMissing(path: StoragePath): Promise<boolean>;
	times: typeof feedTimes;
}

/**
 * Notifies subscribers of changes of one folder, whether it exists or not: as the storage notifies of them, or else by
 * polling. A folder whose state can't be read counts as changed, so that its subscribers fetch it.
 */
export class FolderFeed {
	readonly subscribers = new Set<() => void>();
	/** Resolves when no later change is missed. */
	readonly ready: Promise<void>;
	#watch: Watch | undefined;
	#timer: NodeJS.Timeout | undefined;
	#last: string | undefined;
	#needsPolling = false;
	#isClosed = false;

	constructor(
		readonly storage: StorageProvider,
		readonly path: StoragePath,
		readonly log: Log,
		readonly surroundings: Surroundings,
	) {
		this.ready = this.#check();
	}

	/** Whether the storage notifies of changes, so that no polling is needed. */
	get isWatched(): boolean {
		return this.#watch !== undefined;
	}

	/** Whether the folder exists and its storage does not notify of changes. */
	get isPolled(): boolean {
		return this.#watch === undefined && this.#needsPolling;
	}

	notify(): void {
		for (const onChange of this.subscribers) onChange();
	}

	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#timer);
		this.#watch?.close();
	}

	async #check(): Promise<void> {
		const started = performance.now();
		if (this.#last === 'away' && (await this.surroundings.isAboveMissing(this.path))) {
			if (!this.#isClosed) this.#scheduleCheck(this.#searchMsAfter(started));
			return;
		}
		let next = this.#searchMs;
		let found: string;
		try {
			this.#watch = await this.#startWatch();
			this.#needsPolling = this.#watch === undefined;
			if (this.#needsPolling) {
				found = await fingerprintOf(this.storage.list(this.path));
				next = Math.max(this.surroundings.times.pollMs, (performance.now() - started) / pollShare);
			} else found = 'watched';
		} catch (error) {
			if (!isFailure(error)) this.log.warn({ err: error }, 'a folder could not be watched');
			found = 'away';
			next = this.#searchMsAfter(started);
			this.#needsPolling = false;
		}
		if (this.#isClosed) return this.#watch?.close();
		if (found !== 'watched') this.#scheduleCheck(next);
		if (this.#last !== undefined && this.#last !== found) this.notify();
		this.#last = found;
	}

	async #startWatch(): Promise<Watch | undefined> {
		if (!hasWatch(this.storage)) return undefined;
		const watch = await this.storage.watch(this.path, {
			onChange: () => this.notify(),
			onLimitReached: () => this.surroundings.onWatch(false),
			onEnd: () => {
				if (this.#isClosed) return;
				this.#watch = undefined;
				// Whatever state is found next counts as a change.
				this.#last = 'ended';
				this.notify();
				this.#scheduleCheck(this.#searchMs);
			},
		});
		if (watch !== undefined) this.surroundings.onWatch(true);
		return watch;
	}

	get #searchMs(): number {
		const { times, countFeeds } = this.surroundings;
		return Math.max(times.searchMs, times.searchMsPerFeed * countFeeds());
	}

	/** How long to wait after a search that began then and has ended now. */
	#searchMsAfter(started: number): number {
		const { mostSearchMs } = this.surroundings.times;
		return Math.max(this.#searchMs, Math.min(mostSearchMs, (performance.now() - started) / searchShare));
	}

	#scheduleCheck(ms: number): void {
		this.#timer = setTimeout(() => void this.#check(), ms);
		this.#timer.unref();
	}
}
