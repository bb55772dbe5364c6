import { setTimeout as wait } from 'node:timers/promises';
import type { CountingProcesses } from './CountingProcesses.js';
import type { ProcessUsageRow } from './ProcessUsageRow.js';
import type { Settlement } from './Settlement.js';
import type { SharedSum } from './SharedSum.js';
import type { CountedHome, SharedParts } from './sharedParts.js';

/** How often a process that waits for the measurement of another one looks for its end. */
const pollMs = 200;

interface Dependencies extends Pick<SharedParts, 'store' | 'leases' | 'monotonic'> {
	home: CountedHome;
	sum: SharedSum;
	row: ProcessUsageRow;
	settlement: Settlement;
	processes: CountingProcesses;
}

/** Measures a home that several processes count: by a walk of one of them, under a lease. */
export class SharedMeasurement {
	readonly #parts: Dependencies;
	#awaiting: Promise<void> | undefined;

	constructor(parts: Dependencies) {
		this.#parts = parts;
	}

	/** Walks through the home at the turn of the network that wants it, or waits for another process that does. */
	async measure(): Promise<void> {
		const { home, sum } = this.#parts;
		if (!sum.isRead) await sum.read();
		// Only what is measured from here on makes a walk needless.
		const before = sum.number;
		for (;;) {
			await home.atTurn(() => this.#measureUnlessOther(before));
			if (sum.number !== before) return;
			await this.#awaitOther();
			if (sum.number !== before) return;
		}
	}

	/** Walks through the home, unless that was done since `before`, or another process does it. */
	async #measureUnlessOther(before: number): Promise<void> {
		const { home, sum, row, settlement, processes, store, monotonic } = this.#parts;
		const lease = await this.#acquireLease();
		if (lease === undefined) return;
		try {
			await sum.read();
			if (sum.number !== before) return;
			settlement.beginMeasurement();
			await row.saveNeed();
			const rows = await processes.rows();
			const gone = await processes.gone(rows);
			const began = monotonic();
			const found = await home.walk();
			if (lease.isHeld()) await store.measured(home.key, found, rows, gone, monotonic() - began);
		} finally {
			await lease.release();
		}
		await sum.read();
	}

	/** Waits until the process that measures the home has done so, or does it no more. Meanwhile others have the place of the walk. */
	#awaitOther(): Promise<void> {
		this.#awaiting ??= this.#lookForOther().finally(() => {
			this.#awaiting = undefined;
		});
		return this.#awaiting;
	}

	async #lookForOther(): Promise<void> {
		const { sum } = this.#parts;
		const before = sum.number;
		for (;;) {
			await wait(pollMs);
			await sum.read();
			if (sum.number !== before) return;
			const lease = await this.#acquireLease();
			await lease?.release();
			if (lease !== undefined) return;
		}
	}

	#acquireLease() {
		return this.#parts.leases.acquire(`usage ${this.#parts.home.key}`);
	}
}
