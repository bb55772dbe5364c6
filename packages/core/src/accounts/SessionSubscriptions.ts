/** How often a session that somebody follows is looked at: it may end in another process, by a command, or by itself. */
const lookMs = 1000;

/** Sessions that open streams belong to; each is looked at once, however many streams it has. */
export class SessionSubscriptions {
	readonly #sessions = new Map<string, Set<() => void>>();
	#timer: NodeJS.Timeout | undefined;
	#isLooking = false;

	constructor(readonly isAlive: (idHash: string) => Promise<boolean>) {}

	/** Calls `onEnd` once the session has ended, until the returned function is called. */
	subscribe(idHash: string, onEnd: () => void): () => void {
		const followers = this.#sessions.get(idHash) ?? new Set();
		this.#sessions.set(idHash, followers.add(onEnd));
		this.#timer ??= setInterval(() => void this.#look(), lookMs).unref();
		return () => {
			followers.delete(onEnd);
			if (followers.size === 0 && this.#sessions.get(idHash) === followers) this.#sessions.delete(idHash);
			if (this.#sessions.size > 0) return;
			clearInterval(this.#timer);
			this.#timer = undefined;
		};
	}

	async #look(): Promise<void> {
		if (this.#isLooking) return;
		this.#isLooking = true;
		try {
			for (const [idHash, followers] of [...this.#sessions]) {
				if (await this.isAlive(idHash)) continue;
				for (const onEnd of [...followers]) onEnd();
			}
		} catch {
			// A database that is away ends no session; each request that needs it says so.
		} finally {
			this.#isLooking = false;
		}
	}
}
