import { randomUUID } from 'node:crypto';
import type { CountedChanges, MemberChange } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { lockUser } from '../accounts/lockUser.js';

interface ChangeRow {
	id: string;
	user_id: string;
	folder_id: string;
	member_id: string;
	folder: string;
	member: string;
	added: number;
	changed: number;
	removed: number;
	begun_at: number;
	ended_at: number;
}

/** What one member changes with no longer pauses than that is counted together. */
const pauseMs = 60 * 60_000;

/** Older ones of a folder are forgotten, and leave room in the owner's list for those of other folders. */
const maxOfFolder = 50;

/** Counts changes, each in a transaction of its own, in which the row of the owner is locked: two processes may count the same. */
export async function countChanges(knex: Knex, all: readonly CountedChanges[]): Promise<void> {
	for (const each of all) await transact(knex, (transaction) => count(transaction, each));
}

async function count(transaction: Knex.Transaction, change: CountedChanges): Promise<void> {
	const { ownerId, folderId, memberId, folder, member, begunAt, endedAt } = change;
	const rows = () => transaction<ChangeRow>('member_changes');
	const owner = await lockUser(transaction, ownerId);
	if (owner === undefined) return;
	const known = await rows()
		.where({ folder_id: folderId, member_id: memberId })
		.where('begun_at', '<=', endedAt + pauseMs)
		.where('ended_at', '>=', begunAt - pauseMs)
		.orderBy('ended_at', 'desc')
		.first();
	const { added = 0, changed = 0, removed = 0, begun_at = begunAt, ended_at = endedAt } = known ?? {};
	const counts = {
		...{ folder, member },
		...{ added: added + change.added, changed: changed + change.changed, removed: removed + change.removed },
		...{ begun_at: Math.min(begun_at, begunAt), ended_at: Math.max(ended_at, endedAt) },
	};
	if (known !== undefined) {
		await rows().where({ id: known.id }).update(plainRow(counts));
		return;
	}
	const ids = { id: randomUUID(), user_id: ownerId, folder_id: folderId, member_id: memberId };
	await rows().insert(plainRow({ ...ids, ...counts }));
	const surplus = await rows()
		.where({ folder_id: folderId })
		.orderBy('ended_at', 'desc')
		.offset(maxOfFolder)
		.limit(maxOfFolder)
		.select('id');
	const surplusIds = surplus.map(({ id }) => id);
	if (surplusIds.length > 0) await rows().whereIn('id', surplusIds).delete();
}

/** What members have changed in the folders of an owner, the latest first. */
export async function changesOf(knex: Knex, ownerId: string, limit: number): Promise<MemberChange[]> {
	const rows = await knex<ChangeRow>('member_changes')
		.where({ user_id: ownerId })
		.orderBy('ended_at', 'desc')
		.limit(limit)
		.select('*');
	return rows.map(({ id, folder, member, added, changed, removed, begun_at, ended_at }) => ({
		...{ id, folder, member, added, changed, removed, begunAt: begun_at, endedAt: ended_at },
	}));
}
