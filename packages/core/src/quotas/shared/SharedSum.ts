import type { UsageState } from '@stowage/plugin-api';
import { negative, sum, zero } from '../amounts.js';
import type { Amount } from '../measureTree.js';
import type { CountedHome, SharedParts } from './sharedParts.js';

/** What several processes count of a home, as one of them has read it last. */
export class SharedSum {
	readonly #parts: Pick<SharedParts, 'store' | 'identity' | 'monotonic'>;
	readonly #home: Pick<CountedHome, 'key' | 'owner'>;
	/** What this process has published and removed itself. */
	readonly #ownChange: () => Amount;
	#state: UsageState | undefined;
	#readAt = Number.NEGATIVE_INFINITY;
	/** How often something that was reserved here went over to an unfinished upload. */
	#transfers = 0;

	constructor(
		parts: Pick<SharedParts, 'store' | 'identity' | 'monotonic'>,
		home: Pick<CountedHome, 'key' | 'owner'>,
		ownChange: () => Amount,
	) {
		this.#parts = parts;
		this.#home = home;
		this.#ownChange = ownChange;
	}

	/** Whether it was read at all. */
	get isRead(): boolean {
		return this.#state !== undefined;
	}

	/** The number of the last measurement; 0 without one. */
	get number(): number {
		return this.#state?.number ?? 0;
	}

	/** Whether nothing was published or removed while it was measured. */
	get isExact(): boolean {
		return this.#state?.isExact === true;
	}

	/** Milliseconds since the last measurement. */
	get ageMs(): number {
		return (this.#state?.ageMs ?? 0) + this.#sinceReadMs();
	}

	/** The content, with what others have reserved. */
	get used(): Amount {
		return this.#counted(zero());
	}

	/** The content alone: of what others have published lately without what they have not said yet. */
	get content(): Amount {
		return this.#counted(this.unpublished);
	}

	/** Bytes of unfinished uploads. */
	get held(): Amount {
		return this.#state?.held ?? zero();
	}

	/** What others have reserved, or taken in advance. */
	get unpublished(): Amount {
		return this.#state?.unpublished ?? zero();
	}

	async read(): Promise<void> {
		const { store, identity, monotonic } = this.#parts;
		const { key, owner } = this.#home;
		for (;;) {
			const at = monotonic();
			const transfers = this.#transfers;
			this.#state = await store.state(key, owner, identity.name);
			this.#readAt = at;
			// Else what was reserved here a moment ago might be in neither.
			if (transfers === this.#transfers) return;
		}
	}

	/** Reads it unless that was done within `maxAgeMs`. */
	async refresh(maxAgeMs: number): Promise<void> {
		if (!this.isRead || this.#sinceReadMs() >= maxAgeMs) await this.read();
	}

	/** Something that was reserved here counts as an unfinished upload from now on. */
	transferred(): void {
		this.#transfers++;
	}

	#sinceReadMs(): number {
		return this.#parts.monotonic() - this.#readAt;
	}

	#counted(without: Readonly<Amount>): Amount {
		const { base = zero(), others = zero() } = this.#state ?? {};
		const { bytes, entries } = sum(base, others, this.#ownChange(), negative(without));
		return { bytes: Math.max(0, bytes), entries: Math.max(0, entries) };
	}
}
