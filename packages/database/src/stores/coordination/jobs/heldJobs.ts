import type { JobRunKey, JobStore, JobTakeover } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { databaseTime } from '../../../connection/dialect.js';
import { isUniqueViolation } from '../../../connection/errors.js';
import { plainRow } from '../../../connection/plainValues.js';
import { transact } from '../../../connection/transact.js';
import { isOver, untilIn } from '../leaseTimes.js';
import { firstTurn, nextTurn } from './jobQueue.js';
import {
	type Change,
	emptyCheckpoint,
	type JobRow,
	networkOf,
	recordColumns,
	released,
	toHeld,
	toRecord,
} from './jobRows.js';

/** Jobs that a process runs: it holds each by a lease, and all that it writes is refused once another one has taken the job over. */
export function heldJobs(
	knex: Knex,
	now: () => number,
): Pick<JobStore, 'claim' | 'listHeld' | 'renew' | 'checkpoint' | 'end' | 'endTrial' | 'setLong' | 'requeue'> {
	const jobs = () => knex<JobRow>('jobs');
	const time = () => databaseTime(knex, now);
	const touched = () => ({ updated_at: time() });
	const leased = (leaseMs: number) => ({ lease_until: untilIn(knex, time(), leaseMs) });
	const expired = (leaseMs: number) => isOver(knex, 'lease_until', time(), leaseMs);

	/** Changes the job if it is still this run's. */
	const change = (run: JobRunKey, row: Change, takeover?: JobTakeover): Promise<boolean> =>
		transact(knex, (transaction) => changeIn(transaction, run, row, takeover));

	const changeIn = async (
		transaction: Knex.Transaction,
		{ id, holder, epoch }: JobRunKey,
		row: Change,
		takeover?: JobTakeover,
	): Promise<boolean> => {
		const job = () => transaction<JobRow>('jobs').where({ id });
		// Read before the change, which removes what is recorded.
		const before = takeover?.isRecorded ? await job().first('user_id', 'kind', 'is_ordered', 'trial') : undefined;
		const held = job().where({ status: 'processing', holder, epoch });
		if (takeover?.leaseMs !== undefined) held.whereRaw(expired(takeover.leaseMs));
		const changed = await held.update({ ...row, ...touched() });
		if (changed === 0) return false;
		if (before === undefined) return true;
		const { user_id, kind, is_ordered } = before;
		const record = { holder, job_id: id, user_id, kind, is_ordered, was_trial: before.trial !== null };
		await transaction('job_interruptions')
			.insert({ ...plainRow(record), at: time() })
			.onConflict(['holder', 'job_id'])
			.ignore();
		return true;
	};

	/** Marks the interruptions of a job that has gone on without ending a process. */
	const pass = (transaction: Knex.Transaction, id: string): Promise<unknown> =>
		transaction('job_interruptions')
			.where({ job_id: id })
			.update(plainRow({ has_passed: true }));

	/** Moves the job of this run to the queue of the long ones, as one that has begun there or that waits. */
	const joinLong = (run: JobRunKey, as: 'begun' | 'waiting'): Promise<boolean> =>
		transact(knex, async (transaction) => {
			const { id, holder, epoch } = run;
			const held = () => transaction<JobRow>('jobs').where({ id, status: 'processing', holder, epoch });
			const found = await held().first('user_id', 'network', 'kind', 'is_long');
			if (found === undefined || found.is_long) return found !== undefined;
			const queue = { kind: found.kind, is_long: true, network: networkOf(found) };
			const turn = await nextTurn(transaction, found.user_id, queue);
			const begun_turn = as === 'begun' ? turn : null;
			return (await held().update({ ...plainRow({ is_long: true, turn, begun_turn }), ...touched() })) > 0;
		});

	return {
		async claim({ id, holder, epoch }, slot, leaseMs, trial) {
			try {
				const changed = await transact(knex, (transaction) =>
					transaction<JobRow>('jobs')
						.where({ id, status: 'queued', epoch: epoch - 1 })
						.update({
							...plainRow({ status: 'processing', slot, holder, epoch, trial: trial ?? null }),
							claimed_at: time(),
							...leased(leaseMs),
							...touched(),
							start_time: knex.raw('coalesce(start_time, ?)', [now()]),
							attempt: knex.raw('attempt + 1'),
							begun_turn: knex.raw('turn'),
						}),
				);
				if (changed === 0) return undefined;
			} catch (error) {
				if (isUniqueViolation(error)) return undefined;
				throw error;
			}
			const row = await jobs()
				.where({ id, holder, epoch })
				.first(...recordColumns, 'input', 'saved', 'attempt');
			return row && { input: row.input, saved: row.saved, attempt: row.attempt, record: toRecord(row) };
		},

		async listHeld(leaseMs) {
			const rows: (JobRow & { is_expired: boolean | number })[] = await jobs()
				.where({ status: 'processing' })
				.select(
					...([
						'id',
						'kind',
						'user_id',
						'network',
						'holder',
						'epoch',
						'slot',
						'on_restart',
						'is_cancel_requested',
						'interruptions',
						'is_ordered',
						'trial',
						'claimed_at',
						'updated_at',
					] as const),
					knex.raw('? as ??', [expired(leaseMs), 'is_expired']),
				);
			return rows.map(toHeld);
		},

		renew(run, leaseMs, progress) {
			const row =
				progress === undefined
					? {}
					: plainRow({
							done: progress.done,
							total: progress.total,
							unit: progress.unit,
							speed: progress.speed,
							time_left: progress.timeLeft,
							detail: progress.detail,
						});
			return change(run, { ...row, ...leased(leaseMs) });
		},

		checkpoint(run, leaseMs, saved) {
			return change(run, {
				...plainRow({ saved, saved_bytes: Buffer.byteLength(saved), interruptions: 0 }),
				...leased(leaseMs),
			});
		},

		end(run, { status, error, detail }, takeover) {
			const row = plainRow({
				...{ status, error, ...released, end_time: now(), speed: null, time_left: null },
				...(detail === undefined ? {} : { detail }),
				...(status === 'completed' ? emptyCheckpoint : {}),
			});
			return transact(knex, async (transaction) => {
				// One that was cancelled, or has failed, may have ended before it came to what ends a process.
				const isOnTrial = async () =>
					(await transaction<JobRow>('jobs').where({ id: run.id }).whereNotNull('trial').first('id')) !== undefined;
				const hasPassed = takeover === undefined && (status === 'completed' || !(await isOnTrial()));
				const hasEnded = await changeIn(transaction, run, row, takeover);
				if (hasEnded && hasPassed) await pass(transaction, run.id);
				return hasEnded;
			});
		},

		endTrial: (run) =>
			transact(knex, async (transaction) => {
				const isOwn = await changeIn(transaction, run, { trial: null });
				if (isOwn) await pass(transaction, run.id);
				return isOwn;
			}),

		setLong: (run) => joinLong(run, 'begun'),

		async requeue(run, reason, takeover) {
			// The job stays this run's until the statement below.
			if (reason === 'yielded' && !(await joinLong(run, 'waiting'))) return false;
			const endsNow = "is_cancel_requested and (saved is null or on_restart <> 'resume')";
			// MySQL assigns from left to right, so columns that a condition reads come after it.
			return change(
				run,
				{
					...plainRow({ ...released, speed: null, time_left: null }),
					status: knex.raw(`case when ${endsNow} then 'cancelled' else 'queued' end`),
					end_time: knex.raw(`case when ${endsNow} then ? else null end`, [now()]),
					turn: knex.raw('case when is_cancel_requested then ? else turn end', [firstTurn]),
					interruptions: knex.raw('interruptions + ?', [reason === 'interrupted' ? 1 : 0]),
					saved: knex.raw("case when on_restart = 'resume' then saved else null end"),
					saved_bytes: knex.raw("case when on_restart = 'resume' then saved_bytes else 0 end"),
				},
				takeover,
			);
		},
	};
}
