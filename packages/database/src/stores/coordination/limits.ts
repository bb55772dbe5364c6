import type { CounterStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { isMysql } from '../../connection/dialect.js';
import { isUnavailable } from '../../connection/errors.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { deleteInParts, someRows } from '../inParts.js';
import { keyHash } from '../keyHash.js';

/** Clocks of several machines differ by less. */
const clockSkewMs = 5 * 60_000;

interface LimitRow {
	key_hash: string;
	count: number;
	ends_at: number;
}

export function limitStore(knex: Knex): CounterStore {
	const rows = new RowTurns(knex);
	const hits = new Batches<ReadonlyMap<string, LimitRow>>(rows);
	const releases = new Batches<void>(rows);
	/** Removes some expired windows for each new one, more than that adds: all of them, where visitors have caused many, would take long. */
	const forgetEndedIf = async (hasBegun: boolean, now: number) => {
		if (!hasBegun) return;
		try {
			await someRows(knex, 'limits', endedBy(now)).delete();
		} catch (error) {
			if (!isUnavailable(error)) throw error;
		}
	};
	return {
		async hitAll(amounts, windowMs, now) {
			// In the same order everywhere, or two who want the same rows would wait for each other.
			const sorted = [...amounts].sort((a, b) => (a.key < b.key ? -1 : 1));
			let mayHaveBegun = false;
			const endsAt = new Map<string, number>();
			try {
				await rows.use(
					sorted.map(({ key }) => keyHash(key)),
					async (transaction) => {
						for (const { key, amount, max } of sorted) {
							const row = await count(transaction, keyHash(key), amount, now + windowMs, now);
							if (row.count > max) throw new Exceeded({ key, endsAt: row.ends_at });
							mayHaveBegun ||= row.count === amount;
							endsAt.set(key, row.ends_at);
						}
					},
				);
			} catch (error) {
				// Thrown to roll the transaction back.
				if (error instanceof Exceeded) return { exceeded: error.limit };
				throw error;
			}
			await forgetEndedIf(mayHaveBegun, now);
			return { endsAt };
		},
		async find(keys, now) {
			if (keys.length === 0) return new Map();
			const byHash = new Map(keys.map((key) => [keyHash(key), key]));
			const rows = await knex<LimitRow>('limits')
				.whereIn('key_hash', [...byHash.keys()])
				.where('ends_at', '>', now);
			return new Map(rows.map((row) => [byHash.get(row.key_hash) ?? '', toCount(row)]));
		},
		async hit(key, windowMs, now, amount = 1) {
			const row = await rows.use([keyHash(key)], (transaction) =>
				count(transaction, keyHash(key), amount, now + windowMs, now),
			);
			await forgetEndedIf(row.count === amount, now);
			return toCount(row);
		},
		async hitEach(tries, now) {
			const ordered = inLockOrder(tries);
			const what = JSON.stringify(ordered.map((each) => [each.keyHash, each.windowMs]));
			const hashes = ordered.map((each) => each.keyHash);
			const { result, later } = await hits.add(what, hashes, async (transaction, size) => {
				return countEach(transaction, ordered, size, now);
			});
			const own = tries.map(({ key }) => {
				const row = toCount(result.get(keyHash(key)) as LimitRow);
				return { ...row, count: row.count - later };
			});
			await forgetEndedIf(
				own.some((row) => row.count === 1),
				now,
			);
			return own;
		},
		async peekEach(tries, now) {
			if (tries.length === 0) return [];
			const hashes = tries.map(({ key }) => keyHash(key));
			const found = await knex<LimitRow>('limits').whereIn('key_hash', hashes);
			const byHash = new Map(found.map((row) => [row.key_hash, row]));
			return tries.map(({ windowMs }, at) => {
				const row = byHash.get(hashes[at] ?? '');
				const endsAt = now + windowMs;
				if (row === undefined || row.ends_at <= now || row.ends_at > endsAt + clockSkewMs) return { count: 1, endsAt };
				return { count: row.count + 1, endsAt: row.ends_at };
			});
		},
		release: (key, amount, endsAt) => subtract(knex, { keyHash: keyHash(key), endsAt }, amount),
		async releaseEach(counted) {
			const ordered = inLockOrder(counted);
			const what = JSON.stringify(ordered.map((each) => [each.keyHash, each.endsAt]));
			const hashes = ordered.map((each) => each.keyHash);
			await releases.add(what, hashes, async (transaction, size) => {
				// One after the other: of a statement for all the server chooses in which order it locks, and which other rows it waits for.
				for (const each of ordered) await subtract(transaction, each, size);
			});
		},
	};
}

/** Removes windows that have ended. Resolves to how many. */
export function sweepLimits(knex: Knex, now: number): Promise<number> {
	return deleteInParts(knex, 'limits', endedBy(now));
}

const endedBy = (now: number) => (rows: Knex.QueryBuilder) => rows.where('ends_at', '<=', now);

/**
 * One transaction of this process at a time for each row. Many at once would each hold a connection while they wait
 * for the row, and in a cluster those of all nodes would break each other off: so each node has one that tries. SQLite
 * has one writer anyway.
 */
class RowTurns {
	readonly #last = new Map<string, Promise<unknown>>();

	constructor(readonly knex: Knex) {}

	/** `keys` are in lock order. */
	async use<T>(keys: readonly string[], work: (transaction: Knex.Transaction) => Promise<T>): Promise<T> {
		if (!isMysql(this.knex)) return transact(this.knex, work);
		// Registered for all rows at once, so that no two wait for each other.
		const before = Promise.all(keys.map((key) => this.#last.get(key)));
		const own = before.then(() => transact(this.knex, work));
		const ended = own.then(
			() => undefined,
			() => undefined,
		);
		for (const key of keys) this.#last.set(key, ended);
		try {
			return await own;
		} finally {
			for (const key of keys) if (this.#last.get(key) === ended) this.#last.delete(key);
		}
	}
}

interface Batch<T> {
	/** How many are done together. */
	size: number;
	result: Promise<T>;
}

/**
 * Equal changes that wait for their turn at the same rows are made by one transaction: a hundred guesses at once are two or three commits
 * of each process, and not a hundred that wait for each other.
 */
class Batches<T> {
	/** Batches that have not begun, by key. */
	readonly #waiting = new Map<string, Batch<T>>();

	constructor(readonly turns: RowTurns) {}

	/**
	 * Runs `work` for as many as ask for the same; `keys` are in lock order. Resolves to its result, and to how many
	 * came after this one.
	 */
	async add(
		what: string,
		keys: readonly string[],
		work: (transaction: Knex.Transaction, size: number) => Promise<T>,
	): Promise<{ result: T; later: number }> {
		const batch = this.#waiting.get(what) ?? this.#begin(what, keys, work);
		const position = ++batch.size;
		const result = await batch.result;
		return { result, later: batch.size - position };
	}

	#begin(
		what: string,
		keys: readonly string[],
		work: (transaction: Knex.Transaction, size: number) => Promise<T>,
	): Batch<T> {
		const close = () => {
			if (this.#waiting.get(what) === batch) this.#waiting.delete(what);
		};
		const batch: Batch<T> = {
			size: 0,
			result: this.turns.use(keys, (transaction) => {
				// Who comes from now on is in the next one. A transaction that is tried again is for the same ones.
				close();
				return work(transaction, batch.size);
			}),
		};
		this.#waiting.set(what, batch);
		// Also where no connection was to be had.
		batch.result.then(close, close);
		return batch;
	}
}

class Exceeded extends Error {
	constructor(readonly limit: { key: string; endsAt: number }) {
		super('A limit would be exceeded.');
	}
}

function toCount(row: LimitRow): { count: number; endsAt: number } {
	return { count: row.count, endsAt: row.ends_at };
}

/** Two transactions that lock the same rows in another order would wait for each other. */
function inLockOrder<Try extends { key: string }>(tries: readonly Try[]): (Try & { keyHash: string })[] {
	return tries
		.map((each) => ({ ...each, keyHash: keyHash(each.key) }))
		.sort((one, other) => (one.keyHash < other.keyHash ? -1 : 1));
}

/** What was counted in a window that is over is in no other one. */
async function subtract(
	knex: Knex,
	{ keyHash, endsAt }: { keyHash: string; endsAt: number },
	amount: number,
): Promise<void> {
	await knex<LimitRow>('limits')
		.where({ key_hash: keyHash, ends_at: endsAt })
		.where('count', '>=', amount)
		.decrement('count', amount);
}

async function count(
	transaction: Knex.Transaction,
	keyHash: string,
	amount: number,
	endsAt: number,
	now: number,
): Promise<LimitRow> {
	const counted = await countEach(transaction, [{ keyHash, windowMs: endsAt - now }], amount, now);
	return counted.get(keyHash) as LimitRow;
}

/** The upsert locks the rows, in the order of `tries`, so the counts that are read in the same transaction are those of this attempt. */
async function countEach(
	transaction: Knex.Transaction,
	tries: readonly { keyHash: string; windowMs: number }[],
	amount: number,
	now: number,
): Promise<Map<string, LimitRow>> {
	if (tries.length === 0) return new Map();
	const limits = () => transaction<LimitRow>('limits');
	const newEndsAt = isMysql(transaction) ? 'values(ends_at)' : 'excluded.ends_at';
	// A window that ends later than one that begins now was begun while the clock was wrong: it would last for years.
	const isOver = `(limits.ends_at <= ? or limits.ends_at > ${newEndsAt} + ?)`;
	const over = [now, clockSkewMs];
	await limits()
		.insert(
			tries.map(({ keyHash, windowMs }) => plainRow({ key_hash: keyHash, count: amount, ends_at: now + windowMs })),
		)
		.onConflict('key_hash')
		.merge({
			// `ends_at` comes last: MySQL assigns from left to right and would compare with the new value.
			count: transaction.raw(`case when ${isOver} then ? else limits.count + ? end`, [...over, amount, amount]),
			ends_at: transaction.raw(`case when ${isOver} then ${newEndsAt} else limits.ends_at end`, over),
		});
	const hashes = tries.map(({ keyHash }) => keyHash);
	const rows = await limits().whereIn('key_hash', hashes);
	if (rows.length < hashes.length) throw new Error('A limit vanished while it was locked.');
	return new Map(rows.map((row) => [row.key_hash, row]));
}
