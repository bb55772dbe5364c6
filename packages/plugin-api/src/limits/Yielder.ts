/** How long work may block the event loop. */
const sliceMs = 5;

const waiting: (() => void)[] = [];

/** Continues one task in each turn of the event loop: however many are under way, other requests wait for one of them. */
function wakeNext(): void {
	waiting.shift()?.();
	if (waiting.length > 0) setImmediate(wakeNext);
}

/** The place of long work in a queue, which it gives up for a while when its turn is over. */
export interface Turn {
	/** Whether others wait for the place and this work has had it for long enough. */
	readonly isOver: boolean;
	/**
	 * Gives the place to who is next, and resolves when it is this work's turn again. Throws the reason of the signal
	 * that the work waited with.
	 */
	next(): Promise<void>;
}

/**
 * Divides long work into time slices: `if (yielder.shouldYield) await yielder.yield()` in its loop lets other requests be served
 * meanwhile. Work in a queue whose places are for a time passes its turn.
 */
export class Yielder {
	readonly #turn: Turn | undefined;
	#begun = performance.now();

	constructor(turn?: Turn) {
		this.#turn = turn;
	}

	get shouldYield(): boolean {
		return performance.now() - this.#begun > sliceMs;
	}

	/** Resolves when this work may continue. Throws the signal's reason if it has fired by then. */
	async yield(signal?: AbortSignal): Promise<void> {
		if (this.#turn?.isOver) await this.#turn.next();
		await new Promise<void>((resolve) => {
			if (waiting.push(resolve) === 1) setImmediate(wakeNext);
		});
		signal?.throwIfAborted();
		this.#begun = performance.now();
	}
}
