import { setTimeout as wait } from 'node:timers/promises';
import type { StorageProvider } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import { currentNetwork } from '../limits/currentNetwork.js';
import type { FairQueue } from '../limits/FairQueue.js';
import { plus } from './amounts.js';
import { type Amount, measureTree } from './measureTree.js';
import { SharedWalks } from './SharedWalks.js';

/** How much longer a walk in the background pauses than it works. */
const pauseFactor = 3;

export interface WalkDependencies {
	/** Where the home lies now; undefined once its user is gone. */
	home(): Promise<StoragePath | undefined>;
	storage(): StorageProvider;
	/** What is in the trash of the home. */
	trashTotals(): Promise<Amount>;
	/** Walks of all homes. */
	walks: FairQueue;
}

/** Walks through a home, one at a time, in turns with those through all others. */
export class HomeWalk {
	readonly #parts: WalkDependencies;
	readonly #key: string;
	readonly #turns: SharedWalks<void>;
	/** How many callers wait for a walk. */
	#urgent = 0;

	/** `key` is the name of the home. */
	constructor(parts: WalkDependencies, key: string) {
		this.#parts = parts;
		this.#key = key;
		this.#turns = new SharedWalks(parts.walks);
	}

	/** Whether anything is done at its turn, or waits for that. */
	get isUnderWay(): boolean {
		return this.#turns.areUnderWay;
	}

	/**
	 * Does work that walks, once for all that ask meanwhile. Accounts of one network may have any number of homes: all others have a turn
	 * of their own for it, and the first one of any network counts.
	 */
	atTurn(work: () => Promise<void>): Promise<void> {
		return this.#turns.join('', this.#key, currentNetwork(), work);
	}

	/** Runs what waits for a walk, which makes no pauses meanwhile. */
	async urgently(waiting: () => Promise<void>): Promise<void> {
		this.#urgent++;
		try {
			await waiting();
		} finally {
			this.#urgent--;
		}
	}

	/** What lies in the home and its trash. */
	async find(): Promise<Amount> {
		const { storage, trashTotals } = this.#parts;
		const pause = async (workedMs: number) => {
			// No caller waits for it or for its place, so it leaves the disk and the processor to others.
			if (this.#urgent === 0 && this.#parts.walks.waiting === 0)
				await wait(workedMs * pauseFactor, undefined, { ref: false });
		};
		let found: Amount;
		let home: StoragePath | undefined;
		let current = await this.#parts.home();
		do {
			home = current;
			found = home === undefined ? { bytes: 0, entries: 0 } : await measureTree(storage(), home, pause);
			current = await this.#parts.home();
			// It was moved away from under the walk, which has missed the rest.
		} while (current !== home);
		return plus(found, await trashTotals());
	}
}
