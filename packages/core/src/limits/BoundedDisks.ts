import { Failure } from '@stowage/rules';
import { Counts } from './Counts.js';
import { inTime } from './inTime.js';

/**
 * Asks disks what nobody may wait for any longer than a while: a network share that is gone never answers. As long as a question to a disk
 * has had no answer in time, no further one is put to that: each would keep a thread.
 */
export class BoundedDisks {
	readonly #ms: number;
	/** How many questions to each disk are late. */
	readonly #late = new Counts();

	constructor(ms: number) {
		this.#ms = ms;
	}

	/** What `ask` resolves to. Throws `unavailable` where the disk doesn't answer in time, and at once where it hangs. */
	async ask<T>(disk: string, ask: () => Promise<T>): Promise<T> {
		const late = new Failure('unavailable', `The disk has not answered within ${this.#ms / 1000} s.`);
		if (this.#late.of(disk) > 0) throw late;
		const asked = ask();
		try {
			return await inTime(asked, this.#ms, late);
		} catch (error) {
			if (error === late) {
				this.#late.add(disk, 1);
				const onAnswer = () => this.#late.add(disk, -1);
				asked.then(onAnswer, onAnswer);
			}
			throw error;
		}
	}
}
