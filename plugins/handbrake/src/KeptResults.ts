/**
 * What was encoded by conversions that failed as it was to be published: it is kept for the next run, which publishes it. A sweep removes
 * it a day after it was written. Until then it counts for no quota, so there is one of each user.
 */
export class KeptResults {
	readonly #byUser = new Map<string, string>();

	/** Records the staged file of a user; resolves to the one that is to be removed for it. */
	keep(userId: string, stagedId: string): string | undefined {
		const former = this.#byUser.get(userId);
		this.#byUser.set(userId, stagedId);
		return former === stagedId ? undefined : former;
	}

	/** A run publishes it now. */
	forget(userId: string, stagedId: string): void {
		if (this.#byUser.get(userId) === stagedId) this.#byUser.delete(userId);
	}
}
