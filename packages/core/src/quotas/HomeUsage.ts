import { setTimeout as wait } from 'node:timers/promises';
import type { StorageProvider } from '@stowage/plugin-api';
import { anonymousOwner, type StoragePath } from '@stowage/rules';
import { currentNetwork } from '../limits/currentNetwork.js';
import type { FairQueue } from '../limits/FairQueue.js';
import type { Log } from '../log.js';
import { type Amount, measureTree } from './measureTree.js';
import { SharedCount } from './SharedCount.js';
import { SharedWalks } from './SharedWalks.js';
import type { SharedParts } from './sharedParts.js';

/** An older count is measured again in the background when it is next used: homes change by other ways too. */
const staleMs = 15 * 60_000;

/** A count that is older is measured again before an upload is refused. */
const refusableMs = 30_000;

/** Limits on the age of the bytes of unfinished uploads, which are read from the database: usually, and before a refusal. */
const heldStaleMs = 30_000;
const heldRefusableMs = 1_000;

/** How old the sum of several processes may be where nothing is taken by it. */
const sharedStaleMs = 1_000;

/** How much longer a walk in the background pauses than it works. */
const pauseFactor = 3;

/** How long what was reserved for a complete upload is kept until that is published. */
const lingerMs = 30_000;

interface Dependencies {
	/** The user whose home it is; null for that of all visitors. Their name may change, and be another user's afterwards. */
	owner: string | null;
	/** Where the home lies now; undefined once its user is gone. */
	home(): Promise<StoragePath | undefined>;
	/** Whether other processes may change the home, too. */
	isShared(): boolean;
	shared: SharedParts;
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

/**
 * The content of a home: measured by a walk, and from then on updated with the server's own changes, until it is
 * measured again. As long as this process is alone it counts in memory, from then on with all others (`SharedCount`).
 */
export class HomeUsage {
	/** The bytes of uploads under way in this process. */
	readonly #reserved: Amount = { bytes: 0, entries: 0 };
	/** The bytes of unfinished uploads without a connection, as last read and as changed since by this process. */
	#held: Amount = { bytes: 0, entries: 0 };
	/** Staged files whose bytes are among the reserved ones. */
	readonly stagedIds = new Set<string>();
	/** What is reserved for complete uploads between their last bytes and their publishing. */
	readonly #lingering = new Map<string, { amount: Amount; timer: NodeJS.Timeout }>();
	#heldAt = Number.NEGATIVE_INFINITY;
	#findingHeld: Promise<void> | undefined;
	/** How often bytes went over from a connection to an unfinished upload, or back, or were dropped with it. */
	#transfers = 0;
	#used: Amount | undefined;
	#measuredAt = 0;
	/** The count may be too high: something of unknown size was removed, or a write overlapped the walk. */
	#isInexact = false;
	/** How many callers wait for a walk. */
	#urgent = 0;
	readonly #walks: SharedWalks<void>;
	/** Additions during a walk. The walk may have seen them or not; they are added, so the count may be too high but not too low. */
	#added: Amount = { bytes: 0, entries: 0 };
	/** Once others are there it stays. */
	#shared: SharedCount | undefined;

	constructor(readonly dependencies: Dependencies) {
		this.#walks = new SharedWalks(dependencies.walks);
	}

	/** Whether others count it, too; then what unfinished uploads have brought counts by their rows. */
	get isShared(): boolean {
		return this.#sharing() !== undefined;
	}

