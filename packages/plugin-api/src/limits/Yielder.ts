/** How long work may block the event loop. */
const sliceMs = 5;

const waiting: (() => void)[] = [];

/** One task continues in each turn of the event loop: however many are under way, other requests wait for one of them. */
function wakeNext(): void {
	waiting.shift()?.();
	if (waiting.length > 0) setImmediate(wakeNext);
}

/**
 * Divides long work into time slices: `if (yielder.shouldYield) await yielder.yield()` in its loop lets other requests be served
 * meanwhile.
 */
export class Yielder {
	#begun = performance.now();

	get shouldYield(): boolean {
		return performance.now() - this.#begun > sliceMs;
	}

	/** Resolves when this work may continue. Throws the signal's reason if it has fired by then. */
	async yield(signal?: AbortSignal): Promise<void> {
		await new Promise<void>((resolve) => {
			if (waiting.push(resolve) === 1) setImmediate(wakeNext);
		});
		signal?.throwIfAborted();
		this.#begun = performance.now();
	}
}
