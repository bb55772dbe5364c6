import type { HeldJob, JobInterruption, JobRecord, NewJob } from '@stowage/plugin-api';
import type { Knex } from 'knex';

export interface JobRow {
	id: string;
	kind: string;
	user_id: string;
	title: string;
	/** Empty once it may not be run again. */
	input: string;
	saved: string | null;
	/** 0 once the input is gone: it would be a text otherwise, however short. */
	input_bytes: number;
	saved_bytes: number;
	on_restart: NewJob['onRestart'];
	is_long: boolean | number;
	is_ordered: boolean | number;
	/** Null where an older program has added the job, until the next one is looked for. */
	network: string | null;
	status: JobRecord['status'];
	is_cancel_requested: boolean | number;
	done: number;
	total: number;
	unit: JobRecord['unit'];
	speed: number | null;
	time_left: number | null;
	detail: string | null;
	error: string | null;
	attempt: number;
	interruptions: number;
	/** The place in the queue of its kind. */
	turn: number;
	/** Equals `turn` once the job has begun, null before, so that the queue's latest is found. */
	begun_turn: number | null;
	slot: string | null;
	holder: string | null;
	epoch: number;
	lease_until: number | null;
	claimed_at: number | null;
	/** `trial` while no other suspected job may begin, in any process: unique. */
	trial: string | null;
	created_at: number;
	start_time: number | null;
	end_time: number | null;
	/** By the clock of the database. */
	updated_at: number;
}

export type Change = { [Column in keyof JobRow]?: JobRow[Column] | Knex.Raw };

/** All columns except those that only a run needs, which may be large. */
export const recordColumns = [
	'id',
	'kind',
	'user_id',
	'title',
	'is_ordered',
	'input_bytes',
	'status',
	'done',
	'total',
	'unit',
	'speed',
	'time_left',
	'detail',
	'error',
	'created_at',
	'start_time',
	'end_time',
] as const;

export const activeStatuses = ['queued', 'processing'] as const;

/** The columns of a job that no process holds. */
export const released = { slot: null, holder: null, lease_until: null, trial: null } as const;

export const emptyCheckpoint = { saved: null, saved_bytes: 0 } as const;

export function toRecord(row: Pick<JobRow, (typeof recordColumns)[number]>): JobRecord {
	return {
		id: row.id,
		kind: row.kind,
		userId: row.user_id,
		title: row.title,
		status: row.status,
		done: row.done,
		total: row.total,
		unit: row.unit,
		speed: row.speed,
		timeLeft: row.time_left,
		detail: row.detail,
		error: row.error,
		isOrdered: Boolean(row.is_ordered),
		hasInput: row.input_bytes > 0,
		createdAt: row.created_at,
		startTime: row.start_time,
		endTime: row.end_time,
	};
}

export interface InterruptionRow {
	holder: string;
	job_id: string;
	user_id: string;
	kind: string;
	is_ordered: boolean | number;
	was_trial: boolean | number;
	has_passed: boolean | number;
	at: number;
	/** The status of the job; null if it is gone. */
	status: JobRow['status'] | null;
}

export function toInterruption(row: InterruptionRow): JobInterruption {
	return {
		holder: row.holder,
		jobId: row.job_id,
		userId: row.user_id,
		kind: row.kind,
		isOrdered: Boolean(row.is_ordered),
		wasTrial: Boolean(row.was_trial),
		hasPassed: Boolean(row.has_passed),
		hasEnded: row.status !== 'queued' && row.status !== 'processing',
		at: row.at,
	};
}

/** The network that a job counts for. */
export const networkOf = ({ network, user_id }: Pick<JobRow, 'network' | 'user_id'>): string =>
	network ?? `${ownNetwork}${user_id}`;

/** What the network of a user begins with whose job has none. */
export const ownNetwork = 'user ';

export function toHeld(row: JobRow & { is_expired: boolean | number }): HeldJob {
	return {
		id: row.id,
		kind: row.kind,
		userId: row.user_id,
		network: networkOf(row),
		holder: row.holder ?? '',
		epoch: row.epoch,
		slot: row.slot ?? '',
		onRestart: row.on_restart,
		isCancelRequested: Boolean(row.is_cancel_requested),
		isExpired: Boolean(row.is_expired),
		interruptions: row.interruptions,
		isOrdered: Boolean(row.is_ordered),
		isOnTrial: row.trial !== null,
		ranMs: Math.max(0, row.updated_at - (row.claimed_at ?? row.updated_at)),
	};
}
