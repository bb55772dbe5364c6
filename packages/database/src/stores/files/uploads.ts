import type { OnConflict, UploadRecord, UploadStore } from '@stowage/plugin-api';
import { type Area, Failure, formatListSize, type StoragePath } from '@stowage/rules';
import type { Knex } from 'knex';
import { isUniqueViolation } from '../../connection/errors.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { deleteInParts, keepLatest } from '../inParts.js';
import { keyHash } from '../keyHash.js';
import { countReceipt } from './shareReceipts.js';
import { claimShare } from './shareUses.js';

interface UploadRow {
	id_hash: string;
	staged_id: string | null;
	user_id: string | null;
	payer_id?: string | null;
	folder_id?: string | null;
	address: string;
	area: Area;
	directory: string;
	name: string;
	mtime: number | null;
	on_conflict: OnConflict['kind'] | null;
	if_match: string | null;
	metadata: string;
	length: number;
	offset: number;
	entry_path: string | null;
	started_at: number | null;
	touched_at: number;
	expires_at: number;
	share_id: string | null;
	share_client: string | null;
	item_id: string | null;
}

/**
 * An upload that has not gone on for so long takes of its share what it has sent, and no more what it said, which
 * costs its client nothing. A body that brings no byte for a quarter of that is broken off.
 */
const announcedMs = 2 * 60_000;

/** Sorts after all others. */
const lastCharacter = '\u{10ffff}';

/** Prefixes the id of an item whose sender has begun to take it back. No id begins like that. */
const takenBack = 'taken back: ';

/**
 * Ended uploads that are remembered, so that who has lost the answer finds them. Of one user some more are, until these are removed
 * together; of all together as many as visitors and guests may send in an hour, for which guests may take back what they have sent.
 */
export const endedLimits = { ofUser: 5_000, removedTogether: 200, ofAll: 200_000 };

