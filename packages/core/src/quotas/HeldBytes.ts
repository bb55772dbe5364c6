import { plus } from './amounts.js';
import type { Amount } from './measureTree.js';

interface Dependencies {
	/** Reads what they come to. */
	find(): Promise<Amount>;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** The bytes of unfinished uploads without a connection, as last read and as changed since by this process. */
export class HeldBytes {
	readonly #parts: Dependencies;
	#amount: Amount = { bytes: 0, entries: 0 };
	#readAt = Number.NEGATIVE_INFINITY;
	#reading: Promise<void> | undefined;
	/** How often bytes went over from a connection to an unfinished upload, or back, or were dropped with it. */
	#transfers = 0;

	constructor(parts: Dependencies) {
		this.#parts = parts;
	}

	get amount(): Amount {
		return this.#amount;
	}

	/** Reads them anew unless that was done within `maxAgeMs`. */
	async refresh(maxAgeMs: number): Promise<void> {
		if (this.#parts.monotonic() - this.#readAt < maxAgeMs) return;
		this.#reading ??= this.#read().finally(() => {
			this.#reading = undefined;
		});
		await this.#reading;
	}

	/** So much went over to an unfinished upload; less than nothing if it came back. */
	add(more: Amount): void {
		this.#transfers++;
		this.#amount = plus(this.#amount, more);
	}

	/** Some were dropped. */
	invalidate(): void {
		this.#transfers++;
		this.#readAt = Number.NEGATIVE_INFINITY;
	}

	async #read(): Promise<void> {
		for (;;) {
			const at = this.#parts.monotonic();
			const transfers = this.#transfers;
			const amount = await this.#parts.find();
			// Else what went over meanwhile would count twice, or not at all.
			if (transfers !== this.#transfers) continue;
			this.#amount = amount;
			this.#readAt = at;
			return;
		}
	}
}
