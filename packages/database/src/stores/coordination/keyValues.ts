import type { KeyValueStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';
import { batches } from '../batches.js';
import { deleteInParts } from '../inParts.js';
import { keyHash } from '../keyHash.js';

interface KeyValueRow {
	scope: string;
	key_hash: string;
	value: string;
	expires_at: number;
}

/** The rows of one scope; other scopes never meet them. */
export function keyValueStore(knex: Knex, now: () => number, scope: string): KeyValueStore {
	const rows = () => knex<KeyValueRow>('key_values').where({ scope });
	return {
		async get(key) {
			const row = await rows()
				.where({ key_hash: keyHash(key) })
				.where('expires_at', '>', now())
				.first();
			return row === undefined ? undefined : JSON.parse(row.value);
		},
		async getMany(keys) {
			const found = new Map<string, unknown>();
			for (const part of batches(keys)) {
				const byHash = new Map(part.map((key) => [keyHash(key), key]));
				const some = await rows()
					.whereIn('key_hash', [...byHash.keys()])
					.where('expires_at', '>', now())
					.select('key_hash', 'value');
				for (const { key_hash, value } of some) {
					const key = byHash.get(key_hash);
					if (key !== undefined) found.set(key, JSON.parse(value));
				}
			}
			return found;
		},
		set(key, value, ttlMs) {
			return write([[key, value]], ttlMs);
		},
		setMany: (values, ttlMs) => write([...values], ttlMs),
		async remove(key) {
			return (
				(await rows()
					.where({ key_hash: keyHash(key) })
					.delete()) > 0
			);
		},
	};

	async function write(values: readonly (readonly [string, unknown])[], ttlMs: number): Promise<void> {
		const expiresAt = now() + ttlMs;
		for (const part of batches(values)) {
			const some = part.map(([key, value]) =>
				plainRow({ scope, key_hash: keyHash(key), value: JSON.stringify(value), expires_at: expiresAt }),
			);
			await knex<KeyValueRow>('key_values')
				.insert(some)
				.onConflict(['scope', 'key_hash'])
				.merge(['value', 'expires_at']);
		}
	}
}

/** Removes expired values of all scopes. Resolves to how many. */
export function sweepKeyValues(knex: Knex, now: number): Promise<number> {
	return deleteInParts(knex, 'key_values', (rows) => rows.where('expires_at', '<=', now));
}
