/** How often the subscribed sessions are looked up: they may end in another process, by a command, or by expiry. */
const pollMs = 1000;

/** The sessions of open streams; all of them are looked up together, however many streams they have. */
export class SessionSubscriptions {
	readonly #subscribers = new Map<string, Set<() => void>>();
	#timer: NodeJS.Timeout | undefined;
	#isLooking = false;

	/** `findValid` resolves to those of these sessions that have not ended. */
	constructor(readonly findValid: (idHashes: readonly string[]) => Promise<ReadonlySet<string>>) {}

	/** Calls `onEnd` once the session has ended, until the returned function is called. */
	subscribe(idHash: string, onEnd: () => void): () => void {
		const subscribers = this.#subscribers.get(idHash) ?? new Set();
		this.#subscribers.set(idHash, subscribers.add(onEnd));
		this.#timer ??= setInterval(() => void this.#check(), pollMs).unref();
		return () => {
			subscribers.delete(onEnd);
			if (subscribers.size === 0 && this.#subscribers.get(idHash) === subscribers) this.#subscribers.delete(idHash);
			if (this.#subscribers.size > 0) return;
			clearInterval(this.#timer);
			this.#timer = undefined;
		};
	}

	/** How many wait for the end of one. */
	get count(): number {
		return [...this.#subscribers.values()].reduce((sum, { size }) => sum + size, 0);
	}

	async #check(): Promise<void> {
		if (this.#isLooking) return;
		this.#isLooking = true;
		try {
			const asked = [...this.#subscribers];
			const alive = await this.findValid(asked.map(([idHash]) => idHash));
			for (const [idHash, subscribers] of asked) {
				if (alive.has(idHash)) continue;
				for (const onEnd of [...subscribers]) onEnd();
			}
		} catch {
			// An outage of the database ends no session; each request that needs it fails by itself.
		} finally {
			this.#isLooking = false;
		}
	}
}
