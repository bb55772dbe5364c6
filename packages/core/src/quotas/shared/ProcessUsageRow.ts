import { createKeyedMutex } from '../../limits/keyedMutex.js';
import { amountKinds, isNothing, negative, smaller, sum, zero } from '../amounts.js';
import type { Amount } from '../measureTree.js';
import type { CountedHome, SharedParts } from './sharedParts.js';

interface Dependencies extends Pick<SharedParts, 'store' | 'identity' | 'monotonic'> {
	/** Called where it is not known whether a measurement has seen what was removed. */
	onDoubt(): void;
}

/**
 * What this process has published, reserved and removed in a home, and its row, which says at least as much of the
 * first two and at most as much of the last.
 */
export class ProcessUsageRow {
	readonly #parts: Dependencies;
	readonly #home: CountedHome;
	/** What was published here since the row was made, and what was removed. */
	#published = zero();
	#removed = zero();
	/** Removed, and not in the row yet. */
	#unsaved = zero();
	/** What the row says that was added, and what of that was published. */
	#saved = zero();
	#savedPublished = zero();
	/** How much of that may be published and reserved without a look at what others have. */
	#granted = zero();
	/** The number of the row; undefined without one. */
	#number: number | undefined;
	#savedAt = Number.NEGATIVE_INFINITY;
	readonly #exclusively = createKeyedMutex();

	constructor(parts: Dependencies, home: CountedHome) {
		this.#parts = parts;
		this.#home = home;
	}

	get exists(): boolean {
		return this.#number !== undefined;
	}

	/** Milliseconds since it was written, or should have been. */
	get ageMs(): number {
		return this.#parts.monotonic() - this.#savedAt;
	}

	/** What this process has published here and not removed again. */
	get change(): Amount {
		return sum(this.#published, negative(this.#removed), negative(this.#unsaved));
	}

	/** Whether what is published and reserved may be so without a look at what others have. */
	get isGranted(): boolean {
		const need = this.#need();
		return this.exists && amountKinds.every((kind) => need[kind] <= this.#granted[kind]);
	}

	/** Whether it says what is: neither more was taken in advance, nor was something published or removed that it does not say. */
	get isExact(): boolean {
		const unpublished = sum(this.#published, negative(this.#savedPublished));
		return [sum(this.#saved, negative(this.#need())), unpublished, this.#unsaved].every(isNothing);
	}

	publish(amount: Readonly<Amount>): void {
		this.#published = sum(this.#published, amount);
	}

	remove(amount: Readonly<Amount>): void {
		this.#unsaved = sum(this.#unsaved, amount);
	}

	/**
	 * Lets this process publish and reserve `more` than it has now, at most what the row says. Applies to `kinds` only;
	 * other grants stay.
	 */
	grant(more: Readonly<Amount>, kinds: readonly (keyof Amount)[]): void {
		const granted = smaller(this.#saved, sum(this.#need(), more));
		for (const kind of kinds) this.#granted[kind] = granted[kind];
	}

	/** What was granted grows or shrinks by this. */
	changeGrant(amount: Readonly<Amount>): void {
		this.#granted = sum(this.#granted, amount);
	}

	/** The grant is never more than the row says. */
	limitGrant(): void {
		this.#granted = smaller(this.#saved, this.#granted);
	}

	/** Runs what writes the row: one after another. */
	exclusively<T>(work: () => Promise<T>): Promise<T> {
		return this.#exclusively('', work);
	}

	/** Writes what is needed, once what writes it already has ended. */
	saveNeed(): Promise<void> {
		return this.exclusively(() => this.save(zero()));
	}

	/** Writes the row, with so much more than is needed. Only within `exclusively`. */
	async save(more: Readonly<Amount>): Promise<void> {
		const { store, identity, monotonic } = this.#parts;
		const { key } = this.#home;
		this.#savedAt = monotonic();
		for (;;) {
			if (this.#number === undefined) {
				// What it had counted before is in the last measurement; what it was granted there may have gone to others.
				this.#granted = zero();
				this.#published = zero();
				this.#removed = zero();
				this.#unsaved = zero();
				const added = sum(this.#need(), more);
				this.#number = await store.begin(key, identity.name, added);
				this.#saved = added;
				this.#savedPublished = zero();
				return;
			}
			const added = sum(this.#need(), more);
			const unsaved = this.#unsaved;
			const removed = sum(this.#removed, unsaved);
			const published = this.#published;
			if (await store.save(key, identity.name, this.#number, { added, published, removed })) {
				this.#saved = added;
				this.#savedPublished = published;
				this.#granted = smaller(this.#granted, added);
				this.#removed = removed;
				this.#unsaved = sum(this.#unsaved, negative(unsaved));
				return;
			}
			// Measured meanwhile: whether the walk has seen what was removed is not known.
			const row = await store.find(key, identity.name);
			this.#number = row?.number;
			if (unsaved.bytes !== 0 || unsaved.entries !== 0) this.#parts.onDoubt();
			this.#unsaved = sum(this.#unsaved, negative(unsaved));
		}
	}

	#need(): Amount {
		return sum(this.#published, this.#home.reserved);
	}
}
