/** How long work may keep the thread that answers everybody. */
const turnMs = 5;

const waiting: (() => void)[] = [];

/** One task continues in each round of the event loop: however many are under way, other requests wait for one of them. */
function wakeNext(): void {
	waiting.shift()?.();
	if (waiting.length > 0) setImmediate(wakeNext);
}

/** Long work in small steps: `if (pace.isDue) await pace.rest()` in its loop lets other requests be served meanwhile. */
export class Pace {
	#begun = performance.now();

	get isDue(): boolean {
		return performance.now() - this.#begun > turnMs;
	}

	/** Resolves when this work may continue. Throws the signal's reason if it has fired by then. */
	async rest(signal?: AbortSignal): Promise<void> {
		await new Promise<void>((resolve) => {
			if (waiting.push(resolve) === 1) setImmediate(wakeNext);
		});
		signal?.throwIfAborted();
		this.#begun = performance.now();
	}
}
