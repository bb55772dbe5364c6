import type { JobStore } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Knex } from 'knex';
import { databaseTime } from '../../../connection/dialect.js';
import { isUniqueViolation } from '../../../connection/errors.js';
import { plainRow } from '../../../connection/plainValues.js';
import { transact } from '../../../connection/transact.js';
import { type endedLimits, removeOldest } from './endedJobs.js';
import { assertRoom, cancelJobs, nextTurn } from './jobQueue.js';
import { emptyCheckpoint, type JobRow, released } from './jobRows.js';

const atTheBeginning = { done: 0, total: 0, unit: 'items', speed: null, time_left: null } as const;

/** Jobs that wait: how they join the queue, and who is next. */
export function waitingJobs(
	knex: Knex,
	now: () => number,
	endedOnes: typeof endedLimits,
): Pick<JobStore, 'add' | 'retry' | 'waitingKinds' | 'next' | 'cancel'> {
	const jobs = () => knex<JobRow>('jobs');
	const time = () => databaseTime(knex, now);
	const touched = () => ({ updated_at: time() });

	return {
		async add(job, limits) {
			const { id, kind, userId, title, input, onRestart, isLong, isOrdered } = job;
			const bytes = Buffer.byteLength(input);
			try {
				await transact(knex, async (transaction) => {
					await assertRoom(transaction, { userId, kind, bytes }, limits);
					await removeOldest(transaction, userId, endedOnes);
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
				await assertRoom(transaction, { userId: row.user_id, kind: row.kind, bytes: 0, id }, limits);
				const changed = await ended().update({
					...plainRow({
						...{ ...atTheBeginning, status: 'queued', is_cancel_requested: false, detail: null, error: null },
						...{
							attempt: 0,
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

		async waitingKinds() {
			const rows = await jobs().where({ status: 'queued' }).distinct('kind');
			return new Set(rows.map(({ kind }) => kind));
		},

		async next(kind, { except = [], exceptJobs = [], userId: only, isLong } = {}) {
			const row = await jobs()
				// The sign keeps SQLite from passing over those of others where one user's are meant.
				.whereRaw(`${only === undefined ? '' : '+'}status = ?`, ['queued'])
				.where({
					kind,
					...(isLong === undefined ? {} : { is_long: isLong }),
					...(only === undefined ? {} : { user_id: only }),
				})
				.whereNotIn('user_id', except)
				.whereNotIn('id', exceptJobs)
				.orderBy([{ column: 'turn' }, { column: 'created_at' }, { column: 'id' }])
				.first('id', 'user_id', 'epoch', 'is_cancel_requested');
			if (row === undefined) return undefined;
			const { id, user_id: userId, epoch } = row;
			return { id, userId, epoch, isCancelRequested: Boolean(row.is_cancel_requested) };
		},

		cancel: (id) => transact(knex, async (transaction) => (await cancelJobs(transaction, { id }, now)) > 0),
	};
}
