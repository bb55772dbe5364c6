import { randomUUID } from 'node:crypto';
import type { LinkRecord, LinkStore } from '@stowage/plugin-api';
import { Failure, parsePath } from '@stowage/rules';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { batches } from '../batches.js';

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
}

type OwnedRow = LinkRow & { username: string };

export function linkStore(knex: Knex, now: () => number): LinkStore {
	const links = () => knex<LinkRow>('temp_links');
	const owned = () =>
		knex('temp_links').join('users', 'users.id', 'temp_links.user_id').select('temp_links.*', 'users.username');

	/** All in one transaction, so that a folder's links never part. */
	const setPaths = (places: ReadonlyMap<string, Pick<LinkRow, 'path' | 'next_path'>>) =>
		transact(knex, async (transaction) => {
			for (const [id, paths] of places) await transaction<LinkRow>('temp_links').where({ id }).update(plainRow(paths));
		});

	return {
		async add({ tokenHash, ownerId, path, itemId, expiresAt }) {
			const id = randomUUID();
			await links().insert(
				plainRow({
					id,
					token_hash: tokenHash,
					user_id: ownerId,
					path,
					next_path: null,
					item_id: itemId,
					created_at: now(),
					expires_at: expiresAt,
					is_ended: false,
					downloads: 0,
				}),
			);
			const row: OwnedRow | undefined = await owned().where('temp_links.id', id).first();
			if (row === undefined) throw new Failure('notFound', 'The owner of the link is gone.');
			return toLink(row);
		},
		async find(tokenHash) {
			const row: OwnedRow | undefined = await owned()
				.where('temp_links.token_hash', tokenHash)
				.where('users.is_disabled', false)
				.first();
			return row && toLink(row);
		},
		async list(ownerId) {
			const all = owned().orderBy([
				{ column: 'temp_links.created_at', order: 'desc' },
				{ column: 'temp_links.id', order: 'desc' },
			]);
			const rows: OwnedRow[] = await (ownerId === undefined ? all : all.where('temp_links.user_id', ownerId));
			return rows.map(toLink);
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
		async rebind(id, expectedItemId, itemId) {
			const seen = links().where({ id, item_id: expectedItemId, next_path: null });
			return (await seen.update(plainRow({ item_id: itemId }))) > 0;
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
				removed += await (ownerId === undefined ? chosen : chosen.where({ user_id: ownerId })).delete();
			}
			return removed;
		},
		sweep: (expiredBefore) => links().where('expires_at', '<', expiredBefore).delete(),
	};
}

function mapped<From, To>(values: ReadonlyMap<string, From>, change: (value: From) => To): Map<string, To> {
	return new Map([...values].map(([id, value]) => [id, change(value)]));
}

function toLink(row: OwnedRow): LinkRecord {
	return {
		id: row.id,
		owner: { id: row.user_id, username: row.username },
		path: parsePath(row.path),
		nextPath: row.next_path === null ? undefined : parsePath(row.next_path),
		itemId: row.item_id,
		createdAt: row.created_at,
		expiresAt: row.expires_at,
		isEnded: Boolean(row.is_ended),
		downloads: row.downloads,
	};
}
