const everyMs = 5_000;

/** Notes now and then how far a long body has come, so that a crash costs its last seconds only. */
export class Checkpoints {
	#running: Promise<void> | undefined;
	readonly #timer: NodeJS.Timeout;

	/** What `note` throws is left to whoever notes the end: it meets the same fault, the fault is over, or the storage has dropped what it could not keep. */
	constructor(note: () => Promise<unknown>) {
		this.#timer = setInterval(() => {
			this.#running ??= note()
				.then(
					() => {},
					() => {},
				)
				.finally(() => {
					this.#running = undefined;
				});
		}, everyMs);
		this.#timer.unref();
	}

	/** Resolves when nothing is noted any more. */
	async stop(): Promise<void> {
		clearInterval(this.#timer);
		await this.#running;
	}
}
