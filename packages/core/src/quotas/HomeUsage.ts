import { setTimeout as wait } from 'node:timers/promises';
import type { StorageProvider } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import type { FairQueue } from '../limits/FairQueue.js';
import type { Log } from '../log.js';
import { type Amount, measureTree } from './measureTree.js';

/** An older count is measured again in the background when it is next used: homes change by other ways too. */
const staleMs = 15 * 60_000;

/** A count that is older is measured again before an upload is refused. */
const refusableMs = 30_000;

/** The same for the bytes of unfinished uploads, which are read from the database. */
const heldStaleMs = 30_000;
const heldRefusableMs = 1_000;

/** How much longer a walk in the background pauses than it works. */
const pauseFactor = 3;

interface Dependencies {
	storage(): StorageProvider;
	/** What is in the trash of the home. */
	trashTotals(): Promise<Amount>;
	/** The bytes of the owner's unfinished uploads, except these. */
	unfinishedTotals(except: readonly string[]): Promise<Amount>;
	/** Called with each measured content. */
	onMeasured(content: Amount): Promise<void>;
	/** Walks of all homes. */
	walks: FairQueue;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** The content of a home: measured by a walk, and from then on updated with the server's own changes, until it is measured again. */
export class HomeUsage {
	/** The bytes of uploads under way in this process. */
	readonly reserved: Amount = { bytes: 0, entries: 0 };
	/** The bytes of unfinished uploads without a connection, as last read and as changed since by this process. */
	held: Amount = { bytes: 0, entries: 0 };
	/** Staged files whose bytes are among the reserved ones. */
	readonly stagedIds = new Set<string>();
	#heldAt = Number.NEGATIVE_INFINITY;
	#used: Amount | undefined;
	#measuredAt = 0;
	/** The count may be too high: something of unknown size was removed, or a write overlapped the walk. */
	#isInexact = false;
	#isUrgent = false;
	#measuring: Promise<void> | undefined;
	/** Additions during a walk. The walk may have seen them or not; they are added, so the count may be too high but not too low. */
	#added: Amount = { bytes: 0, entries: 0 };

	constructor(
		readonly home: StoragePath,
		readonly dependencies: Dependencies,
	) {}

	/** The content of the home. Waits for a walk the first time only. */
	async used(): Promise<Amount> {
		await this.#findHeld(heldStaleMs);
		if (this.#used === undefined) await this.#measureNow();
		else if (this.dependencies.monotonic() - this.#measuredAt > staleMs) {
			this.#measure().catch((error: unknown) =>
				this.dependencies.log.warn({ err: error }, 'the usage of a home could not be measured'),
			);
		}
		return this.current();
	}

	/** The same at once; nothing as long as it was not measured. */
	current(): Amount {
		return this.#used ?? { bytes: 0, entries: 0 };
	}

	/** Counts a change that the server itself has made. */
	add({ bytes, entries }: Amount): void {
		if (this.#used !== undefined) this.#used = plus(this.#used, { bytes, entries });
		if (this.#measuring === undefined) return;
		this.#isInexact = true;
		if (entries > 0) this.#added = plus(this.#added, { bytes, entries });
	}

	/** Called after a removal; its size may be unknown. */
	removed(size: Amount | undefined): void {
		if (size === undefined) this.#isInexact = true;
		else this.add({ bytes: -size.bytes, entries: -size.entries });
	}

	/** Measures again if that may show more room than the count. */
	async correct(): Promise<void> {
		await this.#findHeld(heldRefusableMs);
		if (this.#measuring !== undefined) await this.#measureNow();
		if (this.#isInexact || this.dependencies.monotonic() - this.#measuredAt > refusableMs) await this.#measureNow();
	}

	/** Called when an unfinished upload has ended without being published in the home. */
	invalidateHeld(): void {
		this.#heldAt = Number.NEGATIVE_INFINITY;
	}

	async #findHeld(maxAgeMs: number): Promise<void> {
		const now = this.dependencies.monotonic();
		if (now - this.#heldAt < maxAgeMs) return;
		this.#heldAt = now;
		this.held = await this.dependencies.unfinishedTotals([...this.stagedIds]);
	}

	async #measureNow(): Promise<void> {
		this.#isUrgent = true;
		try {
			await this.#measure();
		} finally {
			this.#isUrgent = false;
		}
	}

	#measure(): Promise<void> {
		this.#measuring ??= this.dependencies.walks
			.run(this.home, () => this.#walk())
			.finally(() => {
				this.#measuring = undefined;
			});
		return this.#measuring;
	}

	async #walk(): Promise<void> {
		this.#isInexact = false;
		this.#added = { bytes: 0, entries: 0 };
		const startedAt = this.dependencies.monotonic();
		const found = await measureTree(this.dependencies.storage(), this.home, async (workedMs) => {
			// No caller waits for it, so it leaves the disk and the processor to others.
			if (!this.#isUrgent) await wait(workedMs * pauseFactor, undefined, { ref: false });
		});
		this.#used = plus(plus(found, await this.dependencies.trashTotals()), this.#added);
		this.#measuredAt = startedAt;
		await this.dependencies.onMeasured(this.#used);
	}
}

export function plus(a: Amount, b: Amount): Amount {
	return { bytes: Math.max(0, a.bytes + b.bytes), entries: Math.max(0, a.entries + b.entries) };
}
