/** Notifies open responses when their session or ticket ends. All are looked up together, however many responses they have. */
export class EndSubscriptions {
	readonly #subscribers = new Map<string, Set<() => void>>();
	readonly #pollMs: number;
	readonly #findEnded: (keys: readonly string[]) => Promise<ReadonlySet<string>>;
	#timer: NodeJS.Timeout | undefined;
	#isLooking = false;

	/**
	 * `findEnded` resolves to those of these keys that have ended, and is called every `pollMs`, once at a time: they may end in another
	 * process, by a command, or by expiry.
	 */
	constructor(pollMs: number, findEnded: (keys: readonly string[]) => Promise<ReadonlySet<string>>) {
		this.#pollMs = pollMs;
		this.#findEnded = findEnded;
	}

	/** Calls `onEnd` once that has ended, until the returned function is called. */
	subscribe(key: string, onEnd: () => void): () => void {
		const subscribers = this.#subscribers.get(key) ?? new Set();
		this.#subscribers.set(key, subscribers.add(onEnd));
		this.#timer ??= setInterval(() => void this.#check(), this.#pollMs).unref();
		return () => {
			subscribers.delete(onEnd);
			if (subscribers.size === 0 && this.#subscribers.get(key) === subscribers) this.#subscribers.delete(key);
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
		// An outage of the database ends nothing; each request that needs it fails by itself.
		const ended = await this.#findEnded([...this.#subscribers.keys()]).catch((): ReadonlySet<string> => new Set());
		this.#isLooking = false;
		for (const onEnd of [...ended].flatMap((key) => [...(this.#subscribers.get(key) ?? [])])) {
			try {
				onEnd();
			} catch {
				// A response that can't be ended keeps no other one open.
			}
		}
	}
}