export function uploadStore(knex: Knex, limits = endedLimits): UploadStore {
	const uploads = () => knex<UploadRow>('uploads');
	const unfinished = () => unfinishedUploads(knex);
	return {
		async add(idHash, upload, maxPerAddress) {
			const row = plainRow(toRow(idHash, upload));
			try {
				if (maxPerAddress === undefined && upload.received === null) await uploads().insert(row);
				else
					await transact(knex, async (transaction) => {
						if (maxPerAddress !== undefined) await assertRoom(transaction, upload, maxPerAddress);
						if (upload.received !== null) await assertShareRoom(transaction, idHash, upload, upload.received.share);
						await transaction<UploadRow>('uploads').insert(row);
					});
			} catch (cause) {
				if (!isUniqueViolation(cause)) throw cause;
				throw new Failure('alreadyExists', 'There is already such an upload.', { cause });
			}
		},
		async find(idHash) {
			const row = await uploads().where({ id_hash: idHash }).first();
			return row && toUpload(row);
		},
		async listUnfinished(userId) {
			const rows = await unfinished().where({ user_id: userId }).orderBy('touched_at', 'desc').select('*');
			return rows.map(toUpload);
		},
		async listAllUnfinished() {
			const rows = await unfinished().orderByRaw('+touched_at desc').select('*');
			return rows.map((row) => ({ ...toUpload(row), idHash: row.id_hash }));
		},
		async saveProgress(idHash, stagedId, { offset, touchedAt, expiresAt }) {
			const row = plainRow({ offset, touched_at: touchedAt, expires_at: expiresAt });
			return (await uploads().where({ id_hash: idHash, staged_id: stagedId }).update(row)) > 0;
		},
		finish(idHash, stagedId, entryPath, itemId) {
			return transact(knex, async (transaction) => {
				const own = () => transaction<UploadRow>('uploads').where({ id_hash: idHash });
				const changed = await own()
					.where({ staged_id: stagedId })
					.update({
						...plainRow({ entry_path: entryPath, staged_id: null, item_id: itemId }),
						offset: knex.raw('??', ['length']),
					});
				if (changed === 0) return false;
				const finished = await own().first();
				await countReceived(transaction, finished, 1);
				await forgetOldest(transaction, finished, limits);
				return true;
			});
		},
		async claim(idHash, touchedAt) {
			const limits = await uploads()
				.join('shares', 'shares.id', 'uploads.share_id')
				.where({ id_hash: idHash })
				.first('max_upload_bytes');
			if (limits === undefined || limits.max_upload_bytes === null) return;
			await transact(knex, async (transaction) => {
				const found = await transaction<UploadRow>('uploads').where({ id_hash: idHash }).first();
				if (found === undefined || found.share_id === null) return;
				await assertShareRoom(transaction, idHash, { ...toUpload(found), touchedAt }, found.share_id);
				await transaction('uploads')
					.where({ id_hash: idHash })
					.update(plainRow({ touched_at: touchedAt }));
			});
		},
		async beginTakeBack(idHash) {
			const { item_id: itemId = null } = (await uploads().where({ id_hash: idHash }).first('item_id')) ?? {};
			if (itemId === null || itemId.startsWith(takenBack)) return;
			await uploads()
				.where({ id_hash: idHash })
				.update(plainRow({ item_id: `${takenBack}${itemId}` }));
		},
		async cancelTakeBack(idHash) {
			const { item_id: itemId = null } = (await uploads().where({ id_hash: idHash }).first('item_id')) ?? {};
			if (!itemId?.startsWith(takenBack)) return;
			await uploads()
				.where({ id_hash: idHash })
				.update(plainRow({ item_id: itemId.slice(takenBack.length) }));
		},
		async takeBack(idHash) {
			await transact(knex, async (transaction) => {
				const upload = () => transaction<UploadRow>('uploads').where({ id_hash: idHash });
				const row = await upload().first();
				// Of several calls at once each has read it, and one removes it.
				if ((await upload().delete()) > 0) await countReceived(transaction, row, -1);
			});
		},
		async restage(idHash, stagedId, otherStagedId) {
			const row = plainRow({ staged_id: otherStagedId });
			return (await uploads().where({ id_hash: idHash, staged_id: stagedId }).update(row)) > 0;
		},
		async remove(idHash) {
			return (await uploads().where({ id_hash: idHash }).delete()) > 0;
		},
		async countUserUploads(userId) {
			const [row] = await staged(knex)
				.where({ user_id: userId })
				.whereNull('share_id')
				.count<{ count: number | string }[]>({ count: '*' });
			return Number(row?.count ?? 0);
		},
		countVisitorUploads: (address, now) => countUnfinished(knex, address, now),
		async unfinishedTotals(userId, except) {
			const [row] = await unfinishedOf(knex, userId)
				.whereNotIn('staged_id', [...except])
				.select<{ entries: number; bytes: number | null }[]>(
					knex.raw('count(*) as ??', ['entries']),
					knex.raw('sum(??) as ??', ['offset', 'bytes']),
				);
			return { bytes: Number(row?.bytes ?? 0), entries: Number(row?.entries ?? 0) };
		},
		async listExpired(now, limit, skip = 0) {
			// Of the staged ones, which are few: finished ones by the hundred thousand may have expired, and are not forgotten yet.
			const rows = await staged(knex)
				.whereRaw('+expires_at <= ?', [now])
				.orderByRaw('+expires_at, id_hash')
				.limit(limit)
				.offset(skip)
				.select('id_hash', 'staged_id');
			return rows.map(({ id_hash, staged_id }) => ({ idHash: id_hash, stagedId: staged_id ?? '' }));
		},
		async extendExpiry(idHash, expiresAt) {
			await uploads()
				.where({ id_hash: idHash })
				.where('expires_at', '<', expiresAt)
				.update(plainRow({ expires_at: expiresAt }));
		},
		async clearStaged(idHash) {
			await uploads().where({ id_hash: idHash }).update({ staged_id: null });
		},
		async countStaged(prefix) {
			const [row] = await staged(knex)
				.where('staged_id', '>=', prefix)
				.where('staged_id', '<', `${prefix}${lastCharacter}`)
				.count<{ count: number | string }[]>({ count: '*' });
			return Number(row?.count ?? 0);
		},
		async isStaged(stagedId) {
			return (await uploads().where({ staged_id: stagedId }).first('id_hash')) !== undefined;
		},
		async forget(before) {
			const expired = await deleteInParts(knex, 'uploads', (rows) => rows.where('expires_at', '<=', before));
			const latest = { table: 'uploads', column: 'touched_at', most: limits.ofAll };
			return expired + (await keepLatest(knex, latest, (rows) => rows.whereNull('staged_id')));
		},
	};
}

