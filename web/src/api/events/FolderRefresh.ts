/** News wait this long, so that the page's own reading after its own change answers them. */
const settleMs = 80;

/** While the page itself changes things it reads again when it has done, unless that takes longer than this. */
const patienceMs = 1200;

/** Between the end of one reading and the next: as long as it took, within these bounds. */
const leastPauseMs = 300;
const mostPauseMs = 5000;

export interface FolderReader {
	/** Reads the folder again. */
	read(): void;
	isReading(): boolean;
	/** Whether the page's own calls change something right now. */
	isChanging(): boolean;
	now(): number;
	/** Calls `action` later; the returned function drops it. */
	later(action: () => void, ms: number): () => void;
}

/** Reads a folder again after news of it: soon, never twice at once, and never more often than it can be shown. News are never lost. */
export class FolderRefresh {
	/** When the first of the news came that no reading has answered yet. */
	#newsSince: number | undefined;
	#started = 0;
	#ended = Number.NEGATIVE_INFINITY;
	#pause = leastPauseMs;
	#drop: (() => void) | undefined;

	constructor(readonly reader: FolderReader) {}

	/** The folder may have changed. */
	onNews(): void {
		this.#newsSince ??= this.reader.now();
		this.#look();
	}

	/** Somebody began to read it; what was news before is answered by that. */
	onReadingStarted(): void {
		this.#started = this.reader.now();
		this.#newsSince = undefined;
	}

	/** A try failed and another follows. */
	onReadingRetried(): void {
		this.#started = this.reader.now();
	}

	/** One that failed says nothing about how long it takes: most of that was waiting for the server. */
	onReadingEnded(outcome: 'success' | 'error'): void {
		this.#ended = this.reader.now();
		const took = outcome === 'success' ? this.#ended - this.#started : 0;
		this.#pause = Math.min(mostPauseMs, Math.max(leastPauseMs, took));
		this.#look();
	}

	stop(): void {
		this.#drop?.();
		this.#newsSince = undefined;
	}

	#look(): void {
		this.#drop?.();
		if (this.#newsSince === undefined || this.reader.isReading()) return;
		const now = this.reader.now();
		const due = Math.max(this.#newsSince + settleMs, this.#ended + this.#pause);
		const isTooSoon = this.reader.isChanging() && now < this.#newsSince + patienceMs;
		if (now < due) this.#lookIn(due - now);
		else if (isTooSoon) this.#lookIn(settleMs);
		else {
			this.#newsSince = undefined;
			this.reader.read();
		}
	}

	#lookIn(ms: number): void {
		this.#drop = this.reader.later(() => this.#look(), ms);
	}
}
