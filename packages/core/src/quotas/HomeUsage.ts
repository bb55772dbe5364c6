import { anonymousOwner } from '@stowage/rules';
import type { Log } from '../log.js';
import { plus } from './amounts.js';
import { HomeWalk, type WalkDependencies } from './HomeWalk.js';
import type { Amount } from './measureTree.js';
import { OwnCount } from './OwnCount.js';
import { ReservedRoom } from './ReservedRoom.js';
import { SharedCount } from './shared/SharedCount.js';
import type { SharedParts } from './shared/sharedParts.js';

/** An older count is measured again in the background when it is next used: homes change by other ways too. */
const staleMs = 15 * 60_000;

/** A count that is older is measured again before an upload is refused. */
const refusableMs = 30_000;

/** Limits on the age of the bytes of unfinished uploads, which are read from the database: usually, and before a refusal. */
const heldStaleMs = 30_000;
const heldRefusableMs = 1_000;

/** How old the sum of several processes may be where nothing is taken by it. */
const sharedStaleMs = 1_000;

interface Dependencies extends WalkDependencies {
	/** The user whose home it is; null for that of all visitors. Their name may change, and be another user's afterwards. */
	owner: string | null;
	/** Whether other processes may change the home, too. */
	isShared(): boolean;
	shared: SharedParts;
	/** The bytes of the owner's unfinished uploads, except these. */
	unfinishedTotals(except: readonly string[]): Promise<Amount>;
	/** Called with each measured content. */
	onMeasured(content: Amount): Promise<void>;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/**
 * The content of a home: measured by a walk, and from then on updated with the server's own changes, until it is
 * measured again. As long as this process is alone it counts in memory (`OwnCount`), from then on with all others (`SharedCount`).
 */
export class HomeUsage {
	readonly reserved: ReservedRoom;
	readonly #walk: HomeWalk;
	readonly #own: OwnCount;
	/** Once others are there it stays. */
	#shared: SharedCount | undefined;

	constructor(readonly dependencies: Dependencies) {
		const { owner, unfinishedTotals, monotonic } = dependencies;
		const counts = { isShared: () => this.isShared, shared: () => this.#shared };
		this.reserved = new ReservedRoom({ ...counts, unfinishedTotals, monotonic });
		this.#walk = new HomeWalk(dependencies, ownerKey(owner));
		this.#own = new OwnCount(this.#walk, dependencies);
	}

	/** Whether others count it, too; then what unfinished uploads have brought counts by their rows. */
	get isShared(): boolean {
		return this.#sharing() !== undefined;
	}

	/** The content of the home. Waits for a walk the first time only. */
	async used(): Promise<Amount> {
		const shared = this.#sharing();
		if (shared !== undefined) await this.#walk.urgently(() => shared.refresh(sharedStaleMs));
		else {
			await this.reserved.refresh(heldStaleMs);
			if (this.#own.used === undefined) await this.#own.measureNow();
		}
		const count = this.#shared ?? this.#own;
		if (count.ageMs > staleMs) {
			count
				.measure()
				.catch((error: unknown) =>
					this.dependencies.log.warn({ err: error }, 'the usage of a home could not be measured'),
				);
		}
		return this.current();
	}

	/** The content of the home, after a walk that begins now. */
	async measured(): Promise<Amount> {
		const count = this.#sharing() ?? this.#own;
		await this.#walk.urgently(() => count.measure());
		return this.current();
	}

	/** What others have done is known from now on. */
	async refresh(): Promise<void> {
		const shared = this.#sharing();
		if (shared !== undefined) await this.#walk.urgently(() => shared.refresh(0));
	}

	/** The content at once, with what other processes have reserved; nothing as long as it was not measured. */
	current(): Amount {
		return this.#shared?.used ?? this.#own.used ?? { bytes: 0, entries: 0 };
	}

	/** The content at once, without what other processes have reserved, or published and not saved yet. */
	content(): Amount {
		return this.#shared?.content ?? this.current();
	}

	/** All that counts for the quota: the content, what is reserved here, and unfinished uploads. */
	taken(): Amount {
		return plus(this.current(), this.reserved.total);
	}

	/** Reserves so much if `fits` says so; where this process is alone, before the call returns. */
	async take(amount: Amount, limit: Amount, fits: () => boolean): Promise<boolean> {
		const shared = this.#sharing();
		if (shared === undefined) {
			if (!fits()) return false;
			this.reserved.add(amount);
			return true;
		}
		this.reserved.add(amount);
		let isTaken = false;
		try {
			isTaken = await shared.take(amount, limit);
		} finally {
			if (!isTaken) this.reserved.release(amount);
		}
		return isTaken;
	}

	/** Counts what was published in the home, for which so much was reserved until now. */
	async published(amount: Amount, reserved: Amount): Promise<void> {
		this.reserved.add(reserved, -1);
		if (this.#shared !== undefined) await this.#shared.published(amount, reserved);
		else this.#own.add(amount);
	}

	/** Called before a removal. */
	async beforeRemoval(): Promise<void> {
		await this.#sharing()?.beforeRemoval();
	}

	/** Called after a removal; its size may be unknown. */
	removed(size: Amount | undefined): void {
		(this.#sharing() ?? this.#own).removed(size);
	}

	/** Tells other processes what was removed. */
	async tell(): Promise<void> {
		await this.#shared?.tell();
	}

	/** Measures again if that may show more room than the count, and waits for what others give back while that may be what lacks. */
	async correct(lack: () => Amount): Promise<void> {
		const shared = this.#sharing();
		if (shared !== undefined) {
			await this.#walk.urgently(() => shared.correct(refusableMs, lack));
			return;
		}
		await this.reserved.refresh(heldRefusableMs);
		await this.#own.correct(refusableMs);
	}

	async close(): Promise<void> {
		this.reserved.close();
		await this.#shared?.close();
	}

	#sharing(): SharedCount | undefined {
		const { isShared, owner, shared, onMeasured } = this.dependencies;
		if (this.#shared !== undefined || !isShared()) return this.#shared;
		// What is reserved already goes on to count, also what unfinished uploads have brought, by their rows as well.
		this.#shared = new SharedCount(shared, {
			...{ key: ownerKey(owner), owner, reserved: this.reserved.amount },
			atTurn: (work) => this.#walk.atTurn(work),
			walk: async () => {
				const found = await this.#walk.find();
				await onMeasured(found);
				return found;
			},
		});
		return this.#shared;
	}
}

/** The name of a home wherever homes are counted, for as long as there is its user. */
export function ownerKey(owner: string | null): string {
	return owner ?? anonymousOwner;
}
