import type { JobLimits } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Knex } from 'knex';
import { databaseTime } from '../../../connection/dialect.js';
import { plainRow } from '../../../connection/plainValues.js';
import { lockUser } from '../../accounts/lockUser.js';
import { batches } from '../../batches.js';
import { activeStatuses, emptyCheckpoint, type JobRow, ownNetwork } from './jobRows.js';

/** The part of a user's limit that ended jobs may always keep. */
const smallPart = 500;

/** The place before all others: a job whose cancellation was requested only has to clean up. */
export const firstTurn = -1;

/** A queue with turns of its own: that of a network, for the long jobs of a kind, or for all others of it. */
export type JobQueue = Pick<JobRow, 'kind' | 'is_long'> & { network: string };

/**
 * The network in which a further job of a user counts: that in which others of the kind wait. One account may ask from any number of
 * networks, and would have a turn in each of them.
 */
export async function queueNetwork(
	transaction: Knex.Transaction,
	{ userId, kind, network }: { userId: string; kind: string; network: string },
): Promise<string> {
	const waiting = await transaction<JobRow>('jobs')
		.where({ user_id: userId, kind })
		// The sign keeps SQLite from reading the waiting jobs of all users.
		.whereRaw('+status = ?', ['queued'])
		.whereNotNull('network')
		.orderBy('turn', 'desc')
		.first('network');
	const found = waiting?.network ?? ownNetwork;
	// What an older program has added is no network to join: each account has such a one.
	return found.startsWith(ownNetwork) ? network : found;
}

/**
 * One behind the last of the user's, but not before those of their network that begin now: so the users of a network are served round
 * robin, whether they wait with many or have waited for long. It is the virtual time of fair queueing; two look-ups in an index, here
 * rather than at each claim.
 */
export async function nextTurn(transaction: Knex.Transaction, userId: string, queue: JobQueue): Promise<number> {
	const { kind, is_long, network } = queue;
	const jobs = () => transaction<JobRow>('jobs').where({ kind, is_long, network });
	const [last] = await jobs().where({ user_id: userId }).max<{ turn: number | null }[]>({ turn: 'turn' });
	const [begun] = await jobs().max<{ turn: number | null }[]>({ turn: 'begun_turn' });
	return Math.max(Number(last?.turn ?? -1) + 1, Number(begun?.turn ?? 0));
}

/** A job that is to wait. */
interface Joining {
	userId: string;
	kind: string;
	/** What is stored of it in addition. */
	bytes: number;
	/** Its id, if it was there before. */
	id?: string;
}

/**
 * Locks the user's row, so that two who start jobs are counted one after the other, and neither after the user was removed or disabled.
 */
export async function assertRoom(
	transaction: Knex.Transaction,
	{ userId, kind, bytes, id = '' }: Joining,
	limits: JobLimits,
): Promise<void> {
	const user = await lockUser(transaction, userId);
	if (user === undefined || user.is_disabled) throw new Failure('notFound', 'There is no such user.');
	const own = () => transaction<JobRow>('jobs').where({ user_id: userId });
	const [counted] = await own()
		.where({ kind })
		// The sign keeps SQLite from reading the waiting jobs of all users.
		.whereRaw(`+status in (${activeStatuses.map(() => '?').join(', ')})`, [...activeStatuses])
		.count<{ count: number }[]>({ count: '*' });
	if (Number(counted?.count ?? 0) >= limits.jobs) {
		const sentence = 'Too much of this is under way. Please wait until some of it has ended, or cancel it.';
		throw new Failure('rateLimited', sentence, { retryAfter: 10 });
	}
	const [row] = await own().sum<Record<'input' | 'saved', number | null>[]>({
		input: 'input_bytes',
		saved: 'saved_bytes',
	});
	const excess = Number(row?.input ?? 0) + Number(row?.saved ?? 0) + bytes - limits.bytes;
	if (excess <= 0) return;
	// Removing a small one would make no room.
	const removable: Pick<JobRow, 'id' | 'status' | 'input_bytes' | 'saved_bytes'>[] = await own()
		.whereNotNull('end_time')
		.whereRaw('input_bytes + saved_bytes > ?', [limits.bytes / smallPart])
		.whereNot({ id })
		.orderBy('end_time')
		.select('id', 'status', 'input_bytes', 'saved_bytes');
	// Keeping an ended job for a retry is worth less than a new one, and of one that is completed nothing is tried again.
	const isDone = (job: { status: string }) => job.status === 'completed';
	const removed: string[] = [];
	let freed = 0;
	for (const job of [...removable.filter(isDone), ...removable.filter((each) => !isDone(each))]) {
		if (freed >= excess) break;
		freed += job.input_bytes + job.saved_bytes;
		removed.push(job.id);
	}
	if (freed >= excess) {
		for (const ids of batches(removed))
			await own()
				.whereIn('id', ids)
				.update(plainRow({ input: '', input_bytes: 0, ...emptyCheckpoint }));
		return;
	}
	const sentence = 'Too much is waiting for you. Please wait until some of it has ended, or cancel it.';
	throw new Failure('rateLimited', sentence, { retryAfter: 10 });
}

/** Requests the end of all jobs of the user that have not ended. */
export function cancelJobsOf(transaction: Knex.Transaction, userId: string, now: () => number): Promise<unknown> {
	return cancelJobs(transaction, { user_id: userId }, now);
}

/** Resolves to how many it changed. */
export async function cancelJobs(
	transaction: Knex.Transaction,
	chosen: Partial<Pick<JobRow, 'id' | 'user_id'>>,
	now: () => number,
): Promise<number> {
	const endsNow = "status = 'queued' and (saved is null or is_cancel_requested)";
	// One statement: between two a waiting job could begin. MySQL assigns from left to right, so columns that a condition reads come after
	// it.
	return transaction<JobRow>('jobs')
		.where(chosen)
		.whereIn('status', activeStatuses)
		.where((open) => open.where({ status: 'queued' }).orWhere({ is_cancel_requested: false }))
		.update({
			end_time: transaction.raw(`case when ${endsNow} then ? else end_time end`, [now()]),
			turn: transaction.raw("case when status = 'queued' then ? else turn end", [firstTurn]),
			updated_at: databaseTime(transaction, now),
			status: transaction.raw(`case when ${endsNow} then 'cancelled' else status end`),
			is_cancel_requested: true,
		});
}
