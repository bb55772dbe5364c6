import type { JobHold, JobRecord } from '@stowage/plugin-api';
import type { JobPauses } from './JobPauses.js';
import type { AnyKind } from './runs/runToEnd.js';
import { holdOf, type Suspects } from './Suspects.js';

/** How long a full disk of the database holds from the last attempt to write there: there is one each second. */
const obstacleMs = 10_000;

const paused: JobHold = { reason: 'The administrator has paused all jobs.', until: null };
const obstructed: JobHold = {
	reason: 'The disk of the database is full. This goes on once there is room.',
	until: null,
};

interface Dependencies {
	pauses: JobPauses;
	kinds: ReadonlyMap<string, AnyKind>;
	/** Whether jobs may begin in this process. */
	mayBegin(): boolean;
	/** Whether this process or another one has a capability. */
	isOffered(capability: string): boolean;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** Why jobs wait, beside for a free place. */
export class JobHolds {
	readonly #parts: Dependencies;
	#obstructedAt = Number.NEGATIVE_INFINITY;

	constructor(parts: Dependencies) {
		this.#parts = parts;
	}

	/** The disk of the database was full, or not, when it was written to just now. */
	noteFullDisk(isFull: boolean): void {
		this.#obstructedAt = isFull ? this.#parts.monotonic() : Number.NEGATIVE_INFINITY;
	}

	find(record: JobRecord, suspects: Suspects): JobHold | null {
		const { mayBegin, monotonic } = this.#parts;
		if (record.status === 'queued' && !mayBegin()) return paused;
		const hold = holdOf(record, suspects) ?? this.#pauseOf(record);
		const isObstructed = record.endTime === null && monotonic() - this.#obstructedAt < obstacleMs;
		// What waits until a certain time would also wait with room.
		return isObstructed && (hold === null || hold.until === null) ? obstructed : hold;
	}

	/** Why a job waits for what is not there. */
	#pauseOf({ id, kind, status }: JobRecord): JobHold | null {
		const { pauses, kinds, isOffered, now } = this.#parts;
		const needs = kinds.get(kind)?.needs;
		if (status !== 'queued') return null;
		if (needs !== undefined && !isOffered(needs.capability)) return { reason: needs.lack, until: null };
		const pause = pauses.find(id);
		return pause === undefined ? null : { reason: pause.reason, until: now() + pause.leftMs };
	}
}
