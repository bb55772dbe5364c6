import { amountKinds, negative, sum, zero } from '../amounts.js';
import type { Amount } from '../measureTree.js';
import type { ProcessUsageRow } from './ProcessUsageRow.js';
import type { SharedSum } from './SharedSum.js';
import type { CountedHome } from './sharedParts.js';

/**
 * What a process takes from a quota at once before it needs it, so that not each chunk is a write: the 64th part of
 * what is left, or nothing where that is less than the minimum, so that nobody keeps the last room from others. Eight
 * processes keep no more than 32 MB from each other.
 */
const stepParts = 64;
const step = {
	bytes: { min: 64 * 1024, max: 4 * 1024 * 1024 },
	entries: { min: 1, max: 64 },
};

/** What a process takes from a quota that it counts with others: it says so by its row, and then looks at what all others have. */
export class Grants {
	readonly #home: CountedHome;
	readonly #row: ProcessUsageRow;
	readonly #sum: SharedSum;
	#isShort = false;
	#undecided = zero();

	constructor(home: CountedHome, row: ProcessUsageRow, sum: SharedSum) {
		this.#home = home;
		this.#row = row;
		this.#sum = sum;
	}

	/**
	 * Whether so little was left that nothing was taken in advance: then what is published is said at once, and no
	 * measurement counts it twice.
	 */
	get isShort(): boolean {
		return this.#isShort;
	}

	/** What was just reserved here, and may have to be released. */
	get undecided(): Amount {
		return this.#undecided;
	}

	/** Resolves to whether what was just reserved here fits with what all others have; if not, it has to be released. */
	async take(amount: Readonly<Amount>, limit: Readonly<Amount>): Promise<boolean> {
		if (this.#row.isGranted) return true;
		this.#undecided = sum(this.#undecided, amount);
		try {
			return await this.#row.exclusively(() => this.#decide(amount, limit));
		} finally {
			// Once the caller has released it.
			setImmediate(() => {
				this.#undecided = sum(this.#undecided, negative(amount));
			});
		}
	}

	async #decide(amount: Readonly<Amount>, limit: Readonly<Amount>): Promise<boolean> {
		if (this.#row.isGranted) return true;
		const more = this.#step(limit);
		this.#isShort = amountKinds.some((kind) => limit[kind] > 0 && more[kind] === 0);
		await this.#row.save(more);
		await this.#sum.read();
		// From here to where it is granted nothing else may be reserved.
		const left = (kind: keyof Amount) => (limit[kind] === 0 ? Number.POSITIVE_INFINITY : this.#left(limit, kind));
		if (amountKinds.some((kind) => amount[kind] > 0 && left(kind) < 0)) {
			// It keeps nothing from others who try the same.
			await this.#row.save(negative(amount));
			return false;
		}
		const isRoomForMore = amountKinds.every((kind) => left(kind) >= more[kind]);
		// What others of this process try to take meanwhile is not granted with it.
		const room = amountKinds.filter((kind) => left(kind) >= 0);
		this.#row.grant(isRoomForMore ? more : zero(), room);
		if (!isRoomForMore) await this.#row.save(zero());
		return true;
	}

	#left(limit: Readonly<Amount>, kind: keyof Amount): number {
		return limit[kind] - this.#sum.used[kind] - this.#home.reserved[kind] - this.#sum.held[kind];
	}

	#step(limit: Readonly<Amount>): Amount {
		const of = (kind: keyof Amount) => {
			const { min, max } = step[kind];
			if (limit[kind] === 0) return max;
			const part = Math.floor(this.#left(limit, kind) / stepParts);
			return part < min ? 0 : Math.min(max, part);
		};
		return { bytes: of('bytes'), entries: of('entries') };
	}
}
