import type { JobRecord, JobStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { databaseTime } from '../../../connection/dialect.js';
import { ownTurn } from '../../../connection/ownTurn.js';
import { transact } from '../../../connection/transact.js';
import { deleteInParts } from '../../inParts.js';
import { keepLatestOfEach } from './endedJobs.js';
import {
	activeStatuses,
	emptyCheckpoint,
	type InterruptionRow,
	type JobRow,
	recordColumns,
	toInterruption,
	toRecord,
} from './jobRows.js';

const maxChanged = 1000;

const statuses: readonly JobRecord['status'][] = ['queued', 'processing', 'completed', 'failed', 'cancelled'];

/** What is known of jobs, waiting, held or ended, and for how long that is kept. */
export function jobRecords(
	knex: Knex,
	now: () => number,
): Pick<
	JobStore,
	| 'find'
	| 'input'
	| 'checkpointOf'
	| 'failedCheckpoints'
	| 'forgetCheckpoint'
	| 'isInCheckpoint'
	| 'list'
	| 'counts'
	| 'listChanged'
	| 'listInterruptions'
	| 'forgetInterruptions'
	| 'sweep'
> {
	const jobs = () => knex<JobRow>('jobs');
	const time = () => databaseTime(knex, now);

	return {
		async find(id) {
			const row = await jobs()
				.where({ id })
				.first(...recordColumns);
			return row && toRecord(row);
		},

		async input(id, maxBytes = Number.MAX_SAFE_INTEGER) {
			const row = await jobs().where({ id }).whereBetween('input_bytes', [1, maxBytes]).first('input');
			return row?.input;
		},

		async checkpointOf(id) {
			const row = await jobs().where({ id }).first('saved');
			return row?.saved ?? undefined;
		},

		async failedCheckpoints(kind, userId) {
			const rows = await jobs()
				.where({ user_id: userId, kind })
				// The sign keeps SQLite from reading the failed jobs of all users.
				.whereRaw('+status = ?', ['failed'])
				.whereNotNull('saved')
				.select('id', 'saved');
			return rows.map(({ id, saved }) => ({ id, saved: saved ?? '' }));
		},

		async forgetCheckpoint(id) {
			const failed = (transaction: Knex.Transaction) =>
				transaction<JobRow>('jobs').where({ id, status: 'failed' }).whereNotNull('saved');
			return transact(knex, async (transaction) => (await failed(transaction).update(emptyCheckpoint)) > 0);
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
			const counts: { kind: string; status: JobRecord['status']; count: number }[] = [];
			for (const status of statuses) {
				const rows: { kind: string; count: number | string }[] = await jobs()
					.where({ status })
					.groupBy('kind')
					.select('kind', knex.raw('count(*) as count'));
				counts.push(...rows.map(({ kind, count }) => ({ kind, status, count: Number(count) })));
				// Of all users together many have ended: others have their turns between.
				await ownTurn();
			}
			return counts.sort((a, b) => (a.kind === b.kind ? compare(a.status, b.status) : compare(a.kind, b.kind)));
		},

		async listChanged(sinceMs) {
			const rows = await jobs()
				.where('updated_at', '>', knex.raw('? - ?', [time(), sinceMs]))
				.orderBy('updated_at', 'desc')
				.limit(maxChanged)
				.select(...recordColumns);
			return rows.map(toRecord);
		},

		async listInterruptions() {
			const rows: (InterruptionRow & { read_at: number | string })[] = await knex('job_interruptions')
				.leftJoin('jobs', 'jobs.id', 'job_interruptions.job_id')
				.orderBy('job_interruptions.at', 'desc')
				.select('job_interruptions.*', 'jobs.status', knex.raw('? as read_at', [time()]));
			// Always the database's: that of this process says nothing of the leases.
			const [first = await knex.first(knex.raw('? as read_at', [time()]))] = rows;
			return { interruptions: rows.map(toInterruption), now: Number(first.read_at) };
		},

		forgetInterruptions({ holder, userId, kind }) {
			const choice = Object.entries({ holder, user_id: userId, kind }).filter(([, value]) => value !== undefined);
			return knex('job_interruptions').where(Object.fromEntries(choice)).delete();
		},

		async sweep(endedBefore, maxEnded) {
			await deleteInParts(knex, 'job_interruptions', (rows) => rows.where('at', '<', endedBefore));
			const removed = await deleteInParts(knex, 'jobs', (rows) => rows.where('end_time', '<', endedBefore));
			return removed + (await keepLatestOfEach(knex, maxEnded));
		},
	};
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
