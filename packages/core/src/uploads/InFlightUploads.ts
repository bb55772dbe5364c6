/** Uploads that are arriving. One that is interrupted by the stop of the server still needs the storage and the database, to clean up. */
export class InFlightUploads {
	readonly #running = new Set<Promise<unknown>>();

	/** Runs `work`, which `close` waits for. */
	async run<T>(work: () => Promise<T>): Promise<T> {
		const running = work();
		this.#running.add(running);
		try {
			return await running;
		} finally {
			this.#running.delete(running);
		}
	}

	/** Resolves when all have ended, well or not. */
	async close(): Promise<void> {
		await Promise.allSettled(this.#running);
	}
}
