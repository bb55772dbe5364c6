import { createHash } from 'node:crypto';
import type { AmountStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { plainRow } from './plainValues.js';
import { transact } from './transact.js';

/** Clocks of several machines differ by less. */
const clockSkewMs = 5 * 60_000;

interface LimitRow {
	key_hash: string;
	count: number;
	ends_at: number;
}

export function limitStore(knex: Knex): AmountStore {
	return {
		async hitAll(amounts, windowMs, now) {
			// In the same order everywhere, or two who want the same rows would wait for each other.
			const sorted = [...amounts].sort((a, b) => (a.key < b.key ? -1 : 1));
			let mayHaveBegun = false;
			try {
				await transact(knex, async (transaction) => {
					for (const { key, amount, most } of sorted) {
						const row = await count(transaction, hashed(key), amount, now + windowMs, now);
						if (row.count > most) throw new Exceeded({ key, endsAt: row.ends_at });
						mayHaveBegun ||= row.count === amount;
					}
				});
			} catch (error) {
				// Thrown, so that nothing of the transaction stays.
				if (error instanceof Exceeded) return error.limit;
				throw error;
			}
			if (mayHaveBegun) await transact(knex, (transaction) => forgetEnded(transaction, now));
			return undefined;
		},
		async find(keys, now) {
			const byHash = new Map(keys.map((key) => [hashed(key), key]));
			const rows = await knex<LimitRow>('limits')
				.whereIn('key_hash', [...byHash.keys()])
				.where('ends_at', '>', now);
			return new Map(rows.map((row) => [byHash.get(row.key_hash) ?? '', { count: row.count, endsAt: row.ends_at }]));
		},
		async hit(key, windowMs, now, amount = 1) {
			const row = await transact(knex, (transaction) => count(transaction, hashed(key), amount, now + windowMs, now));
			// Whoever begins a window clears those that are over, so what strangers can make us keep stays small.
			if (row.count === amount) await transact(knex, (transaction) => forgetEnded(transaction, now));
			return { count: row.count, endsAt: row.ends_at };
		},
		async release(key, amount = 1) {
			await knex<LimitRow>('limits')
				.where({ key_hash: hashed(key) })
				.where('count', '>=', amount)
				.decrement('count', amount);
		},
	};
}

class Exceeded extends Error {
	constructor(readonly limit: { key: string; endsAt: number }) {
		super('A limit would be exceeded.');
	}
}

/** The upsert locks the row, so the count that is read in the same transaction is the one that this try made. */
async function count(
	transaction: Knex.Transaction,
	keyHash: string,
	amount: number,
	endsAt: number,
	now: number,
): Promise<LimitRow> {
	const limits = () => transaction<LimitRow>('limits');
	// A window that ends later than one that begins now was begun while the clock was wrong: it would last for years.
	const isOver = '(limits.ends_at <= ? or limits.ends_at > ?)';
	const over = [now, endsAt + clockSkewMs];
	await limits()
		.insert(plainRow({ key_hash: keyHash, count: amount, ends_at: endsAt }))
		.onConflict('key_hash')
		.merge({
			// `ends_at` comes last: MySQL assigns from left to right and would compare with the new value.
			count: transaction.raw(`case when ${isOver} then ? else limits.count + ? end`, [...over, amount, amount]),
			ends_at: transaction.raw(`case when ${isOver} then ? else limits.ends_at end`, [...over, endsAt]),
		});
	const row = await limits().where({ key_hash: keyHash }).first();
	if (row === undefined) throw new Error('A limit vanished while it was locked.');
	return row;
}

async function forgetEnded(transaction: Knex.Transaction, now: number): Promise<void> {
	await transaction<LimitRow>('limits').where('ends_at', '<=', now).delete();
}

/** Keys hold what people typed and where they are: of any length, and nobody else's business. */
function hashed(key: string): string {
	return createHash('sha256').update(key).digest('hex');
}
