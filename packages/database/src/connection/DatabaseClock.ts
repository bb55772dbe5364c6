import type { Knex } from 'knex';

/** Differences of less are not corrected: a comparison over a busy network is not more exact. */
const minCorrectionMs = 250;

/** The corrections of clocks, by the settings of the connections to which they belong. */
const corrections = new WeakMap<object, () => number>();

/** Milliseconds by which `now` of the stores of these connections is behind the clock of this machine. */
export function correctionOf(knex: Knex): number {
	return corrections.get((knex.client as Knex.Client).config)?.() ?? 0;
}

/** How far a clock is ahead of its database's. */
export interface ClockDifference {
	offset: number;
	/** The most that `offset` may be wrong by. */
	uncertainty: number;
}

/**
 * The time of day as the database has it, so that processes on several machines count limits and expiries by one
 * clock: that of this machine, corrected by how far it was off at the last comparison.
 */
export class DatabaseClock {
	readonly #knex: Knex;
	readonly #given: () => number;
	#correction = 0;

	constructor(knex: Knex, given: () => number) {
		this.#knex = knex;
		this.#given = given;
		corrections.set((knex.client as Knex.Client).config, () => this.#correction);
	}

	readonly now = (): number => this.#given() - this.#correction;

	/** Compares the clocks, and corrects `now` from then on. */
	async compare(): Promise<ClockDifference> {
		const startedAt = performance.now();
		const before = Date.now();
		const [[row]] = await this.#knex.raw(
			"select timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000 as time",
		);
		const took = performance.now() - startedAt;
		// The server has read its clock at some moment within that.
		const offset = Math.round(before + took / 2 - Number(row.time));
		const uncertainty = Math.ceil(took / 2);
		const isExact = Math.abs(offset) <= minCorrectionMs + uncertainty;
		// After a slow comparison the former one is worth more.
		if (isExact && uncertainty <= minCorrectionMs) this.#correction = 0;
		else if (!isExact) this.#correction = offset;
		return { offset, uncertainty };
	}
}
