import { plus } from './amounts.js';
import type { HomeWalk } from './HomeWalk.js';
import type { Amount } from './measureTree.js';

interface Dependencies {
	/** Called with each measured content. */
	onMeasured(content: Amount): Promise<void>;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** The content of a home as a process counts it that is alone: in memory, from a walk on. */
export class OwnCount {
	readonly #walk: HomeWalk;
	readonly #parts: Dependencies;
	#used: Amount | undefined;
	#measuredAt = 0;
	/** The count may be too high: something of unknown size was removed, or a write overlapped the walk. */
	#isInexact = false;
	/** Additions during a walk. The walk may have seen them or not; they are added, so the count may be too high but not too low. */
	#added: Amount = { bytes: 0, entries: 0 };

	constructor(walk: HomeWalk, parts: Dependencies) {
		this.#walk = walk;
		this.#parts = parts;
	}

	/** Undefined as long as it was not measured. */
	get used(): Amount | undefined {
		return this.#used;
	}

	/** Milliseconds since the last walk began. */
	get ageMs(): number {
		return this.#parts.monotonic() - this.#measuredAt;
	}

	add({ bytes, entries }: Amount): void {
		if (this.#used !== undefined) this.#used = plus(this.#used, { bytes, entries });
		if (!this.#walk.isUnderWay) return;
		this.#isInexact = true;
		if (entries > 0) this.#added = plus(this.#added, { bytes, entries });
	}

	/** Something was removed, perhaps of unknown size. */
	removed(size: Amount | undefined): void {
		if (size === undefined) this.#isInexact = true;
		else this.add({ bytes: -size.bytes, entries: -size.entries });
	}

	/** Measures again if that may show more room than the count. */
	async correct(maxAgeMs: number): Promise<void> {
		if (this.#walk.isUnderWay) await this.measureNow();
		if (this.#isInexact || this.ageMs > maxAgeMs) await this.measureNow();
	}

	/** Walks through the home for a caller that waits for it. */
	measureNow(): Promise<void> {
		return this.#walk.urgently(() => this.measure());
	}

	/** Walks through the home. */
	measure(): Promise<void> {
		return this.#walk.atTurn(async () => {
			this.#isInexact = false;
			this.#added = { bytes: 0, entries: 0 };
			const startedAt = this.#parts.monotonic();
			this.#used = plus(await this.#walk.find(), this.#added);
			this.#measuredAt = startedAt;
			await this.#parts.onMeasured(this.#used);
		});
	}
}
