import { Failure } from '@stowage/rules';
import { inTime } from './inTime.js';

/** How long an answer holds for those who ask later. A balancer that asks each second gets a new one each time. */
const validMs = 500;

/**
 * Asks a disk or a database how it is, one question at a time: what hangs keeps a thread or a connection, of which there are few. Whoever
 * asks meanwhile, or soon after the answer, gets the same one.
 */
export class Probe<T> {
	readonly #ask: () => Promise<T>;
	readonly #monotonic: () => number;
	#asked: Promise<T> | undefined;
	/** Undefined while there is no answer. */
	#answeredAt: number | undefined;

	/** `monotonic` is milliseconds of a monotonic clock. */
	constructor(ask: () => Promise<T>, monotonic: () => number) {
		this.#ask = ask;
		this.#monotonic = monotonic;
	}

	/** The answer, at most half a second old, however long it takes. */
	answer(): Promise<T> {
		const isOut = this.#asked !== undefined && this.#answeredAt === undefined;
		const isValid = this.#answeredAt !== undefined && this.#monotonic() - this.#answeredAt < validMs;
		if (this.#asked !== undefined && (isOut || isValid)) return this.#asked;
		const asked = this.#ask();
		const onAnswer = () => {
			this.#answeredAt = this.#monotonic();
		};
		this.#asked = asked;
		this.#answeredAt = undefined;
		asked.then(onAnswer, onAnswer);
		return asked;
	}

	/** `answer`, or throws `unavailable` where there is none within this time. The question stays out. */
	within(ms: number): Promise<T> {
		return inTime(this.answer(), ms, new Failure('unavailable', `There was no answer within ${ms / 1000} s.`));
	}
}
