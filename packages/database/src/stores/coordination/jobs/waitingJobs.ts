import type { JobStore } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Knex } from 'knex';
import { databaseTime, isMysql } from '../../../connection/dialect.js';
import { isUniqueViolation } from '../../../connection/errors.js';
import { plainRow } from '../../../connection/plainValues.js';
import { transact } from '../../../connection/transact.js';
import { rowsAtOnce } from '../../inParts.js';
import { type endedLimits, removeOldest } from './endedJobs.js';
import { assertRoom, cancelJobs, firstTurn, nextTurn, queueNetwork } from './jobQueue.js';
import { emptyCheckpoint, type JobRow, networkOf, ownNetwork, released } from './jobRows.js';

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

	/** Gives some waiting jobs a network that have none: an older program has added them. */
	const nameNetworks = async (kind: string): Promise<void> => {
		const nameless = () => jobs().where({ status: 'queued', kind, network: null });
		const ids = await nameless().limit(rowsAtOnce).pluck('id');
		if (ids.length === 0) return;
		const named = isMysql(knex) ? 'concat(?, user_id)' : '? || user_id';
		await transact(knex, (transaction) =>
			transaction<JobRow>('jobs')
				.whereIn('id', ids)
				.whereNull('network')
				.update({ network: knex.raw(named, [ownNetwork]) }),
		);
	};

	return {
		async add(job, limits) {
			const { id, kind, userId, title, input, onRestart, isLong, isOrdered } = job;
			const bytes = Buffer.byteLength(input);
			try {
				await transact(knex, async (transaction) => {
					await assertRoom(transaction, { userId, kind, bytes }, limits);
					await removeOldest(transaction, userId, endedOnes);
					const network = await queueNetwork(transaction, job);
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
								network,
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
								turn: await nextTurn(transaction, userId, { kind, is_long: isLong, network }),
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
				const row = await ended().first('user_id', 'network', 'kind', 'on_restart', 'is_long');
				if (row === undefined) return false;
				await assertRoom(transaction, { userId: row.user_id, kind: row.kind, bytes: 0, id }, limits);
				const { user_id: userId, kind } = row;
				const network = await queueNetwork(transaction, { userId, kind, network: networkOf(row) });
				const changed = await ended().update({
					...plainRow({
						...{ ...atTheBeginning, status: 'queued', is_cancel_requested: false, detail: null, error: null },
						...{
							attempt: 0,
							interruptions: 0,
							network,
							turn: await nextTurn(transaction, row.user_id, { ...row, network }),
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

		async next(kind, { except = [], exceptJobs = [], exceptNetworks = [], after = '', userId: only, isLong } = {}) {
			const queued = () =>
				jobs()
					// The sign keeps SQLite from passing over those of others where one user's are meant.
					.whereRaw(`${only === undefined ? '' : '+'}status = ?`, ['queued'])
					.where({
						kind,
						...(isLong === undefined ? {} : { is_long: isLong }),
						...(only === undefined ? {} : { user_id: only }),
					});
			const firstOf = (rows: Knex.QueryBuilder<JobRow>, ...first: { column: string }[]): Promise<JobRow | undefined> =>
				rows
					.whereNotIn('user_id', except)
					.whereNotIn('id', exceptJobs)
					.orderBy([...first, { column: 'turn' }, { column: 'created_at' }, { column: 'id' }])
					.first('id', 'user_id', 'network', 'epoch', 'is_cancel_requested');
			if (only !== undefined) return toWaiting(await firstOf(queued()));
			const ending = await firstOf(queued().where('turn', '<=', firstTurn));
			if (ending !== undefined) return toWaiting(ending);
			await nameNetworks(kind);
			// Those that are passed over may have any number of jobs, of which one each is read.
			for (const part of ['behind', 'before'] as const)
				for (let last = part === 'behind' ? after : ''; ; ) {
					const rows = queued().where('network', '>', last);
					if (part === 'before') rows.where('network', '<=', after);
					const row = await firstOf(rows, { column: 'network' });
					if (row === undefined) break;
					last = networkOf(row);
					if (!exceptNetworks.includes(last)) return toWaiting(row);
				}
			return undefined;
		},

		cancel: (id) => transact(knex, async (transaction) => (await cancelJobs(transaction, { id }, now)) > 0),
	};
}

type WaitingJob = Awaited<ReturnType<JobStore['next']>>;

function toWaiting(row: JobRow | undefined): WaitingJob {
	return (
		row && {
			...{ id: row.id, userId: row.user_id, network: networkOf(row), epoch: row.epoch },
			isCancelRequested: Boolean(row.is_cancel_requested),
		}
	);
}
