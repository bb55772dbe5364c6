import { isFailure } from '@stowage/rules';
import { amountKinds } from '../amounts.js';
import type { ProcessUsageRow } from './ProcessUsageRow.js';
import type { CountedHome, SharedParts } from './sharedParts.js';

/** How soon others learn what this process has given back. */
export const settleMs = 500;

/** A row with something reserved is written so often at least. */
const touchMs = 60_000;

/** What this process has to tell the others that count a home: what it gives back, what was removed, and what it doesn't know of that. */
export class Settlement {
	readonly #parts: Pick<SharedParts, 'store' | 'log'>;
	readonly #home: CountedHome;
	readonly #row: ProcessUsageRow;
	/** A removal was not counted, or may not have been. */
	#isInexact = false;
	/** The others don't know that yet. */
	#isDoubtUntold = false;
	#timer: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(parts: Pick<SharedParts, 'store' | 'log'>, home: CountedHome, row: ProcessUsageRow) {
		this.#parts = parts;
		this.#home = home;
		this.#row = row;
	}

	/** Whether a removal was not counted since the last measurement began, or may not have been. */
	get isInexact(): boolean {
		return this.#isInexact;
	}

	/** A removal is not counted, or may not be. */
	doubt(): void {
		this.#isInexact = true;
		this.#isDoubtUntold = true;
	}

	/** What was removed before is seen. */
	beginMeasurement(): void {
		this.#isInexact = false;
	}

	/** The others hear of it soon. */
	settleLater(): void {
		if (this.#isClosed || this.#timer !== undefined) return;
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			this.#settle().catch((error: unknown) => {
				if (!isFailure(error)) this.#reportUnsaved(error);
				this.settleLater();
			});
		}, settleMs).unref();
	}

	/** The others hear of it at once, or soon, while nothing can be written. */
	async settleNow(): Promise<void> {
		try {
			await this.#settle();
		} catch (error) {
			if (!isFailure(error)) throw error;
			this.settleLater();
		}
	}

	/** As `settleNow`, but nobody waits for it. */
	beginToSettle(): void {
		this.settleNow().catch((error: unknown) => this.#reportUnsaved(error));
	}

	/** Tells the others what is left of this process's. */
	async close(): Promise<void> {
		this.#isClosed = true;
		clearTimeout(this.#timer);
		await this.#tellDoubt();
		if (this.#row.exists) await this.#row.saveNeed();
	}

	#reportUnsaved(error: unknown): void {
		this.#parts.log.error({ err: error }, 'the usage of a home could not be saved');
	}

	async #settle(): Promise<void> {
		await this.#tellDoubt();
		// Who only removed something there has nothing to count.
		if (!this.#row.exists) return;
		const { reserved } = this.#home;
		const isBusy = amountKinds.some((kind) => reserved[kind] > 0);
		const mayWait = this.#row.isExact && this.#row.ageMs < touchMs;
		if (!mayWait) await this.#row.saveNeed();
		if (isBusy) this.settleLater();
	}

	async #tellDoubt(): Promise<void> {
		if (!this.#isDoubtUntold) return;
		this.#isDoubtUntold = false;
		await this.#parts.store.doubt(this.#home.key).catch((error: unknown) => {
			this.#isDoubtUntold = true;
			throw error;
		});
	}
}
