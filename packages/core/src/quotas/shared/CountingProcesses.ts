import type { HomeUsageStore } from '@stowage/plugin-api';
import { amountKinds } from '../amounts.js';
import type { SharedParts } from './sharedParts.js';

/** A row that was not written for so long has nothing under way: its process has ended, or is idle. */
const oldMs = 10 * 60_000;

type Rows = Awaited<ReturnType<HomeUsageStore['rows']>>;

/** The processes that have rows of a home. */
export class CountingProcesses {
	readonly #parts: Pick<SharedParts, 'store' | 'identity'>;
	readonly #key: string;

	constructor(parts: Pick<SharedParts, 'store' | 'identity'>, key: string) {
		this.#parts = parts;
		this.#key = key;
	}

	rows(): Promise<Rows> {
		return this.#parts.store.rows(this.#key, oldMs);
	}

	/** How many others count the home. */
	async living(): Promise<number> {
		const rows = await this.rows();
		const others = rows.filter(({ process }) => process !== this.#parts.identity.name);
		return others.length - (await this.gone(others)).size;
	}

	/** Whether one has ended that had reserved something. */
	async hasGone(): Promise<boolean> {
		return (await this.gone(withMore(await this.rows()))).size > 0;
	}

	/** The names of the processes with these rows that have ended, or are idle. */
	async gone(rows: Rows): Promise<Set<string>> {
		const { identity } = this.#parts;
		const gone = new Set<string>();
		for (const { process, isOld } of rows)
			if (process !== identity.name && (isOld || (await identity.hasEnded(process)))) gone.add(process);
		return gone;
	}
}

/** The rows of processes that have reserved more than they have published. */
function withMore(rows: Rows): Rows {
	return rows.filter(({ added, published }) => amountKinds.some((kind) => added[kind] > published[kind]));
}
