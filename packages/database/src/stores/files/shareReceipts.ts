import { randomUUID } from 'node:crypto';
import type { ShareReceipt } from '@stowage/plugin-api';
import { baseName, type StoragePath } from '@stowage/rules';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';

interface ReceiptRow {
	id: string;
	user_id: string;
	share_id: string;
	title: string;
	sender: string;
	files: number;
	bytes: number;
	begun_at: number;
	ended_at: number;
}

/** What one sender sends with no longer pauses than that is counted together. */
const pauseMs = 60 * 60_000;

/**
 * The most receipts of one share, since its senders may choose any names. Older ones are forgotten, and leave room in
 * the owner's list for those of other shares.
 */
const maxOfShare = 50;

/** A file that a share has received. */
interface Received {
	share: { id: string; user_id: string; title: string };
	/** The name of who has sent it, or nothing. */
	sender: string;
	length: number;
	at: number;
}

/** Counts a file for the owner of its share, whose row is locked; -1 for one that was taken back. */
export async function countReceipt(transaction: Knex.Transaction, received: Received, sign: 1 | -1): Promise<void> {
	const { share, sender, length, at } = received;
	const receipts = () => transaction<ReceiptRow>('share_receipts');
	const pause = sign === 1 ? pauseMs : 0;
	const known = await receipts()
		.where({ share_id: share.id, sender })
		.where('begun_at', '<=', at + pause)
		.where('ended_at', '>=', at - pause)
		.orderBy('ended_at', 'desc')
		.forUpdate()
		.first();
	if (known !== undefined) {
		const { id, files, bytes, begun_at, ended_at } = known;
		const times = { begun_at: Math.min(begun_at, at), ended_at: Math.max(ended_at, at) };
		const counts = { files: files + sign, bytes: bytes + sign * length, ...times };
		await (counts.files === 0 ? receipts().where({ id }).delete() : receipts().where({ id }).update(plainRow(counts)));
		return;
	}
	if (sign === -1) return;
	const title = share.title || (await nameOf(transaction, share.id));
	const counts = { files: 1, bytes: length, begun_at: at, ended_at: at };
	await receipts().insert(
		plainRow({ id: randomUUID(), user_id: share.user_id, share_id: share.id, title, sender, ...counts }),
	);
	const surplus = await receipts()
		.where({ share_id: share.id })
		.orderBy('ended_at', 'desc')
		.offset(maxOfShare)
		.limit(maxOfShare)
		.select('id');
	if (surplus.length > 0)
		await receipts()
			.whereIn(
				'id',
				surplus.map(({ id }) => id),
			)
			.delete();
}

/** What the folder of a share is called, that has no title. */
async function nameOf(transaction: Knex.Transaction, share: string): Promise<string> {
	const item = await transaction('temp_links').where({ share_id: share }).orderBy('share_position').first('path');
	return item === undefined ? '' : baseName(item.path as StoragePath);
}

/** What the shares of a user have received, the latest first. */
export async function receiptsOf(knex: Knex, ownerId: string, limit: number): Promise<ShareReceipt[]> {
	const rows = await knex<ReceiptRow>('share_receipts')
		.where({ user_id: ownerId })
		.orderBy('ended_at', 'desc')
		.limit(limit)
		.select('*');
	return rows.map(({ id, share_id, title, sender, files, bytes, begun_at, ended_at }) => ({
		...{ id, share: share_id, title, sender, files, bytes, begunAt: begun_at, endedAt: ended_at },
	}));
}
