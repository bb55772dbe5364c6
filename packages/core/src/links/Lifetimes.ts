import type { LinkRecord } from '@stowage/plugin-api';

/** Clocks of several machines differ by less. */
const clockSkewMs = 5 * 60_000;

/** Links whose expiry is tracked at most; others expire by the time of day only. */
const maxRemembered = 10_000;

type Lifetime = Pick<LinkRecord, 'id' | 'createdAt' | 'expiresAt' | 'isEnded'>;

/**
 * Whether links have expired. Times of day are stored, but the clock may be set back; so each link that this process has seen also
 * expires when its time has really passed.
 */
export class Lifetimes {
	/** Ends on the monotonic clock, those that were seen first first. */
	readonly #ends = new Map<string, number>();

	/** The time of day in milliseconds since the epoch, and a monotonic clock. */
	constructor(
		readonly now: () => number,
		readonly monotonic: () => number,
	) {}

	/**
	 * A link that is `notYetValid` was made while the clock was wrong, and could be valid for years: it counts as expired until the clock
	 * has reached that time.
	 */
	stateOf({ id, createdAt, expiresAt, isEnded }: Lifetime): 'good' | 'expired' | 'notYetValid' {
		const time = this.now();
		if (isEnded || time >= expiresAt) return 'expired';
		const end = this.#ends.get(id);
		if (end !== undefined) return this.monotonic() < end ? 'good' : 'expired';
		if (time < createdAt - clockSkewMs) return 'notYetValid';
		this.#ends.set(id, this.monotonic() + expiresAt - Math.max(time, createdAt));
		const [first] = this.#ends.keys();
		if (this.#ends.size > maxRemembered && first !== undefined) this.#ends.delete(first);
		return 'good';
	}
}
