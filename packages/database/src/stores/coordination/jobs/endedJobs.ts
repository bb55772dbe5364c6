import type { Knex } from 'knex';
import { ownTurn } from '../../../connection/ownTurn.js';
import { changeInParts, rowsAtOnce } from '../../inParts.js';
import type { JobRow } from './jobRows.js';

/**
 * Ended jobs of a user that are there at most, whenever the sweep comes, and some more until these are removed together. They are as many
 * as a client makes while it may still repeat a request whose answer was lost.
 */
export const endedLimits = { ofUser: 500, removedTogether: 50 };

/** Users whose jobs are counted by one statement. */
const countedUsers = 100;

/** Removes the oldest ended jobs of a user where these are too many: any user makes some each second. Called as one is added. */
export async function removeOldest(
	transaction: Knex.Transaction,
	userId: string,
	{ ofUser, removedTogether }: typeof endedLimits,
): Promise<void> {
	const oldest = await idsBeyond(transaction, userId, ofUser);
	if (oldest.length >= removedTogether) await removeEnded(transaction, oldest);
}

/** Removes the ended jobs of each user beyond so many. Resolves to their number. */
export async function keepLatestOfEach(knex: Knex, most: number): Promise<number> {
	let removed = 0;
	for await (const userId of usersWithMore(knex, most))
		removed += await changeInParts(async () => removeEnded(knex, await idsBeyond(knex, userId, most)));
	return removed;
}

/** Some of those that are too many, in the order of an index. */
function idsBeyond(knex: Knex, userId: string, most: number): Promise<string[]> {
	return knex<JobRow>('jobs')
		.where({ user_id: userId })
		.whereNotNull('end_time')
		.orderBy('end_time', 'desc')
		.offset(most)
		.limit(rowsAtOnce)
		.pluck('id');
}

/** One that is tried again meanwhile stays. */
function removeEnded(knex: Knex, ids: readonly string[]): Promise<number> {
	return knex<JobRow>('jobs').whereIn('id', ids).whereNotNull('end_time').delete();
}

/** The users of whom more than so many jobs have ended. Some users are counted at a time, and others have their turns between. */
async function* usersWithMore(knex: Knex, maxEnded: number): AsyncGenerator<string> {
	for (let after = ''; ; ) {
		const counts: { user_id: string; count: number | string }[] = await knex<JobRow>('jobs')
			.where('user_id', '>', after)
			.whereNotNull('end_time')
			.groupBy('user_id')
			.orderBy('user_id')
			.limit(countedUsers)
			.select('user_id', knex.raw('count(*) as count'));
		for (const { user_id, count } of counts) if (Number(count) > maxEnded) yield user_id;
		const last = counts.at(-1);
		if (last === undefined || counts.length < countedUsers) return;
		after = last.user_id;
		await ownTurn();
	}
}
