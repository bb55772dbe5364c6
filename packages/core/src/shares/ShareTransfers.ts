import type { Guests, Pass } from './createGuests.js';

/** How often it is checked whether the shares of transfers under way still answer. */
const pollMs = 2_000;

interface Running {
	pass: Pass;
	ends: Set<() => void>;
}

/** What is being sent to and received from guests by this process, which ends with their share, whoever ends it and in whatever process. */
export class ShareTransfers {
	/** By share and password. */
	readonly #running = new Map<string, Running>();
	readonly #guests: Pick<Guests, 'isGood'>;
	#timer: NodeJS.Timeout | undefined;

	constructor(guests: Pick<Guests, 'isGood'>) {
		this.#guests = guests;
	}

	/** `breakOff` is called when the share ends for that pass, until the returned function is called. */
	enter(pass: Pass, breakOff: () => void): () => void {
		const key = `${pass.share} ${pass.password}`;
		const running = this.#running.get(key) ?? { pass, ends: new Set() };
		this.#running.set(key, running);
		const end = () => breakOff();
		running.ends.add(end);
		this.#timer ??= setInterval(() => void this.#check(), pollMs).unref();
		return () => {
			running.ends.delete(end);
			if (running.ends.size === 0) this.#running.delete(key);
			if (this.#running.size > 0) return;
			clearInterval(this.#timer);
			this.#timer = undefined;
		};
	}

	async #check(): Promise<void> {
		for (const { pass, ends } of [...this.#running.values()]) {
			// An outage of the database ends no transfer.
			const isGood = await this.#guests.isGood(pass).catch(() => true);
			if (!isGood) for (const end of [...ends]) end();
		}
	}
}