	/** The content of the home. Waits for a walk the first time only. */
	async used(): Promise<Amount> {
		const shared = this.#sharing();
		if (shared !== undefined) await this.#urgently(() => shared.refresh(sharedStaleMs));
		else {
			await this.#findHeld(heldStaleMs);
			if (this.#used === undefined) await this.#measureNow();
		}
		if (this.#ageMs() > staleMs) {
			(shared === undefined ? this.#measure() : shared.measure()).catch((error: unknown) =>
				this.dependencies.log.warn({ err: error }, 'the usage of a home could not be measured'),
			);
		}
		return this.current();
	}

	/** The content of the home, after a walk that begins now. */
	async measured(): Promise<Amount> {
		const shared = this.#sharing();
		await (shared === undefined ? this.#measureNow() : this.#urgently(() => shared.measure()));
		return this.current();
	}

	/** What others have done is known from now on. */
	async refresh(): Promise<void> {
		const shared = this.#sharing();
		if (shared !== undefined) await this.#urgently(() => shared.refresh(0));
	}

	/** The content at once, with what other processes have reserved; nothing as long as it was not measured. */
	current(): Amount {
		return this.#shared?.used ?? this.#used ?? { bytes: 0, entries: 0 };
	}

	/** The content at once, without what other processes have reserved, or published and not saved yet. */
	content(): Amount {
		return this.#shared?.content ?? this.current();
	}

	/** All that counts for the quota: the content, what is reserved here, and unfinished uploads. */
	taken(): Amount {
		return plus(plus(this.current(), this.#reserved), this.#shared?.held ?? this.#held);
	}

	/** Reserves so much if `fits` says so; where this process is alone, before the call returns. */
	async take(amount: Amount, limit: Amount, fits: () => boolean): Promise<boolean> {
		const shared = this.#sharing();
		if (shared === undefined) {
			if (!fits()) return false;
			this.#reserve(amount, 1);
			return true;
		}
		this.#reserve(amount, 1);
		if (await shared.take(amount, limit).catch((error: unknown) => this.#failed(amount, error))) return true;
		this.release(amount);
		return false;
	}

	/**
	 * Takes over what the staged file of an unfinished upload has reserved or counts already; resolves to what is
	 * reserved for it from now on.
	 */
	continueUpload(stagedId: string, bytes: number): Amount {
		const kept = this.#endLingering(stagedId);
		if (this.isShared) return kept ?? { bytes: 0, entries: 0 };
		const own = { bytes, entries: 1 };
		// It was among the unfinished uploads without a connection.
		this.#hold({ bytes: -bytes, entries: -1 });
		this.#reserve(own, 1);
		return own;
	}

	/** Releases what was reserved, of which an unfinished upload goes on to hold so much. */
	release(amount: Amount, held?: Amount): void {
		this.#reserve(amount, -1);
		if (held === undefined) this.#shared?.released(amount);
		else if (this.#shared !== undefined) this.#shared.recorded(held);
		else this.#hold(held);
	}

	/** Releases what counts by the row of an unfinished upload from now on. */
	recorded(amount: Amount): void {
		this.#reserve(amount, -1);
		this.#shared?.recorded(amount);
	}

	/** What is reserved for a complete upload stays so until it is published, which begins at once. */
	linger(stagedId: string, amount: Amount): void {
		const timer = setTimeout(() => {
			this.#lingering.delete(stagedId);
			this.release(amount);
		}, lingerMs).unref();
		this.#lingering.set(stagedId, { amount, timer });
	}

	/** Counts what was published in the home, for which so much was reserved until now. */
	async published(amount: Amount, reserved: Amount): Promise<void> {
		this.#reserve(reserved, -1);
		if (this.#shared !== undefined) await this.#shared.published(amount, reserved);
		else this.#add(amount);
	}

	/** Called before a removal. */
	async beforeRemoval(): Promise<void> {
		await this.#sharing()?.beforeRemoval();
	}

	/** Called after a removal; its size may be unknown. */
	removed(size: Amount | undefined): void {
		const shared = this.#sharing();
		if (shared !== undefined) shared.removed(size);
		else if (size === undefined) this.#isInexact = true;
		else this.#add({ bytes: -size.bytes, entries: -size.entries });
	}

	/** Tells other processes what was removed. */
	async tell(): Promise<void> {
		await this.#shared?.tell();
	}

	/** Measures again if that may show more room than the count, and waits for what others give back while that may be what lacks. */
	async correct(lack: () => Amount): Promise<void> {
		const shared = this.#sharing();
		if (shared !== undefined) {
			await this.#urgently(() => shared.correct(refusableMs, lack));
			return;
		}
		await this.#findHeld(heldRefusableMs);
		if (this.#walks.areUnderWay) await this.#measureNow();
		if (this.#isInexact || this.dependencies.monotonic() - this.#measuredAt > refusableMs) await this.#measureNow();
	}

	/** Called when an unfinished upload has ended without being published in the home. */
	invalidateHeld(): void {
		this.#transfers++;
		this.#heldAt = Number.NEGATIVE_INFINITY;
	}

	async close(): Promise<void> {
		for (const stagedId of [...this.#lingering.keys()]) {
			const amount = this.#endLingering(stagedId);
			if (amount !== undefined) this.#reserve(amount, -1);
		}
		await this.#shared?.close();
	}

	#sharing(): SharedCount | undefined {
		const { isShared, owner, shared } = this.dependencies;
		if (this.#shared !== undefined || !isShared()) return this.#shared;
		// What is reserved already goes on to count, also what unfinished uploads have brought, by their rows as well.
		this.#shared = new SharedCount(shared, {
			...{ key: ownerKey(owner), owner, reserved: this.#reserved },
			...{ walk: () => this.#find(), atTurn: (work) => this.#atTurn(work) },
		});
		return this.#shared;
	}

	#failed(amount: Amount, error: unknown): never {
		this.release(amount);
		throw error;
	}

	#endLingering(stagedId: string): Amount | undefined {
		const kept = this.#lingering.get(stagedId);
		clearTimeout(kept?.timer);
		this.#lingering.delete(stagedId);
		return kept?.amount;
	}

	#reserve({ bytes, entries }: Amount, sign: 1 | -1): void {
		this.#reserved.bytes += sign * bytes;
		this.#reserved.entries += sign * entries;
	}

	#hold(more: Amount): void {
		this.#transfers++;
		this.#held = plus(this.#held, more);
	}

	#add({ bytes, entries }: Amount): void {
		if (this.#used !== undefined) this.#used = plus(this.#used, { bytes, entries });
		if (!this.#walks.areUnderWay) return;
		this.#isInexact = true;
		if (entries > 0) this.#added = plus(this.#added, { bytes, entries });
	}

	#ageMs(): number {
		return this.#shared?.ageMs ?? this.dependencies.monotonic() - this.#measuredAt;
	}

	async #findHeld(maxAgeMs: number): Promise<void> {
		if (this.dependencies.monotonic() - this.#heldAt < maxAgeMs) return;
		this.#findingHeld ??= this.#readHeld().finally(() => {
			this.#findingHeld = undefined;
		});
		await this.#findingHeld;
	}

	async #readHeld(): Promise<void> {
		for (;;) {
			const at = this.dependencies.monotonic();
			const transfers = this.#transfers;
			const held = await this.dependencies.unfinishedTotals([...this.stagedIds]);
			// Else what went over meanwhile would count twice, or not at all.
			if (transfers !== this.#transfers) continue;
			this.#held = held;
			this.#heldAt = at;
			return;
		}
	}

	#measureNow(): Promise<void> {
		return this.#urgently(() => this.#measure());
	}

	async #urgently(measure: () => Promise<void>): Promise<void> {
		this.#urgent++;
		try {
			await measure();
		} finally {
			this.#urgent--;
		}
	}

	#measure(): Promise<void> {
		return this.#atTurn(() => this.#walk());
	}

	/** Accounts of one network may have any number of homes: all others have a turn of their own for a walk, also for the same one. */
	#atTurn(work: () => Promise<void>): Promise<void> {
		return this.#walks.join('', ownerKey(this.dependencies.owner), currentNetwork(), work);
	}

	async #walk(): Promise<void> {
		this.#isInexact = false;
		this.#added = { bytes: 0, entries: 0 };
		const startedAt = this.dependencies.monotonic();
		this.#used = plus(await this.#find(), this.#added);
		this.#measuredAt = startedAt;
		await this.dependencies.onMeasured(this.#used);
	}

	async #find(): Promise<Amount> {
		const pause = async (workedMs: number) => {
			// No caller waits for it or for its place, so it leaves the disk and the processor to others.
			if (this.#urgent === 0 && this.dependencies.walks.waiting === 0)
				await wait(workedMs * pauseFactor, undefined, { ref: false });
		};
		let found: Amount;
		let home: StoragePath | undefined;
		let current = await this.dependencies.home();
		do {
			home = current;
			const nothing = { bytes: 0, entries: 0 };
			found = home === undefined ? nothing : await measureTree(this.dependencies.storage(), home, pause);
			current = await this.dependencies.home();
			// It was moved away from under the walk, which has missed the rest.
		} while (current !== home);
		const all = plus(found, await this.dependencies.trashTotals());
		if (this.#shared !== undefined) await this.dependencies.onMeasured(all);
		return all;
	}
}

/** The name of a home wherever homes are counted, for as long as there is its user. */
export function ownerKey(owner: string | null): string {
	return owner ?? anonymousOwner;
}

export function plus(a: Amount, b: Amount): Amount {
	return { bytes: Math.max(0, a.bytes + b.bytes), entries: Math.max(0, a.entries + b.entries) };
}
