import type { JobProgress, JobProgressRecord } from '@stowage/plugin-api';
import { bytesPerSecond, measureSpeed, type SpeedMeter } from '@stowage/rules';
import { jobLimits } from '../jobLimits.js';

/** Least time between two samples of the speed. */
const sampleMs = 250;

/** Beyond these seconds, a month, a time that is left is no estimate: the work stands still. */
const maxTimeLeft = 30 * 24 * 60 * 60;

/** How far a run is, as fast as it was lately. */
export class RunProgress {
	readonly #monotonic: () => number;
	readonly #onTooLarge: () => void;
	#record: JobProgressRecord | undefined;
	#meter: SpeedMeter | undefined;
	/** Whether pages have been told of it, and whether the database has it. */
	isPublished = true;
	isStored = true;

	/** `onTooLarge` is called for a detail that is too large to be stored. */
	constructor(monotonic: () => number, onTooLarge: () => void) {
		this.#monotonic = monotonic;
		this.#onTooLarge = onTooLarge;
	}

	/** Undefined before the first report. */
	get record(): JobProgressRecord | undefined {
		return this.#record;
	}

	report({ done, total, unit, detail }: JobProgress): void {
		const text = detail === undefined ? null : JSON.stringify(detail);
		const isTooLarge = text !== null && Buffer.byteLength(text) > jobLimits.detailBytes;
		if (isTooLarge) this.#onTooLarge();
		const now = this.#monotonic();
		if (this.#record !== undefined && this.#record.unit !== unit) this.#meter = undefined;
		if (this.#meter === undefined || now - this.#meter.at >= sampleMs)
			this.#meter = measureSpeed(this.#meter, now, positive(done));
		const speed = bytesPerSecond(this.#meter) ?? null;
		const left = Math.max(0, positive(total) - positive(done));
		const timeLeft = speed === null || speed <= 0 || positive(total) === 0 ? Number.POSITIVE_INFINITY : left / speed;
		this.#record = {
			done: positive(done),
			total: positive(total),
			unit,
			speed,
			timeLeft: timeLeft > maxTimeLeft ? null : timeLeft,
			detail: isTooLarge ? null : text,
		};
		this.isPublished = false;
		this.isStored = false;
	}
}

function positive(value: number): number {
	return Number.isFinite(value) && value > 0 ? value : 0;
}
