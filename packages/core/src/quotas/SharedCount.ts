import { setTimeout as wait } from 'node:timers/promises';
import type { UsageState } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import { createKeyedMutex } from '../limits/keyedMutex.js';
import { amountKinds, isNothing, isWithin, negative, sum, zero } from './amounts.js';
import { CountingProcesses } from './CountingProcesses.js';
import type { Amount } from './measureTree.js';
import { ProcessUsageRow } from './ProcessUsageRow.js';
import type { CountedHome, SharedParts } from './sharedParts.js';

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

/** How soon others learn what this process has given back. */
const settleMs = 500;

/**
 * How often it is looked whether others have given something back, before anything is refused: on a busy machine that
 * may take longer.
 */
const lookMs = 100;
const maxLooks = (6 * settleMs) / lookMs;

/** Walks before a refusal: each may overlap with what others write. */
const maxWalks = 3;

/** A row with something reserved is written so often at least. */
const touchMs = 60_000;

/** How often a process that waits for the measurement of another one looks for its end. */
const pollMs = 200;

/**
 * The content of a home as several processes count it. Each has a row of its own with what it has published and
 * reserved, which is never less than that, and with what it has removed, which is never more. It is written before
 * anything is taken, and the sum of all rows is read after that: of two processes that take at once one sees the other
 * at least. A measurement is a walk under a lease; what is published meanwhile counts twice until the next one, and
 * what is removed meanwhile counts on.
 */
export class SharedCount {
	readonly #parts: SharedParts;
	readonly #home: CountedHome;
	readonly #row: ProcessUsageRow;
	readonly #processes: CountingProcesses;
	/**
	 * Whether so little was left that nothing was taken in advance: then what is published is said at once, and no
	 * measurement counts it twice.
	 */
	#isShort = false;
	#state: UsageState | undefined;
	#readAt = Number.NEGATIVE_INFINITY;
	/** How often something that was reserved here went over to an unfinished upload. */
	#transfers = 0;
	/** What was just reserved here, and may have to be released. */
	#undecided = zero();
	/** A removal was not counted, or may not have been. */
	#isInexact = false;
	/** The others don't know that yet. */
	#isDoubtUntold = false;
	#awaiting: Promise<void> | undefined;
	#timer: NodeJS.Timeout | undefined;
	#isClosed = false;
	/** Writes are made one after another. */
	readonly #exclusively = createKeyedMutex();

	constructor(parts: SharedParts, home: CountedHome) {
		this.#parts = parts;
		this.#home = home;
		this.#row = new ProcessUsageRow({ ...parts, onDoubt: () => this.#doubt() }, home);
		this.#processes = new CountingProcesses(parts, home.key);
	}

