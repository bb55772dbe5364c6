import { randomUUID } from 'node:crypto';
import type { LinkRecord, LinkStore } from '@stowage/plugin-api';
import { batchesOfLength, Failure, isWithin, type StoragePath } from '@stowage/rules';
import type { Knex } from 'knex';
import { ownTurn } from '../../connection/ownTurn.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { lockUser } from '../accounts/lockUser.js';
import { batches } from '../batches.js';
import { followedItem } from './followedItem.js';
import { readInParts, rowsAtOnce } from './itemRows.js';

interface LinkRow {
	id: string;
	token_hash: string;
	user_id: string;
	path: string;
	next_path: string | null;
	item_id: string;
	created_at: number;
	expires_at: number;
	is_ended: boolean | number;
	downloads: number;
	/** The share of an item, or the mark of a folder with members; null for a link. */
	share_id?: string | null;
}

type OwnedRow = LinkRow & { username: string };

/** Rows, and characters of their paths, that are written by one statement, which looks for each of them among all of its paths. */
const writtenAtOnce = { ...rowsAtOnce, count: 100 };

export function linkStore(knex: Knex, now: () => number): LinkStore {
	const links = () => knex<LinkRow>('temp_links');
	const owned = () =>
		knex('temp_links').join('users', 'users.id', 'temp_links.user_id').select('temp_links.*', 'users.username');

	/**
	 * A statement for many of them, and a transaction for each: the links of a whole home take seconds, for which nobody else could write.
	 * Each link is whole by itself.
	 */
	const setPaths = async (places: ReadonlyMap<string, Pick<LinkRow, 'path' | 'next_path'>>) => {
		const lengthOf = ([, { path, next_path }]: [string, Pick<LinkRow, 'path' | 'next_path'>]) =>
			path.length + (next_path?.length ?? 0);
		for (const part of batchesOfLength(places, writtenAtOnce, lengthOf)) {
			await transact(knex, async (transaction) => {
				const byId = (column: 'path' | 'next_path') =>
					transaction.raw(
						`case id ${part.map(() => 'when ? then ?').join(' ')} end`,
						part.flatMap(([id, paths]) => [id, paths[column]]),
					);
				const ids = part.map(([id]) => id);
				await transaction('temp_links')
					.whereIn('id', ids)
					.update({ path: byId('path'), next_path: byId('next_path') });
			});
			if (part.length < places.size) await ownTurn();
		}
	};
	const read = async (ids: readonly string[]): Promise<LinkRecord[]> => {
		const rows: OwnedRow[] = await owned().whereIn('temp_links.id', ids);
		return rows.map(toLink);
	};
	// The sign keeps SQLite from reading all items of shares, which have no end, by the index of ends.
	const good = (all: Knex.QueryBuilder) => all.where('is_ended', false).whereRaw('+expires_at > ?', [now()]);

	return {
		add({ tokenHash, ownerId, path, itemId, expiresAt }, limit) {
			// Not later: the wait for other writes is no part of its life.
			const createdAt = now();
			return transact(knex, async (transaction) => {
				const user = await lockUser(transaction, ownerId);
				if (user === undefined) throw new Failure('notFound', 'The owner of the link is gone.');
				const own = () => transaction<LinkRow>('temp_links').where({ user_id: ownerId }).whereNull('share_id');
				const excess = (await countOf(own())) - limit + 1;
				if (excess > 0) {
					if ((await countOf(good(own()))) >= limit) throw tooMany(limit);
					const first: string[] = await own()
						.where((expired) => expired.where('is_ended', true).orWhere('expires_at', '<=', now()))
						.orderByRaw('+expires_at')
						.limit(excess)
						.pluck('id');
					for (const part of batches(first)) await own().whereIn('id', part).delete();
				}
				const row: LinkRow = {
					id: randomUUID(),
					token_hash: tokenHash,
					user_id: ownerId,
					path,
					next_path: null,
					item_id: itemId,
					created_at: createdAt,
					expires_at: expiresAt,
					is_ended: false,
					downloads: 0,
				};
				await transaction<LinkRow>('temp_links').insert(plainRow(row));
				return toLink({ ...row, username: user.username });
			});
		},
		async find(tokenHash) {
			const row: OwnedRow | undefined = await owned()
				.where('temp_links.token_hash', tokenHash)
				.whereNull('temp_links.share_id')
				.where('users.is_disabled', false)
				.first();
			return row && toLink(row);
		},
		async page({ limit, ownerId, after, withShares = false }) {
			// The signs keep SQLite from an index in which the items of shares lie between the links: of one user their share is the better
			// begin, since nobody has more than a thousand links, but ten thousand items; of all users the time is.
			const [created, share] = withShares ? ['', ''] : ownerId === undefined ? ['', '+'] : ['+', ''];
			const page = owned().orderByRaw(`${created}temp_links.created_at desc, temp_links.id desc`).limit(limit);
			if (ownerId !== undefined) page.where('temp_links.user_id', ownerId);
			if (!withShares) page.whereRaw(`${share}temp_links.share_id is null`);
			if (after !== undefined) {
				// The first condition is what an index can begin at.
				page
					.whereRaw(`${created}temp_links.created_at <= ?`, [after.createdAt])
					.where((earlier) =>
						earlier.where('temp_links.created_at', '<', after.createdAt).orWhere('temp_links.id', '<', after.id),
					);
			}
			const rows: OwnedRow[] = await page;
			return rows.map(toLink);
		},
		async hasAny(ownerId) {
			return (await links().where({ user_id: ownerId }).first('id')) !== undefined;
		},
		async eachWithin(ownerId, path, use) {
			const own = () => links().where({ user_id: ownerId }).limit(rowsAtOnce.count);
			// Texts compare byte for byte, and '0' is what follows '/'. Each is a look-up in an index.
			const found = ['path', 'next_path'].flatMap((column) => [
				own().where(column, path),
				own().where(column, '>=', `${path}/`).where(column, '<', `${path}0`),
			]);
			const few: string[][] = await Promise.all((path === '' ? [own()] : found).map((rows) => rows.pluck('id')));
			const ids: string[] = few.every(({ length }) => length < rowsAtOnce.count)
				? [...new Set(few.flat())]
				: await links().where({ user_id: ownerId }).pluck('id');
			const isMeant = (at: StoragePath | undefined) => at !== undefined && isWithin(at, path);
			for await (const some of readInParts(knex, ids, read))
				await use(some.filter((link) => isMeant(link.path) || isMeant(link.nextPath)));
		},
		async pathBytes(ownerId) {
			const sum = knex.raw('sum(octet_length(path)) as bytes');
			const row: { bytes: number | string | null } | undefined = await knex('temp_links')
				.where({ user_id: ownerId })
				.first(sum);
			return Number(row?.bytes ?? 0);
		},
		async get(ids) {
			const found: LinkRecord[] = [];
			for await (const some of readInParts(knex, ids, read)) found.push(...some);
			return found;
		},
		planMoves: (moves) => setPaths(mapped(moves, ({ path, nextPath }) => ({ path, next_path: nextPath }))),
		setPaths: (places) => setPaths(mapped(places, (path) => ({ path, next_path: null }))),
		async completeMove(id, nextPath) {
			await links()
				.where({ id, next_path: nextPath })
				.update(plainRow({ path: nextPath, next_path: null }));
		},
		async countDownload(id) {
			await links().where({ id }).increment('downloads', 1);
		},
		async rebind(id, expectedItemId, itemId, path) {
			const seen = links().where({ id, item_id: expectedItemId });
			if (path === undefined) return (await seen.whereNull('next_path').update(plainRow({ item_id: itemId }))) > 0;
			const there = seen.where((place) => place.where({ path }).orWhere({ next_path: path }));
			return (await there.update(plainRow({ item_id: itemId, path, next_path: null }))) > 0;
		},
		async end(id) {
			await links()
				.where({ id })
				.update(plainRow({ is_ended: true }));
		},
		async remove(ids, ownerId) {
			let removed = 0;
			for (const part of batches(ids)) {
				const chosen = links().whereIn('id', part);
				// The sign keeps SQLite from reading all of the owner's.
				removed += await (ownerId === undefined ? chosen : chosen.whereRaw('+user_id = ?', [ownerId])).delete();
			}
			return removed;
		},
		async sweep(expiredBefore) {
			let removed = 0;
			for (;;) {
				// The sign keeps SQLite from reading all links there are.
				const ids: string[] = await links()
					.whereRaw('+share_id is null')
					.where('expires_at', '<', expiredBefore)
					.limit(rowsAtOnce.count)
					.pluck('id');
				if (ids.length > 0) removed += await links().whereIn('id', ids).delete();
				if (ids.length < rowsAtOnce.count) return removed;
			}
		},
	};
}

function tooMany(limit: number): Failure {
	const sentence = `You have ${limit.toLocaleString('en')} temporary links, and more are not possible. Please revoke some.`;
	return new Failure('rateLimited', sentence);
}

async function countOf(chosen: Knex.QueryBuilder): Promise<number> {
	const [row] = await chosen.count({ count: '*' });
	return Number(row.count);
}

function mapped<From, To>(values: ReadonlyMap<string, From>, change: (value: From) => To): Map<string, To> {
	return new Map([...values].map(([id, value]) => [id, change(value)]));
}

function toLink(row: OwnedRow): LinkRecord {
	return {
		...followedItem(row),
		expiresAt: row.expires_at,
		isEnded: Boolean(row.is_ended),
		downloads: row.downloads,
	};
}
