/** Counts attempts in a window, shared by all processes and kept through restarts. */
export interface LimitStore {
	/**
	 * Adds one, or the amount, and resolves to the count in the current window, which begins with the first attempt and lasts `windowMs`.
	 */
	hit(key: string, windowMs: number, now: number, amount?: number): Promise<{ count: number; endsAt: number }>;
	/** Adds one under each of several keys, in one commit. Resolves to the counts in the order of the keys, which must differ. */
	hitEach(
		attempts: readonly { key: string; windowMs: number }[],
		now: number,
	): Promise<{ count: number; endsAt: number }[]>;
	/** What `hitEach` would resolve to now, without counting anything. */
	peekEach(
		attempts: readonly { key: string; windowMs: number }[],
		now: number,
	): Promise<{ count: number; endsAt: number }[]>;
	/**
	 * Subtracts one attempt under each of several keys, in one commit, each in the window in which it was counted: another one is left
	 * alone.
	 */
	releaseEach(counted: readonly { key: string; endsAt: number }[]): Promise<void>;
}

/** Counts amounts, several of which may be counted at once. */
export interface CounterStore extends LimitStore {
	/**
	 * Counts all of these as `hit` does each, or none. Resolves to when the window of each key ends, or to one that would
	 * exceed its `max`.
	 */
	hitAll(
		amounts: readonly { key: string; amount: number; max: number }[],
		windowMs: number,
		now: number,
	): Promise<{ endsAt: ReadonlyMap<string, number> } | { exceeded: { key: string; endsAt: number } }>;
	/** Subtracts an amount in the window in which it was counted: another one is left alone. */
	release(key: string, amount: number, endsAt: number): Promise<void>;
	/** The current windows of those keys that have one. */
	find(keys: readonly string[], now: number): Promise<Map<string, { count: number; endsAt: number }>>;
}
