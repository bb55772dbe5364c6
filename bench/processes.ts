/** Ends what a run started, in reverse order, like the teardown of a test. */
export class Processes {
	readonly #ends: (() => Promise<void>)[] = [];

	teardown(end: () => Promise<void>): void {
		this.#ends.push(end);
	}

	async end(): Promise<void> {
		for (const end of this.#ends.reverse()) await end();
	}
}
