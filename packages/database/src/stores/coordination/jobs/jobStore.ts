import type { JobRecord, JobRunKey, JobStore, JobTakeover } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Knex } from 'knex';
import { databaseTime } from '../../../connection/dialect.js';
import { isUniqueViolation } from '../../../connection/errors.js';
import { plainRow } from '../../../connection/plainValues.js';
import { transact } from '../../../connection/transact.js';
import { batches } from '../../batches.js';
import { isOver, untilIn } from '../leaseTimes.js';
import { assertRoom, cancelJobs, firstTurn, nextTurn } from './jobQueue.js';
import {
	activeStatuses,
	type Change,
	emptyCheckpoint,
	type InterruptionRow,
	type JobRow,
	recordColumns,
	toHeld,
	toInterruption,
	toRecord,
} from './jobRows.js';

const maxChanged = 1000;

const atTheBeginning = { done: 0, total: 0, unit: 'items', speed: null, time_left: null } as const;

const released = { slot: null, holder: null, lease_until: null, trial: null } as const;

export function jobStore(knex: Knex, now: () => number): JobStore {
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

	/** Moves the job of this run to the queue of the long ones, as one that has begun there or that waits. */
	const joinLong = (run: JobRunKey, as: 'begun' | 'waiting'): Promise<boolean> =>
		transact(knex, async (transaction) => {
			const { id, holder, epoch } = run;
			const held = () => transaction<JobRow>('jobs').where({ id, status: 'processing', holder, epoch });
			const found = await held().first('user_id', 'kind', 'is_long');
			if (found === undefined || found.is_long) return found !== undefined;
			const turn = await nextTurn(transaction, found.user_id, { kind: found.kind, is_long: true });
			const begun_turn = as === 'begun' ? turn : null;
			return (await held().update({ ...plainRow({ is_long: true, turn, begun_turn }), ...touched() })) > 0;
		});

	return {
		async add(job, limits) {
			const { id, kind, userId, title, input, onRestart, isLong, isOrdered } = job;
			const bytes = Buffer.byteLength(input);
			try {
				await transact(knex, async (transaction) => {
					await assertRoom(transaction, userId, kind, bytes, limits);
					await transaction<JobRow>('jobs').insert({
						...plainRow({
							...{
								id,
								kind,
								user_id: userId,
								title,
								input,
								input_bytes: bytes,
								...emptyCheckpoint,
								on_restart: onRestart,
								is_long: isLong,
								is_ordered: isOrdered,
							},
							...{
								...atTheBeginning,
								...released,
								status: 'queued',
								is_cancel_requested: false,
								detail: null,
								error: null,
							},
							...{
								attempt: 0,
								interruptions: 0,
								turn: await nextTurn(transaction, userId, { kind, is_long: isLong }),
								begun_turn: null,
								epoch: 0,
							},
							...{ created_at: now(), start_time: null, end_time: null },
						}),
						...touched(),
					} as unknown as JobRow);
				});
			} catch (cause) {
				if (!isUniqueViolation(cause)) throw cause;
				throw new Failure('alreadyExists', 'There is already such a job.', { cause });
			}
		},

		async retry(id, limits) {
			return transact(knex, async (transaction) => {
				const ended = () =>
					transaction<JobRow>('jobs')
						.where({ id })
						.whereIn('status', ['failed', 'cancelled'])
						.where('input_bytes', '>', 0);
				const row = await ended().first('user_id', 'kind', 'on_restart', 'is_long');
				if (row === undefined) return false;
				await assertRoom(transaction, row.user_id, row.kind, 0, limits);
				const changed = await ended().update({
					...plainRow({
						...{ ...atTheBeginning, status: 'queued', is_cancel_requested: false, detail: null, error: null },
						...{
							interruptions: 0,
							turn: await nextTurn(transaction, row.user_id, row),
							start_time: null,
							end_time: null,
						},
					}),
					...(row.on_restart === 'resume' ? {} : emptyCheckpoint),
					...touched(),
				});
				return changed > 0;
			});
		},

		async find(id) {
			const row = await jobs()
				.where({ id })
				.first(...recordColumns);
			return row && toRecord(row);
		},

		async input(id) {
			const row = await jobs().where({ id }).where('input_bytes', '>', 0).first('input');
			return row?.input;
		},

		async checkpointOf(id) {
			const row = await jobs().where({ id }).first('saved');
			return row?.saved ?? undefined;
		},

		async isInCheckpoint(text) {
			// Without characters that a pattern or JSON would interpret. Ids of further roots have a tilde, those of copies between roots dots.
			if (!/^[A-Za-z0-9.~-]+$/.test(text)) return false;
			const row = await jobs().whereIn('status', activeStatuses).where('saved', 'like', `%"${text}"%`).first('id');
			return row !== undefined;
		},

		async list(maxEnded, userId) {
			const chosen = () => (userId === undefined ? jobs() : jobs().where({ user_id: userId }));
			const running = await chosen()
				.whereNull('end_time')
				.select(...recordColumns);
			const ended = await chosen()
				.whereNotNull('end_time')
				.orderBy('end_time', 'desc')
				.limit(maxEnded)
				.select(...recordColumns);
			return [...running, ...ended].map(toRecord).sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
		},

		async counts() {
			const rows: { kind: string; status: JobRecord['status']; count: number | string }[] = await jobs()
				.groupBy('kind', 'status')
				.orderBy(['kind', 'status'])
				.select('kind', 'status', knex.raw('count(*) as count'));
			return rows.map(({ kind, status, count }) => ({ kind, status, count: Number(count) }));
		},

		async listHeld(leaseMs) {
			const rows: (JobRow & { is_expired: boolean | number })[] = await jobs()
				.where({ status: 'processing' })
				.select(
					...([
						'id',
						'kind',
						'user_id',
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

		async waitingKinds() {
			const rows = await jobs().where({ status: 'queued' }).distinct('kind');
			return new Set(rows.map(({ kind }) => kind));
		},

		async next(kind, { except = [], userId: only, isLong } = {}) {
			const row = await jobs()
				.where({ status: 'queued', kind })
				.where({
					...(isLong === undefined ? {} : { is_long: isLong }),
					...(only === undefined ? {} : { user_id: only }),
				})
				.whereNotIn('user_id', except)
				.orderBy([{ column: 'turn' }, { column: 'created_at' }, { column: 'id' }])
				.first('id', 'user_id', 'epoch', 'is_cancel_requested');
			if (row === undefined) return undefined;
			const { id, user_id: userId, epoch } = row;
			return { id, userId, epoch, isCancelRequested: Boolean(row.is_cancel_requested) };
		},

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
				// A cancelled one may have been cancelled in time, unless it was on trial for long enough.
				const isOnTrial = async () =>
					(await transaction<JobRow>('jobs').where({ id: run.id }).whereNotNull('trial').first('id')) !== undefined;
				const mayHaveBeenInTime = takeover === undefined && status === 'cancelled' && (await isOnTrial());
				const hasEnded = await changeIn(transaction, run, row, takeover);
				// It has ended without the process.
				if (hasEnded && takeover === undefined && !mayHaveBeenInTime)
					await transaction('job_interruptions').where({ job_id: run.id }).delete();
				return hasEnded;
			});
		},

		endTrial: (run) => change(run, { trial: null }),

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

		cancel: (id) => transact(knex, async (transaction) => (await cancelJobs(transaction, { id }, now)) > 0),

		async listInterruptions() {
			const rows: (InterruptionRow & { read_at: number | string })[] = await knex('job_interruptions')
				.leftJoin('jobs', 'jobs.id', 'job_interruptions.job_id')
				.orderBy('job_interruptions.at', 'desc')
				.select('job_interruptions.*', 'jobs.status', knex.raw('? as read_at', [time()]));
			return { interruptions: rows.map(toInterruption), now: Number(rows[0]?.read_at ?? now()) };
		},

		forgetInterruptions({ holder, userId, kind }) {
			const choice = Object.entries({ holder, user_id: userId, kind }).filter(([, value]) => value !== undefined);
			return knex('job_interruptions').where(Object.fromEntries(choice)).delete();
		},

		async listChanged(sinceMs) {
			const rows = await jobs()
				.where('updated_at', '>', knex.raw('? - ?', [time(), sinceMs]))
				.orderBy('updated_at', 'desc')
				.limit(maxChanged)
				.select(...recordColumns);
			return rows.map(toRecord);
		},

		async sweep(endedBefore, maxEnded) {
			await knex('job_interruptions').where('at', '<', endedBefore).delete();
			let removed = await jobs().where('end_time', '<', endedBefore).delete();
			const full = await jobs()
				.whereNotNull('end_time')
				.groupBy('user_id')
				.having(knex.raw('count(*) > ?', [maxEnded]))
				.select('user_id');
			for (const { user_id } of full) removed += await removeBeyond(knex, user_id, maxEnded);
			return removed;
		},
	};
}

async function removeBeyond(knex: Knex, userId: string, maxEnded: number): Promise<number> {
	const beyond = await knex<JobRow>('jobs')
		.where({ user_id: userId })
		.whereNotNull('end_time')
		.orderBy([
			{ column: 'end_time', order: 'desc' },
			{ column: 'id', order: 'desc' },
		])
		.offset(maxEnded)
		.limit(10_000)
		.select('id');
	let removed = 0;
	for (const some of batches(beyond)) {
		const ids = some.map(({ id }) => id);
		removed += await knex<JobRow>('jobs').whereIn('id', ids).whereNotNull('end_time').delete();
	}
	return removed;
}
