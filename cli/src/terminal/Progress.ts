import type { TableRows } from '@stowage/core';
import {
	bytesPerSecond,
	escapeControls,
	formatDuration,
	formatListSize,
	formatSpeed,
	measureSpeed,
	plural,
	remainingSeconds,
	type SpeedMeter,
} from '@stowage/rules';

/** The time between two drawings, so that there are never more than ten in a second. */
const redrawMs = 100;

/** A speed that was measured for less than this is a guess, and so is the time left. */
const measureMs = 1000;

/** The width of a terminal that does not report one. */
const usualColumns = 80;

interface Amount {
	/** The count in the step's unit. */
	count?: number;
	bytes?: number;
}

export interface Step {
	/** Such as 'Hashing'. */
	what: string;
	/** The unit in the singular, such as 'file'. Without it only bytes are shown. */
	unit?: string;
	/** Left out if unknown. */
	total?: Amount;
}

interface Terminal {
	readonly isTTY?: boolean;
	readonly columns?: number;
	write(text: string): unknown;
}

/** The terminal and the clock of the progress; the real ones except in tests. */
interface ProgressOptions {
	terminal?: Terminal;
	/** Milliseconds of a monotonic clock. */
	monotonic?: () => number;
}

/** The progress of long work, as one line of the terminal that is redrawn. Without a terminal nothing is written. */
export class Progress {
	readonly #terminal: Terminal | undefined;
	readonly #monotonic: () => number;
	#step: Step | undefined;
	#done: Required<Amount> = { count: 0, bytes: 0 };
	#begunAt = 0;
	#meters: { count: SpeedMeter | undefined; bytes: SpeedMeter | undefined } = { count: undefined, bytes: undefined };
	#drawnAt = Number.NEGATIVE_INFINITY;
	#timer: NodeJS.Timeout | undefined;

	constructor(
		isShown: boolean,
		{ terminal = process.stderr, monotonic = () => performance.now() }: ProgressOptions = {},
	) {
		this.#terminal = isShown && terminal.isTTY === true ? terminal : undefined;
		this.#monotonic = monotonic;
	}

	/** Begins a step of the work, which ends the one before it. `done` is the amount that is done already. */
	begin(step: Step, { count = 0, bytes = 0 }: Amount = {}): void {
		this.#step = step;
		this.#done = { count, bytes };
		this.#begunAt = this.#monotonic();
		this.#measure(this.#begunAt, { count: undefined, bytes: undefined });
		this.#scheduleDraw();
	}

	/** Adds to the amount done in this step. */
	advance({ count = 0, bytes = 0 }: Amount): void {
		this.reach({ count: this.#done.count + count, bytes: this.#done.bytes + bytes });
	}

	/** Sets the amount done in this step, of a total that may have changed. */
	reach({ count = 0, bytes = 0 }: Amount, total?: Amount): void {
		if (this.#step === undefined) return;
		this.#done = { count, bytes };
		if (total !== undefined) this.#step = { ...this.#step, total };
		this.#scheduleDraw();
	}

	/** Clears the line, until another step begins. */
	end(): void {
		this.#step = undefined;
		clearTimeout(this.#timer);
		this.#timer = undefined;
		if (this.#drawnAt !== Number.NEGATIVE_INFINITY) this.#terminal?.write('\r\u001B[K');
		this.#drawnAt = Number.NEGATIVE_INFINITY;
	}

	#scheduleDraw(): void {
		if (this.#terminal === undefined || this.#step === undefined) return;
		const now = this.#monotonic();
		const rest = this.#drawnAt + redrawMs - now;
		if (rest <= 0) this.#draw(this.#terminal, this.#step, now);
		else {
			// The last line may stay for long.
			this.#timer ??= setTimeout(() => {
				this.#timer = undefined;
				this.#scheduleDraw();
			}, rest).unref();
		}
	}

	#draw(terminal: Terminal, step: Step, now: number): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#drawnAt = now;
		this.#measure(now, this.#meters);
		terminal.write(`\r${lineOf(step.what, this.#parts(step, now), terminal.columns || usualColumns)}\u001B[K`);
	}

	#measure(now: number, { count, bytes }: { count: SpeedMeter | undefined; bytes: SpeedMeter | undefined }): void {
		this.#meters = {
			count: measureSpeed(count, now, this.#done.count),
			bytes: measureSpeed(bytes, now, this.#done.bytes),
		};
	}

	#parts({ unit, total = {} }: Step, now: number): Parts {
		const done = this.#done;
		const parts: Parts = {};
		if (unit !== undefined)
			parts.count = `${total.count === undefined ? '' : `${done.count} of `}${plural(total.count ?? done.count, unit)}`;
		if (done.bytes > 0 || total.bytes !== undefined)
			parts.bytes = `${formatListSize(done.bytes)}${total.bytes === undefined ? '' : ` of ${formatListSize(total.bytes)}`}`;
		// Files differ in size: if bytes are counted, they determine the progress.
		const measured = parts.bytes === undefined ? 'count' : 'bytes';
		const all = total[measured];
		if (all !== undefined) parts.share = `${all > 0 ? Math.min(100, Math.floor((100 * done[measured]) / all)) : 100} %`;
		const speed = now - this.#begunAt < measureMs ? undefined : bytesPerSecond(this.#meters[measured]);
		if (speed === undefined || parts[measured] === undefined) return parts;
		parts.speed = measured === 'bytes' ? formatSpeed(speed) : `${formatCount(speed)} ${unit}s/s`;
		const left = all === undefined ? undefined : remainingSeconds(all - done[measured], speed);
		if (left !== undefined && left > 0) parts.left = `${formatDuration(left)} left`;
		return parts;
	}
}

/** Shows the progress of `work` on the terminal, unless `json` is set; the line is cleared when the work has ended. */
export async function withProgress<T>(
	{ json = false }: { json?: boolean },
	work: (progress: Progress) => Promise<T>,
): Promise<T> {
	const progress = new Progress(!json);
	try {
		return await work(progress);
	} finally {
		progress.end();
	}
}

/** Passes the rows on and counts a batch as done once the next one is requested. After the last batch all rows have been read. */
export async function* withRowProgress(
	batches: AsyncIterable<TableRows>,
	step: Step,
	progress: Progress,
): AsyncGenerator<TableRows> {
	progress.begin({ unit: 'row', ...step });
	for await (const batch of batches) {
		yield batch;
		progress.advance({ count: batch.rows.length });
	}
	progress.begin({ what: 'Reading the rows back' });
}

type Parts = { [Name in 'share' | 'count' | 'bytes' | 'speed' | 'left']?: string };

const inOrder = ['share', 'count', 'bytes', 'speed', 'left'] as const;

/** The parts to leave out on a narrow terminal, the first one first. */
const dispensable = ['speed', 'bytes', 'count', 'left', 'share'] as const;

/** Leaves the last column free: a line that fills its row could not be drawn over. */
function lineOf(what: string, parts: Parts, columns: number): string {
	const shown = { ...parts };
	const text = () => {
		const known = inOrder.map((name) => shown[name]).filter((part) => part !== undefined);
		return known.length === 0 ? what : `${what}: ${known.join(', ')}`;
	};
	for (const name of dispensable) {
		if (text().length < columns) break;
		delete shown[name];
	}
	return escapeControls(text()).slice(0, columns - 1);
}

function formatCount(count: number): string {
	return count < 10 ? count.toFixed(1) : String(Math.round(count));
}
