import type { OnConflict, UploadRecord, UploadStore } from '@stowage/plugin-api';
import { type Area, Failure, type StoragePath } from '@stowage/rules';
import type { Knex } from 'knex';
import { isUniqueViolation } from '../../connection/errors.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { keyHash } from '../keyHash.js';

interface UploadRow {
	id_hash: string;
	staged_id: string | null;
	user_id: string | null;
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
}

export function uploadStore(knex: Knex): UploadStore {
	const uploads = () => knex<UploadRow>('uploads');
	const unfinished = () => uploads().whereNotNull('staged_id').whereNull('entry_path');
	return {
		async add(idHash, upload, maxPerAddress) {
			const row = plainRow(toRow(idHash, upload));
			try {
				if (maxPerAddress === undefined) await uploads().insert(row);
				else
					await transact(knex, async (transaction) => {
						await assertRoom(transaction, upload, maxPerAddress);
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
			const rows = await unfinished().orderBy('touched_at', 'desc').select('*');
			return rows.map((row) => ({ ...toUpload(row), idHash: row.id_hash }));
		},
		async saveProgress(idHash, stagedId, { offset, touchedAt, expiresAt }) {
			const row = plainRow({ offset, touched_at: touchedAt, expires_at: expiresAt });
			return (await uploads().where({ id_hash: idHash, staged_id: stagedId }).update(row)) > 0;
		},
		async finish(idHash, stagedId, entryPath) {
			const changed = await uploads()
				.where({ id_hash: idHash, staged_id: stagedId })
				.update({ ...plainRow({ entry_path: entryPath, staged_id: null }), offset: knex.raw('??', ['length']) });
			return changed > 0;
		},
		async restage(idHash, stagedId, otherStagedId) {
			const row = plainRow({ staged_id: otherStagedId });
			return (await uploads().where({ id_hash: idHash, staged_id: stagedId }).update(row)) > 0;
		},
		async remove(idHash) {
			await uploads().where({ id_hash: idHash }).delete();
		},
		countVisitorUploads: (address, now) => countUnfinished(knex, address, now),
		async unfinishedTotals(userId, except) {
			const ofOwner = userId === null ? unfinished().whereNull('user_id') : unfinished().where({ user_id: userId });
			const [row] = await ofOwner
				.whereNotIn('staged_id', [...except])
				.select<{ entries: number; bytes: number | null }[]>(
					knex.raw('count(*) as ??', ['entries']),
					knex.raw('sum(??) as ??', ['offset', 'bytes']),
				);
			return { bytes: Number(row?.bytes ?? 0), entries: Number(row?.entries ?? 0) };
		},
		async listExpired(now, limit) {
			const rows = await uploads()
				.whereNotNull('staged_id')
				.where('expires_at', '<=', now)
				.orderBy('expires_at')
				.limit(limit)
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
			const [row] = await uploads()
				.whereRaw('substr(??, 1, ?) = ?', ['staged_id', prefix.length, prefix])
				.count({ count: '*' });
			return Number(row?.count ?? 0);
		},
		async isStaged(stagedId) {
			return (await uploads().where({ staged_id: stagedId }).first('id_hash')) !== undefined;
		},
		forget(before) {
			return uploads().where('expires_at', '<=', before).delete();
		},
	};
}

async function countUnfinished(knex: Knex, address: string, now: number): Promise<number> {
	const [row] = await knex<UploadRow>('uploads')
		.whereNotNull('staged_id')
		.whereNull('entry_path')
		.whereNull('user_id')
		.where({ address })
		.where('expires_at', '>', now)
		.count<{ count: number }[]>({ count: '*' });
	return Number(row?.count ?? 0);
}

/**
 * The address has no row of its own. One in `limits` is locked for it, so that those who begin from there are counted one after the
 * other.
 */
async function assertRoom(
	transaction: Knex.Transaction,
	{ address, touchedAt, expiresAt }: UploadRecord,
	limit: number,
): Promise<void> {
	const lock = { key_hash: keyHash(`unfinished uploads ${address}`), count: 0, ends_at: expiresAt };
	await transaction('limits').insert(plainRow(lock)).onConflict('key_hash').merge(['ends_at']);
	if ((await countUnfinished(transaction, address, touchedAt)) < limit) return;
	throw new Failure('rateLimited', 'Too many uploads were begun from here and not finished.', { retryAfter: 60 });
}

function toRow(idHash: string, upload: UploadRecord): UploadRow {
	return {
		id_hash: idHash,
		staged_id: upload.stagedId,
		user_id: upload.userId,
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
	};
}