/**
 * Uploads with a staged file. The condition is a range, which an index serves: SQLite would ask of each finished upload, too, whether
 * its column is not null.
 */
function staged(knex: Knex) {
	return knex<UploadRow>('uploads').where('staged_id', '>', '');
}

function unfinishedUploads(knex: Knex) {
	return staged(knex).whereNull('entry_path');
}

/** The unfinished uploads that count for a user, or for all visitors. */
export function unfinishedOf(knex: Knex, userId: string | null) {
	const unfinished = unfinishedUploads(knex);
	if (userId === null) return unfinished.whereNull('user_id');
	// Who may not change the folder any more can't go on with it, and keeps no room of its owner's.
	const ofMember = knex('members')
		.whereRaw('members.folder_id = uploads.folder_id')
		.whereRaw('members.user_id = uploads.user_id')
		.where('members.role', 'edit');
	return unfinished.where((own) =>
		own
			.where((payed) =>
				payed
					.where({ payer_id: userId })
					.where((going) => going.whereNull('folder_id').orWhereExists(ofMember.clone())),
			)
			.orWhere((sent) =>
				sent
					.where({ user_id: userId })
					.where((self) =>
						self
							.whereNull('payer_id')
							.orWhere((lost) => lost.whereNotNull('folder_id').whereNotExists(ofMember.clone())),
					),
			),
	);
}

async function countUnfinished(knex: Knex, address: string, now: number): Promise<number> {
	const [row] = await unfinishedUploads(knex)
		.where((strangers) => strangers.whereNull('user_id').orWhereNotNull('share_id'))
		.where({ address })
		.where('expires_at', '>', now)
		.count<{ count: number }[]>({ count: '*' });
	return Number(row?.count ?? 0);
}

/**
 * The address has no row of its own. One in `limits` is changed for it, so that those who begin from there are counted one after the
 * other: always to another value, since a node of a cluster learns of nothing else.
 */
async function assertRoom(
	transaction: Knex.Transaction,
	{ address, touchedAt, expiresAt }: UploadRecord,
	limit: number,
): Promise<void> {
	const lock = { key_hash: keyHash(`unfinished uploads ${address}`), count: 0, ends_at: expiresAt };
	await transaction('limits')
		.insert(plainRow(lock))
		.onConflict('key_hash')
		.merge({ ends_at: expiresAt, count: transaction.raw('1 - limits.count') });
	if ((await countUnfinished(transaction, address, touchedAt)) < limit) return;
	throw new Failure('rateLimited', 'Too many uploads were begun from here and not finished.', { retryAfter: 60 });
}

/** The share is locked, so that those who begin are counted one after the other. */
async function assertShareRoom(
	transaction: Knex.Transaction,
	idHash: string,
	{ length, touchedAt }: UploadRecord,
	share: string,
): Promise<void> {
	const limits = await transaction('shares')
		.where({ id: share })
		.forUpdate()
		.first('max_upload_bytes', 'bytes_received');
	if (limits === undefined) throw new Failure('notFound', 'This share does not exist or no longer works.');
	if (limits.max_upload_bytes === null) return;
	// Strangers make the rows: they are summed, and never read.
	const claim = ['touched_at', touchedAt - announcedMs, 'length', 'offset', 'claimed'];
	const [others] = await unfinishedUploads(transaction)
		.where({ share_id: share })
		.whereNot({ id_hash: idHash })
		.select<{ claimed: number | null }[]>(transaction.raw('sum(case when ?? > ? then ?? else ?? end) as ??', claim));
	const left = limits.max_upload_bytes - limits.bytes_received - Number(others?.claimed ?? 0);
	if (length <= left) return claimShare(transaction, share, touchedAt);
	throw new Failure('tooLarge', `This can receive ${formatListSize(Math.max(0, left))} more.`);
}

