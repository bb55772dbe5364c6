import type { IdempotencyRecord, IdempotencyStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';
import { deleteInParts, keepLatest } from '../inParts.js';

interface IdempotencyRow {
	key_hash: string;
	revision: string;
	staged_ids: string;
	written_at: number;
}

/** Keys that are remembered: a client that has lost an answer tries again in minutes. */
const mostKeys = 200_000;

export function idempotencyStore(knex: Knex, now: () => number, most = mostKeys): IdempotencyStore {
	const keys = () => knex<IdempotencyRow>('idempotency_keys');
	const toColumns = ({ revision, stagedIds }: IdempotencyRecord) => ({
		revision,
		staged_ids: JSON.stringify(stagedIds),
		written_at: now(),
	});
	return {
		async putIfAbsent(keyHash, record) {
			for (;;) {
				await keys()
					.insert(plainRow({ key_hash: keyHash, ...toColumns(record) }))
					.onConflict('key_hash')
					.ignore();
				const row = await keys()
					.where(plainRow({ key_hash: keyHash }))
					.first();
				// A record that vanishes at once was swept.
				if (row !== undefined) return toRecord(row);
			}
		},
		async replace(keyHash, seenRevision, record) {
			const seen = plainRow({ key_hash: keyHash, revision: seenRevision });
			return (
				(await keys()
					.where(seen)
					.update(plainRow(toColumns(record)))) === 1
			);
		},
		async sweep(writtenBefore) {
			const old = await deleteInParts(knex, 'idempotency_keys', (rows) => rows.where('written_at', '<', writtenBefore));
			return old + (await keepLatest(knex, { table: 'idempotency_keys', column: 'written_at', most }));
		},
	};
}

function toRecord({ revision, staged_ids }: IdempotencyRow): IdempotencyRecord {
	return { revision, stagedIds: JSON.parse(staged_ids) as string[] };
}
