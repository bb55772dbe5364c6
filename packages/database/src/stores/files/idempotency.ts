import type { IdempotencyRecord, IdempotencyStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';
import { deleteInParts } from '../inParts.js';

interface IdempotencyRow {
	key_hash: string;
	revision: string;
	staged_ids: string;
	written_at: number;
}

export function idempotencyStore(knex: Knex, now: () => number): IdempotencyStore {
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
		sweep(writtenBefore) {
			return deleteInParts(knex, 'idempotency_keys', (rows) => rows.where('written_at', '<', writtenBefore));
		},
	};
}

function toRecord({ revision, staged_ids }: IdempotencyRow): IdempotencyRecord {
	return { revision, stagedIds: JSON.parse(staged_ids) as string[] };
}