/** Forgets the oldest of those that its user has finished, where these are too many. */
async function forgetOldest(
	transaction: Knex.Transaction,
	finished: UploadRow | undefined,
	{ ofUser, removedTogether }: typeof endedLimits,
): Promise<void> {
	if (finished === undefined || finished.user_id === null || finished.share_id !== null) return;
	const { user_id: userId, id_hash: idHash, touched_at: at } = finished;
	const own = () =>
		transaction<UploadRow>('uploads')
			.where({ user_id: userId })
			.whereNull('staged_id')
			.whereNull('share_id')
			.orderBy('touched_at', 'desc');
	const [latest] = await own().limit(1).pluck('touched_at');
	// Its file may have had no place for long after its last byte: its answer is not the first to be forgotten.
	if (latest !== undefined && latest > at)
		await transaction<UploadRow>('uploads')
			.where({ id_hash: idHash })
			.update(plainRow({ touched_at: latest }));
	const oldest = await own().offset(ofUser).limit(removedTogether).pluck('id_hash');
	if (oldest.length === removedTogether) await transaction('uploads').whereIn('id_hash', oldest).delete();
}

/** Adds to the counts of the share of an upload, or takes from them. */
async function countReceived(transaction: Knex.Transaction, row: UploadRow | undefined, sign: 1 | -1): Promise<void> {
	if (row === undefined || row.share_id === null) return;
	const { directory, length, touched_at: at } = row;
	const sum = (column: string, count: number) => transaction.raw('?? + ?', [column, sign * count]);
	// Which locks the share.
	await transaction('shares')
		.where({ id: row.share_id })
		.update({
			...{ uploads: sum('uploads', 1), bytes_received: sum('bytes_received', length) },
			...plainRow({ last_used_at: at }),
		});
	const share = await transaction('shares').where({ id: row.share_id }).first('id', 'user_id', 'title');
	// Its directory is the name of who sends it.
	if (share !== undefined) await countReceipt(transaction, { share, sender: directory, length, at }, sign);
}

function toRow(idHash: string, upload: UploadRecord): UploadRow {
	return {
		id_hash: idHash,
		staged_id: upload.stagedId,
		user_id: upload.userId,
		payer_id: upload.payerId ?? null,
		folder_id: upload.folderId ?? null,
		address: upload.address,
		area: upload.area,
		directory: upload.directory,
		name: upload.name,
		mtime: upload.mtime,
		on_conflict: upload.onConflict.kind,
		if_match: (upload.onConflict.kind === 'replace' && upload.onConflict.ifMatch) || null,
		metadata: upload.metadata,
		length: upload.length,
		offset: upload.offset,
		entry_path: upload.entryPath,
		started_at: upload.startedAt,
		touched_at: upload.touchedAt,
		expires_at: upload.expiresAt,
		share_id: upload.received?.share ?? null,
		share_client: upload.received?.client ?? null,
		item_id: upload.itemId,
	};
}

function toConflict({ on_conflict: kind, if_match: ifMatch }: UploadRow): OnConflict {
	if (kind === 'replace' && ifMatch !== null) return { kind, ifMatch };
	return { kind: kind ?? 'rename' };
}

function toUpload(row: UploadRow): UploadRecord {
	return {
		stagedId: row.staged_id,
		userId: row.user_id,
		...(row.payer_id ? { payerId: row.payer_id } : {}),
		...(row.folder_id ? { folderId: row.folder_id } : {}),
		address: row.address,
		area: row.area,
		// It was parsed before it was kept.
		directory: row.directory as StoragePath,
		name: row.name,
		mtime: row.mtime,
		onConflict: toConflict(row),
		metadata: row.metadata,
		length: row.length,
		offset: row.offset,
		entryPath: row.entry_path,
		startedAt: row.started_at,
		touchedAt: row.touched_at,
		expiresAt: row.expires_at,
		itemId: row.item_id?.startsWith(takenBack) ? row.item_id.slice(takenBack.length) : row.item_id,
		received: toReceived(row),
	};
}

function toReceived({ share_id: share, share_client: client, item_id: itemId }: UploadRow): UploadRecord['received'] {
	if (share === null) return null;
	return { share, client: client ?? '', ...(itemId?.startsWith(takenBack) ? { isTakenBack: true } : {}) };
}
