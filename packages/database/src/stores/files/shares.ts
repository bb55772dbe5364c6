import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { SharedItemRecord, ShareHead, ShareRecord, ShareSettings, ShareStore } from '@stowage/plugin-api';
import { batchesOf, batchesOfLength, Failure, type ShareMode, type StoragePath } from '@stowage/rules';
import type { Knex } from 'knex';
import { ownTurn } from '../../connection/ownTurn.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { lockUser } from '../accounts/lockUser.js';
import { idBatches, type SizedRow } from '../batches.js';
import { pathBytes, rowsAtOnce } from './itemRows.js';

interface ShareRow {
	id: string;
	token_hash: string;
	sealed_token: string;
	user_id: string;
	title: string;
	message: string;
	mode: string;
	created_at: number;
	expires_at: number | null;
	is_ended: boolean | number;
	password: string | null;
	max_downloads: number | null;
	max_upload_bytes: number | null;
	asks_name: boolean | number;
	is_paused: boolean | number;
	downloads: number;
	bytes_sent: number;
	uploads: number;
	bytes_received: number;
	last_used_at: number | null;
}

type OwnedRow = ShareRow & { username: string };

interface ItemRow {
	id: string;
	share_id: string;
	share_position: number;
	path: string;
	next_path: string | null;
	item_id: string;
	item_type: string | null;
}

type ItemPlace = SizedRow & Pick<ItemRow, 'share_id' | 'share_position'>;

/** Items of shares that are looked for at once; of most shares the first are all. */
const itemsAtOnce = { first: 40, most: 200 };

/** Shares whose items are read together, if these are few: together they may have ten thousand. */
const sharesAtOnce = 20;

/** Later than any clock: an item of a share ends with its share. */
const never = Date.UTC(9999, 0);

