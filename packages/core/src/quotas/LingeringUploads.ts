import type { Amount } from './measureTree.js';

/** How long what was reserved for a complete upload is kept until that is published. */
const lingerMs = 30_000;

/** What is reserved for complete uploads between their last bytes and their publishing, by the ids of their staged files. */
export class LingeringUploads {
	readonly #kept = new Map<string, { amount: Amount; timer: NodeJS.Timeout }>();

	/** Calls `release` with the amount unless it is taken in time. */
	keep(stagedId: string, amount: Amount, release: (amount: Amount) => void): void {
		const timer = setTimeout(() => {
			this.#kept.delete(stagedId);
			release(amount);
		}, lingerMs).unref();
		this.#kept.set(stagedId, { amount, timer });
	}

	/** What is kept for an upload is not kept any more. */
	take(stagedId: string): Amount | undefined {
		const kept = this.#kept.get(stagedId);
		clearTimeout(kept?.timer);
		this.#kept.delete(stagedId);
		return kept?.amount;
	}

	takeAll(): Amount[] {
		return [...this.#kept.keys()].map((stagedId) => this.take(stagedId)).filter((amount) => amount !== undefined);
	}
}
