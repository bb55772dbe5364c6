import { setTimeout as wait } from 'node:timers/promises';
import { isFailure } from '@stowage/rules';
import { amountKinds, isNothing, isWithin, negative, sum, zero } from '../amounts.js';
import type { Amount } from '../measureTree.js';
import { CountingProcesses } from './CountingProcesses.js';
import { Grants } from './Grants.js';
import { ProcessUsageRow } from './ProcessUsageRow.js';
import { Settlement, settleMs } from './Settlement.js';
import { SharedMeasurement } from './SharedMeasurement.js';
import { SharedSum } from './SharedSum.js';
import type { CountedHome, SharedParts } from './sharedParts.js';

/**
 * How often it is looked whether others have given something back, before anything is refused: on a busy machine that
 * may take longer.
 */
const lookMs = 100;
const maxLooks = (6 * settleMs) / lookMs;

/** Walks before a refusal: each may overlap with what others write. */
const maxWalks = 3;

/**
 * The content of a home as several processes count it. Each has a row of its own with what it has published and
 * reserved, which is never less than that, and with what it has removed, which is never more (`ProcessUsageRow`). It is written before
 * anything is taken, and the sum of all rows is read after that (`SharedSum`): of two processes that take at once one sees the other
 * at least. A measurement is a walk under a lease (`SharedMeasurement`); what is published meanwhile counts twice until the next one,
 * and what is removed meanwhile counts on.
 */
export class SharedCount {
	readonly #row: ProcessUsageRow;
	readonly #sum: SharedSum;
	readonly #processes: CountingProcesses;
	readonly #settlement: Settlement;
	readonly #measurement: SharedMeasurement;
	readonly #grants: Grants;

	constructor(parts: SharedParts, home: CountedHome) {
		const row = new ProcessUsageRow({ ...parts, onDoubt: () => this.#settlement.doubt() }, home);
		this.#row = row;
		this.#sum = new SharedSum(parts, home, () => row.change);
		this.#processes = new CountingProcesses(parts, home.key);
		this.#settlement = new Settlement(parts, home, row);
		this.#grants = new Grants(home, row, this.#sum);
		const own = { home, row, sum: this.#sum, processes: this.#processes, settlement: this.#settlement };
		this.#measurement = new SharedMeasurement({ ...parts, ...own });
	}

	/** Reads the sum anew unless that was done within `maxAgeMs`, and measures what nobody who lives counts. */
	async refresh(maxAgeMs: number): Promise<void> {
		const isFirst = !this.#sum.isRead;
		await this.#sum.refresh(maxAgeMs);
		// Nobody knows what has happened to the home since the last process that counted it.
		if (isFirst && (await this.#processes.living()) === 0) await this.measure();
		if (this.#sum.number === 0) await this.measure();
	}

	/** Milliseconds since the last measurement, as last read. */
	get ageMs(): number {
		return this.#sum.ageMs;
	}

	/** The content, as last read, with what others have reserved. */
	get used(): Amount {
		return this.#sum.used;
	}

	/** The content alone, as last read: of what others have published lately without what they have not said yet. */
	get content(): Amount {
		return this.#sum.content;
	}

	/** Bytes of unfinished uploads, as last read. */
	get held(): Amount {
		return this.#sum.held;
	}

	/** Resolves to whether what was just reserved here fits with what all others have; if not, it has to be released. */
	take(amount: Readonly<Amount>, limit: Readonly<Amount>): Promise<boolean> {
		this.#settlement.settleLater();
		return this.#grants.take(amount, limit);
	}

	/** Something has been published of which a part had been reserved here until now. Others hear of the rest before this resolves. */
	async published(amount: Readonly<Amount>, reserved: Readonly<Amount>): Promise<void> {
		this.#row.publish(amount);
		this.#settlement.settleLater();
		if (this.#row.isGranted && !this.#grants.isShort) return;
		await this.#row.exclusively(async () => {
			await this.#row.save(zero());
			this.#row.changeGrant(sum(amount, negative(reserved)));
			this.#row.limitGrant();
		});
	}

	/** Called before something is removed: if others count the home, the removal is counted by a row that existed before it. */
	async beforeRemoval(): Promise<void> {
		if (this.#row.exists) return;
		try {
			if ((await this.#processes.living()) > 0) await this.#row.saveNeed();
		} catch (error) {
			// Nothing can be written: what makes room is removed all the same, and the home measured again later.
			if (!isFailure(error)) throw error;
		}
	}

	/** Something was removed, perhaps of unknown size. Others hear of it soon, or once `tell` has resolved. */
	removed(size: Readonly<Amount> | undefined): void {
		// Without a row it is not known whether the last measurement has seen it.
		if (size === undefined || !this.#row.exists) this.#settlement.doubt();
		else this.#row.remove(size);
		this.#settlement.settleLater();
	}

	/** Tells the others what was removed, or soon, while nothing can be written. */
	tell(): Promise<void> {
		return this.#settlement.settleNow();
	}

	/** Something that was reserved here is not any more, as that of an upload that has failed: others hear of it at once. */
	released(amount: Readonly<Amount>): void {
		this.#settlement.settleLater();
		if (amountKinds.some((kind) => amount[kind] > 0)) this.#settlement.beginToSettle();
	}

	/** A reserved amount counts as an unfinished upload from now on: what was granted for it can't be used again. */
	recorded(amount: Readonly<Amount>): void {
		this.#sum.transferred();
		this.#row.changeGrant(negative(amount));
		this.#settlement.settleLater();
	}

	/**
	 * Measures again if that may show more room. Then it waits until nothing lacks, or until others have given back what
	 * they took in advance and what they could not use, as long as that could be enough.
	 */
	async correct(maxAgeMs: number, lack: () => Amount): Promise<void> {
		let walks = 0;
		for (let look = 0; look < maxLooks; look++) {
			if (look > 0) await wait(lookMs);
			await this.#sum.read();
			if (walks < maxWalks && !(await this.#isRight(maxAgeMs))) {
				walks++;
				await this.measure();
			}
			if (isNothing(lack())) return;
			const isMeasured = walks === maxWalks || (await this.#isRight(maxAgeMs));
			// Of the same moment as the lack: what was given back since is seen by the next look.
			const unsettled = sum(this.#sum.unpublished, this.#grants.undecided);
			if (isMeasured && !isWithin(lack(), unsettled)) break;
		}
		// What others had published and not said yet was counted twice.
		if (walks > 0 && !(await this.#isRight(maxAgeMs))) await this.measure();
	}

	/** Walks through the home, or waits for another process that does. */
	measure(): Promise<void> {
		return this.#measurement.measure();
	}

	/** Tells the others what is left of this process's. */
	close(): Promise<void> {
		return this.#settlement.close();
	}

	async #isRight(maxAgeMs: number): Promise<boolean> {
		const isRight = !this.#settlement.isInexact && this.#sum.isExact && this.ageMs <= maxAgeMs;
		return isRight && !(await this.#processes.hasGone());
	}
}
