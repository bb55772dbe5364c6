/** How long an event waits for the page's own refetch after its own change, which makes it redundant. */
const debounceMs = 80;

/** While the page itself changes something, it refetches when it is done. After this long an event no longer waits for that. */
const maxWaitForOwnChangeMs = 1200;

/** The pause between two fetches is as long as the last one took, within these bounds. */
const minPauseMs = 300;
const maxPauseMs = 5000;

export interface FolderSource {
	/** Fetches the folder again. */
	refetch(): void;
	isFetching(): boolean;
	/** Whether a call of this page is changing something right now. */
	isMutating(): boolean;
	now(): number;
	/** Calls `action` later; the returned function cancels that. */
	schedule(action: () => void, ms: number): () => void;
}

/**
 * Refetches a folder after change events: soon, never twice at once, and no more often than the result can be shown.
 * Every event is followed by a fetch that began after it.
 */
export class FolderRefresh {
	/** The time of the first event that no fetch has covered yet. */
	#pendingSince: number | undefined;
	#fetchStarted = 0;
	#fetchEnded = Number.NEGATIVE_INFINITY;
	#pause = minPauseMs;
	#cancelScheduled: (() => void) | undefined;

	constructor(readonly source: FolderSource) {}

	/** The folder may have changed. */
	onChangeEvent(): void {
		this.#pendingSince ??= this.source.now();
		this.#refetchWhenDue();
	}

	/** A fetch began, for whatever reason. It covers all events so far. */
	onFetchStarted(): void {
		this.#fetchStarted = this.source.now();
		this.#pendingSince = undefined;
	}

	/** An attempt failed and another one follows. */
	onFetchRetried(): void {
		this.#fetchStarted = this.source.now();
	}

	/** The duration of a failed fetch sets no pause: most of it was spent waiting for the server. */
	onFetchEnded(outcome: 'success' | 'error'): void {
		this.#fetchEnded = this.source.now();
		const duration = outcome === 'success' ? this.#fetchEnded - this.#fetchStarted : 0;
		this.#pause = Math.min(maxPauseMs, Math.max(minPauseMs, duration));
		this.#refetchWhenDue();
	}

	stop(): void {
		this.#cancelScheduled?.();
		this.#pendingSince = undefined;
	}

	#refetchWhenDue(): void {
		this.#cancelScheduled?.();
		if (this.#pendingSince === undefined || this.source.isFetching()) return;
		const now = this.source.now();
		const due = Math.max(this.#pendingSince + debounceMs, this.#fetchEnded + this.#pause);
		const waitsForOwnChange = this.source.isMutating() && now < this.#pendingSince + maxWaitForOwnChangeMs;
		if (now < due) this.#checkAgainIn(due - now);
		else if (waitsForOwnChange) this.#checkAgainIn(debounceMs);
		else {
			this.#pendingSince = undefined;
			this.source.refetch();
		}
	}

	#checkAgainIn(ms: number): void {
		this.#cancelScheduled = this.source.schedule(() => this.#refetchWhenDue(), ms);
	}
}