export function shareStore(knex: Knex, now: () => number): ShareStore {
	const shares = () => knex<ShareRow>('shares');
	const owned = () =>
		knex('shares')
			.join('users', 'users.id', 'shares.user_id')
			.select('shares.*', 'users.username') as Knex.QueryBuilder<OwnedRow, OwnedRow[]>;
	const ofEnabled = () => owned().where('users.is_disabled', false);

	const withItems = async (heads: readonly ShareHead[]): Promise<ShareRecord[]> => {
		const items = new Map(heads.map(({ id }): [string, SharedItemRecord[]] => [id, []]));
		const owners = new Map(heads.map(({ id, owner }) => [id, owner]));
		for await (const part of itemsOf(knex, [...items.keys()])) {
			for (const item of part) {
				const record = toItem(item, owners.get(item.share_id) as SharedItemRecord['owner']);
				items.get(item.share_id)?.push(record);
			}
		}
		return heads.map((head) => ({ ...head, items: items.get(head.id) ?? [] }));
	};
	const head = async (query: Knex.QueryBuilder): Promise<ShareHead | undefined> => {
		const row: OwnedRow | undefined = await query.first();
		return row && toHead(row);
	};
	const one = async (query: Knex.QueryBuilder): Promise<ShareRecord | undefined> => {
		const found = await head(query);
		return found && (await withItems([found]))[0];
	};

	return {
		async add({ items, ...share }, limits) {
			const id = randomUUID();
			const createdAt = now();
			await transact(knex, async (transaction) => {
				const user = await lockUser(transaction, share.ownerId);
				if (user === undefined) throw new Failure('notFound', 'The owner of the share is gone.');
				const own = { user_id: share.ownerId };
				const made = await countOf(transaction('shares').where(own));
				if (made >= limits.shares) throw tooMany(`You have ${thousands(made)} shares`);
				const shared = await countOf(transaction('temp_links').where(own).whereNotNull('share_id'));
				if (shared + items.length > limits.items) throw tooMany(`You share ${thousands(shared)} items`);
				await transaction<ShareRow>('shares').insert(
					plainRow({
						...columnsOf({ ...share, isPaused: false }),
						id,
						token_hash: share.tokenHash,
						sealed_token: share.sealedToken,
						user_id: share.ownerId,
						mode: share.mode,
						created_at: createdAt,
						is_ended: false,
						asks_name: share.asksName,
						downloads: 0,
						bytes_sent: 0,
						uploads: 0,
						bytes_received: 0,
						last_used_at: null,
					}),
				);
				const rows = items.map(({ path, itemId, type }, position) =>
					plainRow({
						...{ id: randomUUID(), token_hash: `item ${position} of ${id}`, user_id: share.ownerId },
						...{ path, next_path: null, item_id: itemId, item_type: type },
						...{ created_at: createdAt, expires_at: never, is_ended: false, downloads: 0 },
						...{ share_id: id, share_position: position },
					}),
				);
				for (const part of batchesOfLength(rows, rowsAtOnce, ({ path }) => String(path).length)) {
					// Others have a turn, which may be long: who writes waits for this transaction, so there are few. Not `ownTurn`, whose
					// queue is as long as others make it.
					if (part[0] !== rows[0]) await setImmediate();
					await transaction('temp_links').insert(part);
				}
			});
			return (await one(owned().where('shares.id', id))) as ShareRecord;
		},
		find: (tokenHash) => head(ofEnabled().where('shares.token_hash', tokenHash)),
		findById: (id) => head(ofEnabled().where('shares.id', id)),
		async itemsOf({ id, owner }, after = -1) {
			// Not those of one client in one go, however many it asks for.
			if (after >= 0) await ownTurn();
			const limit = itemsAtOnce.first;
			const found: ItemPlace[] = await placesOf(knex)
				.where('share_id', id)
				.where('share_position', '>', after)
				.limit(limit);
			const [ids] = idBatches(found, rowsAtOnce);
			if (ids === undefined) return { items: [], last: undefined };
			const hasMore = found.length === limit || ids.length < found.length;
			const items = (await itemsWith(knex, ids)).map((item) => toItem(item, owner));
			return { items, last: hasMore ? found[ids.length - 1]?.share_position : undefined };
		},
		get(id, ownerId) {
			const chosen = owned().where('shares.id', id);
			return one(ownerId === undefined ? chosen : chosen.where('shares.user_id', ownerId));
		},
		async page({ limit, ownerId, after }) {
			const page = owned()
				.orderBy([
					{ column: 'shares.created_at', order: 'desc' },
					{ column: 'shares.id', order: 'desc' },
				])
				.limit(limit);
			if (ownerId !== undefined) page.where('shares.user_id', ownerId);
			if (after !== undefined) {
				// The first condition is what an index can begin at.
				page
					.where('shares.created_at', '<=', after.createdAt)
					.where((earlier) =>
						earlier.where('shares.created_at', '<', after.createdAt).orWhere('shares.id', '<', after.id),
					);
			}
			return (await page).map(toHead);
		},
		async withItems(shares) {
			const [some] = batchesOf(shares, sharesAtOnce);
			if (some === undefined) return [];
			const ids = some.map(({ id }) => id);
			const found: { share_id: string; count: number | string }[] = await knex('temp_links')
				.whereIn('share_id', ids)
				.groupBy('share_id')
				.select('share_id')
				.count({ count: '*' });
			const counts = new Map(found.map(({ share_id, count }) => [share_id, Number(count)]));
			const few = { count: sharesAtOnce, length: itemsAtOnce.most };
			const [first = []] = batchesOfLength(some, few, ({ id }) => counts.get(id) ?? 0);
			return withItems(first);
		},
		change: (id, ownerId, changes) =>
			transact(knex, async (transaction) => {
				const settings = columnsOf(changes);
				const columns = { ...settings, ...('expires_at' in settings ? { is_ended: false } : {}) };
				const chosen = () => transaction<ShareRow>('shares').where({ id, user_id: ownerId });
				const before = await chosen().forUpdate().first();
				if (before === undefined) return undefined;
				if (hasAll(before, columns)) return 'same';
				await chosen().update(plainRow(columns));
				return 'changed';
			}),
		async end(id, expiresAt) {
			await shares()
				.where({ id, expires_at: expiresAt })
				.update(plainRow({ is_ended: true }));
		},
		remove: (id, ownerId) =>
			transact(knex, async (transaction) => {
				const chosen = { id, ...(ownerId === undefined ? {} : { user_id: ownerId }) };
				if ((await transaction('shares').where(chosen).delete()) === 0) return false;
				await transaction('temp_links').where({ share_id: id }).delete();
				return true;
			}),
	};
}