	/** Reads the sum anew unless that was done within `maxAgeMs`, and measures what nobody who lives counts. */
	async refresh(maxAgeMs: number): Promise<void> {
		if (this.#state === undefined) {
			await this.#read();
			// Nobody knows what has happened to the home since the last process that counted it.
			if ((await this.#processes.living()) === 0) await this.measure();
		} else if (this.#parts.monotonic() - this.#readAt >= maxAgeMs) await this.#read();
		if (this.#state?.number === 0) await this.measure();
	}

	/** Milliseconds since the last measurement, as last read. */
	get ageMs(): number {
		return (this.#state?.ageMs ?? 0) + this.#parts.monotonic() - this.#readAt;
	}

	/** The content, as last read, with what others have reserved. */
	get used(): Amount {
		return this.#counted(zero());
	}

	/** The content alone, as last read: of what others have published lately without what they have not said yet. */
	get content(): Amount {
		return this.#counted(this.#state?.unpublished ?? zero());
	}

	/** Bytes of unfinished uploads, as last read. */
	get held(): Amount {
		return this.#state?.held ?? zero();
	}

	/** Resolves to whether what was just reserved here fits with what all others have; if not, it has to be released. */
	async take(amount: Readonly<Amount>, limit: Readonly<Amount>): Promise<boolean> {
		this.#settleLater();
		if (this.#row.isGranted) return true;
		this.#undecided = sum(this.#undecided, amount);
		try {
			return await this.#exclusively('', () => this.#decide(amount, limit));
		} finally {
			// Once the caller has released it.
			setImmediate(() => {
				this.#undecided = sum(this.#undecided, negative(amount));
			});
		}
	}

	/** Something has been published of which a part had been reserved here until now. Others hear of the rest before this resolves. */
	async published(amount: Readonly<Amount>, reserved: Readonly<Amount>): Promise<void> {
		this.#row.publish(amount);
		this.#settleLater();
		if (this.#row.isGranted && !this.#isShort) return;
		await this.#exclusively('', async () => {
			await this.#row.save(zero());
			this.#row.changeGrant(sum(amount, negative(reserved)));
			this.#row.limitGrant();
		});
	}

	/** Called before something is removed: if others count the home, the removal is counted by a row that existed before it. */
	async beforeRemoval(): Promise<void> {
		if (this.#row.exists) return;
		try {
			if ((await this.#processes.living()) > 0) await this.#exclusively('', () => this.#row.save(zero()));
		} catch (error) {
			// Nothing can be written: what makes room is removed all the same, and the home measured again later.
			if (!isFailure(error)) throw error;
		}
	}

	/** Something was removed, perhaps of unknown size. Others hear of it soon, or once `tell` has resolved. */
	removed(size: Readonly<Amount> | undefined): void {
		// Without a row it is not known whether the last measurement has seen it.
		if (size === undefined || !this.#row.exists) this.#doubt();
		else this.#row.remove(size);
		this.#settleLater();
	}

	/** Tells the others what was removed, or soon, while nothing can be written. */
	async tell(): Promise<void> {
		try {
			await this.#settle();
		} catch (error) {
			if (!isFailure(error)) throw error;
			this.#settleLater();
		}
	}

	/** Something that was reserved here is not any more, as that of an upload that has failed: others hear of it at once. */
	released({ bytes, entries }: Readonly<Amount>): void {
		this.#settleLater();
		if (bytes > 0 || entries > 0) this.tell().catch((error: unknown) => this.#reportUnsaved(error));
	}

	/** A reserved amount counts as an unfinished upload from now on: what was granted for it can't be used again. */
	recorded(amount: Readonly<Amount>): void {
		this.#transfers++;
		this.#row.changeGrant(negative(amount));
		this.#settleLater();
	}

	/**
	 * Measures again if that may show more room. Then it waits until nothing lacks, or until others have given back what
	 * they took in advance and what they could not use, as long as that could be enough.
	 */
	async correct(maxAgeMs: number, lack: () => Amount): Promise<void> {
		let walks = 0;
		for (let look = 0; look < maxLooks; look++) {
			if (look > 0) await wait(lookMs);
			await this.#read();
			if (walks < maxWalks && !(await this.#isRight(maxAgeMs))) {
				walks++;
				await this.measure();
			}
			if (isNothing(lack())) return;
			const isMeasured = walks === maxWalks || (await this.#isRight(maxAgeMs));
			// Of the same moment as the lack: what was given back since is seen by the next look.
			const unsettled = sum(this.#state?.unpublished ?? zero(), this.#undecided);
			if (isMeasured && !isWithin(lack(), unsettled)) break;
		}
		// What others had published and not said yet was counted twice.
		if (walks > 0 && !(await this.#isRight(maxAgeMs))) await this.measure();
	}

	async #isRight(maxAgeMs: number): Promise<boolean> {
		const isRight = !this.#isInexact && this.#state?.isExact === true && this.ageMs <= maxAgeMs;
		return isRight && !(await this.#processes.hasGone());
	}

	#doubt(): void {
		this.#isInexact = true;
		this.#isDoubtUntold = true;
	}

	/** Walks through the home at the turn of the network that wants it, or waits for another process that does. */
	async measure(): Promise<void> {
		if (this.#state === undefined) await this.#read();
		// Only what is measured from here on makes a walk needless.
		const before = this.#number;
		for (;;) {
			await this.#home.atTurn(() => this.#measureUnlessOther(before));
			if (this.#number !== before) return;
			await this.#awaitOther();
			if (this.#number !== before) return;
		}
	}

	/** Tells the others what is left of this process's. */
	async close(): Promise<void> {
		this.#isClosed = true;
		clearTimeout(this.#timer);
		await this.#tellDoubt();
		if (this.#row.exists) await this.#exclusively('', () => this.#row.save(zero()));
	}

	async #decide(amount: Readonly<Amount>, limit: Readonly<Amount>): Promise<boolean> {
		if (this.#row.isGranted) return true;
		const more = this.#step(limit);
		this.#isShort = amountKinds.some((kind) => limit[kind] > 0 && more[kind] === 0);
		await this.#row.save(more);
		await this.#read();
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

	#counted(without: Readonly<Amount>): Amount {
		const { base = zero(), others = zero() } = this.#state ?? {};
		const { bytes, entries } = sum(base, others, this.#row.change, negative(without));
		return { bytes: Math.max(0, bytes), entries: Math.max(0, entries) };
	}

	#left(limit: Readonly<Amount>, kind: keyof Amount): number {
		return limit[kind] - this.used[kind] - this.#home.reserved[kind] - this.held[kind];
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

	async #read(): Promise<void> {
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

	#settleLater(): void {
		if (this.#isClosed || this.#timer !== undefined) return;
		this.#timer = setTimeout(() => {
			this.#timer = undefined;
			this.#settle().catch((error: unknown) => {
				if (!isFailure(error)) this.#reportUnsaved(error);
				this.#settleLater();
			});
		}, settleMs).unref();
	}

	#reportUnsaved(error: unknown): void {
		this.#parts.log.error({ err: error }, 'the usage of a home could not be saved');
	}

	/** Gives back what was taken in advance, and says what was removed. */
	async #settle(): Promise<void> {
		await this.#tellDoubt();
		// Who only removed something there has nothing to count.
		if (!this.#row.exists) return;
		const { bytes, entries } = this.#home.reserved;
		const isBusy = bytes > 0 || entries > 0;
		const mayWait = this.#row.isExact && this.#row.ageMs < touchMs;
		if (!mayWait) await this.#exclusively('', () => this.#row.save(zero()));
		if (isBusy) this.#settleLater();
	}

	async #tellDoubt(): Promise<void> {
		if (!this.#isDoubtUntold) return;
		this.#isDoubtUntold = false;
		await this.#parts.store.doubt(this.#home.key).catch((error: unknown) => {
			this.#isDoubtUntold = true;
			throw error;
		});
	}

	/** The number of the last measurement, as last read. */
	get #number(): number {
		return this.#state?.number ?? 0;
	}

	/** Walks through the home, unless that was done since `before`, or another process does it. */
	async #measureUnlessOther(before: number): Promise<void> {
		const { store, monotonic } = this.#parts;
		const { key } = this.#home;
		const lease = await this.#acquireLease();
		if (lease === undefined) return;
		try {
			await this.#read();
			if (this.#number !== before) return;
			this.#isInexact = false;
			await this.#exclusively('', () => this.#row.save(zero()));
			const rows = await this.#processes.rows();
			const gone = await this.#processes.gone(rows);
			const began = monotonic();
			const found = await this.#home.walk();
			if (lease.isHeld()) await store.measured(key, found, rows, gone, monotonic() - began);
		} finally {
			await lease.release();
		}
		await this.#read();
	}

	/** Waits until the process that measures the home has done so, or does it no more. Meanwhile others have the place of the walk. */
	#awaitOther(): Promise<void> {
		this.#awaiting ??= this.#lookForOther().finally(() => {
			this.#awaiting = undefined;
		});
		return this.#awaiting;
	}

	async #lookForOther(): Promise<void> {
		const before = this.#number;
		for (;;) {
			await wait(pollMs);
			await this.#read();
			if (this.#number !== before) return;
			const lease = await this.#acquireLease();
			await lease?.release();
			if (lease !== undefined) return;
		}
	}

	#acquireLease() {
		return this.#parts.leases.acquire(`usage ${this.#home.key}`);
	}
}