/**
 * The items of shares in their order, in parts that take a moment each: anybody may ask for a share of a thousand, and
 * many at once. Others have their turns between two parts.
 */
async function* itemsOf(knex: Knex, shares: readonly string[]): AsyncGenerator<ItemRow[]> {
	let rest = [...shares].sort();
	/** The position of the last item that was read of the first of these shares. */
	let after: number | undefined;
	let isFirst = true;
	while (rest.length > 0) {
		const limit = isFirst ? itemsAtOnce.first : itemsAtOnce.most;
		const items = placesOf(knex);
		if (after === undefined) items.whereIn('share_id', rest);
		else items.where('share_id', rest[0]).where('share_position', '>', after);
		const found: ItemPlace[] = await items.limit(limit);
		for (const ids of idBatches(found, rowsAtOnce)) {
			if (!isFirst) await ownTurn();
			isFirst = false;
			yield await itemsWith(knex, ids);
		}
		const last = found.at(-1);
		if (last !== undefined && found.length === limit) {
			rest = rest.slice(rest.indexOf(last.share_id));
			after = last.share_position;
		} else {
			rest = after === undefined ? [] : rest.slice(1);
			after = undefined;
		}
	}
}

const itemOrder = ['share_id', 'share_position'];

/** Where items are in their shares, in their order, without their paths. */
function placesOf(knex: Knex): Knex.QueryBuilder {
	return knex('temp_links').orderBy(itemOrder).select('id', 'share_id', 'share_position', pathBytes(knex));
}

async function itemsWith(knex: Knex, ids: readonly string[]): Promise<ItemRow[]> {
	return knex('temp_links')
		.whereIn('id', ids)
		.orderBy(itemOrder)
		.select('id', 'share_id', 'share_position', 'path', 'next_path', 'item_id', 'item_type');
}

/** The columns of those that are set. */
function columnsOf(settings: Partial<ShareSettings>): Partial<ShareRow> {
	const columns = {
		title: settings.title,
		message: settings.message,
		expires_at: settings.expiresAt,
		password: settings.passwordSecret,
		max_downloads: settings.maxDownloads,
		max_upload_bytes: settings.maxUploadBytes,
		is_paused: settings.isPaused,
	};
	return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

/** Whether a row has these values already. Databases keep truth values as numbers, and may give large numbers as texts. */
function hasAll(row: ShareRow, columns: Partial<ShareRow>): boolean {
	return Object.entries(columns).every(([name, value]) => {
		const known = row[name as keyof ShareRow];
		if (known === null || value === null || typeof value === 'string') return known === value;
		return Number(known) === Number(value);
	});
}

const thousands = (count: number) => count.toLocaleString('en');

function tooMany(what: string): Failure {
	return new Failure('rateLimited', `${what}, and more are not possible. Please delete some shares.`);
}

async function countOf(chosen: Knex.QueryBuilder): Promise<number> {
	const [row] = await chosen.count({ count: '*' });
	return Number(row.count);
}

function toHead(row: OwnedRow): ShareHead {
	return {
		id: row.id,
		owner: { id: row.user_id, username: row.username },
		sealedToken: row.sealed_token,
		title: row.title,
		message: row.message,
		mode: row.mode as ShareMode,
		createdAt: row.created_at,
		expiresAt: row.expires_at,
		isEnded: Boolean(row.is_ended),
		passwordSecret: row.password,
		maxDownloads: row.max_downloads,
		maxUploadBytes: row.max_upload_bytes,
		asksName: Boolean(row.asks_name),
		isPaused: Boolean(row.is_paused),
		downloads: row.downloads,
		bytesSent: row.bytes_sent,
		uploads: row.uploads,
		bytesReceived: row.bytes_received,
		lastUsedAt: row.last_used_at,
	};
}

function toItem(item: ItemRow, owner: SharedItemRecord['owner']): SharedItemRecord {
	return {
		id: item.id,
		owner,
		// They were parsed before they were kept, and a guest has a thousand read.
		path: item.path as StoragePath,
		nextPath: item.next_path === null ? undefined : (item.next_path as StoragePath),
		itemId: item.item_id,
		type: item.item_type === 'directory' ? 'directory' : 'file',
	};
}
