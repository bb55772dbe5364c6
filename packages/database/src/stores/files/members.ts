import { randomUUID } from 'node:crypto';
import type { JoinedFolder, JoinedNames, MemberLimits, MemberStore, SharedFolderRecord } from '@stowage/plugin-api';
import {
	baseName,
	batchesOf,
	batchesOfLength,
	Failure,
	type MemberRole,
	maxNameBytes,
	parentPath,
	type StoragePath,
} from '@stowage/rules';
import type { Knex } from 'knex';
import { isMysql } from '../../connection/dialect.js';
import { atOneMoment } from '../../connection/oneMoment.js';
import { ownTurn } from '../../connection/ownTurn.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { lockUser, lockUsers } from '../accounts/lockUser.js';
import { batches, idBatches, type SizedRow } from '../batches.js';
import { deleteInParts } from '../inParts.js';
import { type FollowedRow, followedItem } from './followedItem.js';
import { pathBytes, readInParts, rowsAtOnce } from './itemRows.js';
import { changesOf, countChanges } from './memberChanges.js';

interface MemberRow {
	folder_id: string;
	user_id: string;
	role: string;
	created_at: number;
}

interface JoinedRow extends SizedRow {
	role: string;
	owner: string;
}

interface EndsRow {
	id: string;
	first_of_path: string;
	end_of_path: Uint8Array;
	first_of_next_path: string | null;
	end_of_next_path: Uint8Array | null;
}

/** Folders of whose paths one statement reads the ends, and the bytes of these paths, in some milliseconds. */
const endsAtOnce = { count: 200, length: 4_000_000 };

/** More bytes, and characters, than a name has: so much of a path has a slash in it, or is all of it. */
const maxEnd = maxNameBytes + 1;

/** Stands in the place of a share's id: the row of `temp_links` is a folder with members. */
const membersMark = 'members';

/** Folders of a user that are no moment's work to read any more. */
const manyFolders = 200;

/** Folders whose members, of which each may have a thousand, are counted by one statement. */
const countedFolders = 10;

/** Later than any clock. */
const never = Date.UTC(9999, 0);

export function memberStore(knex: Knex, now: () => number): MemberStore {
	const followed = () =>
		knex('temp_links').join('users', 'users.id', 'temp_links.user_id').select('temp_links.*', 'users.username');
	const folders = () => followed().where('temp_links.share_id', membersMark);
	const foldersWith = (ids: readonly string[]) =>
		// The sign keeps SQLite from beginning at all folders with members that there are.
		followed().whereIn('temp_links.id', ids).whereRaw('+temp_links.share_id = ?', [membersMark]);

	/** The items that a user is a member of, whatever their mark says: for that SQLite would have to read past their paths. */
	const joinedRows = (userId: string, connection = knex) =>
		connection('members')
			.join('temp_links', 'temp_links.id', 'members.folder_id')
			.join({ owner: 'users' }, 'owner.id', 'temp_links.user_id')
			.join({ member: 'users' }, 'member.id', 'members.user_id')
			.where({ 'members.user_id': userId })
			.where({ 'owner.is_disabled': false, 'member.is_disabled': false });

	const withMembers = async (rows: readonly FollowedRow[]): Promise<SharedFolderRecord[]> => {
		const members = new Map<string, SharedFolderRecord['members']>();
		for (const part of batches(rows.map(({ id }) => id))) {
			const found: (MemberRow & { username: string })[] = await knex('members')
				.join('users', 'users.id', 'members.user_id')
				.whereIn('members.folder_id', part)
				.orderBy(['members.folder_id', 'users.username'])
				.select('members.*', 'users.username');
			for (const { folder_id, user_id, username, role } of found) {
				const one = { user: { id: user_id, username }, role: role as MemberRole };
				const own = members.get(folder_id);
				if (own === undefined) members.set(folder_id, [one]);
				else own.push(one);
			}
		}
		return rows.flatMap((row) => {
			const own = members.get(row.id);
			// The last of them has left meanwhile, or their account has gone.
			return own === undefined ? [] : [{ ...followedItem(row), members: own }];
		});
	};

	return {
		set({ ownerId, path, itemId }, members, limits) {
			const at = now();
			return transact(knex, async (transaction) => {
				const user = await lockUser(transaction, ownerId);
				if (user === undefined) throw new Failure('notFound', 'The owner of the folder is gone.');
				await assertThere(
					transaction,
					members.map(({ userId }) => userId),
				);
				const own = () => transaction('temp_links').where({ user_id: ownerId, share_id: membersMark });
				const known: { id: string } | undefined = await own().where({ item_id: itemId }).first('id');
				if (members.length === 0) {
					if (known !== undefined) await own().where({ id: known.id }).delete();
					return known !== undefined;
				}
				const id = known?.id ?? randomUUID();
				if (known === undefined) {
					const [{ count }] = (await own().count({ count: '*' })) as [{ count: number | string }];
					if (Number(count) >= limits.folders) throw tooMany(limits.folders);
					await transaction('temp_links').insert(
						plainRow({
							...{ id, token_hash: `members of ${id}`, user_id: ownerId, path, next_path: null, item_id: itemId },
							...{ item_type: 'directory', share_id: membersMark, share_position: 0 },
							...{ created_at: at, expires_at: never, is_ended: false, downloads: 0 },
						}),
					);
				}
				const before: MemberRow[] = await transaction('members').where({ folder_id: id });
				const added = members.map(({ userId }) => userId).filter((id) => !before.some(({ user_id }) => user_id === id));
				// Others may be adding them to folders of their own.
				await lockUsers(transaction, added);
				await assertRoom(transaction, ownerId, added, limits);
				const isSame = ({ userId, role }: (typeof members)[number]) =>
					before.some((each) => each.user_id === userId && each.role === role);
				if (before.length === members.length && members.every(isSame)) return false;
				await transaction('members').where({ folder_id: id }).delete();
				const rows = members.map(({ userId, role }) => {
					const since = before.find((each) => each.user_id === userId)?.created_at ?? at;
					return plainRow({ folder_id: id, user_id: userId, role, created_at: since });
				});
				for (const part of batches(rows)) await transaction('members').insert(part);
				return true;
			});
		},

		async find(ownerId, itemId) {
			const row = folders().where({ 'temp_links.user_id': ownerId, 'temp_links.item_id': itemId });
			return (await withMembers(await row))[0];
		},

		async joined(userId, ownerId) {
			const all = (connection?: Knex) => {
				const rows = joinedRows(userId, connection);
				// The sign keeps SQLite from beginning at all items of the owner's.
				return ownerId === undefined ? rows : rows.whereRaw('+temp_links.user_id = ?', [ownerId]);
			};
			const read = (rows: Knex.QueryBuilder): Promise<(FollowedRow & { role: string })[]> =>
				rows
					// The sign keeps SQLite from beginning at all folders with members that there are.
					.whereRaw('+temp_links.share_id = ?', [membersMark])
					.select(
						'temp_links.id',
						'temp_links.path',
						'temp_links.next_path',
						'temp_links.item_id',
						'temp_links.user_id',
					)
					.select('owner.username', 'members.role', 'members.created_at');
			// What decides who may do what has to be read as of one moment: a thousand take 20 ms, at long paths 100 ms.
			const readMany = async (moment: Knex) => {
				const sized: SizedRow[] = await all(moment).select('temp_links.id', pathBytes(knex));
				const rows: Awaited<ReturnType<typeof read>> = [];
				for (const ids of idBatches(sized, rowsAtOnce)) {
					rows.push(...(await read(all(moment).whereIn('members.folder_id', ids))));
					await ownTurn();
				}
				return rows;
			};
			const some: string[] = await all().limit(manyFolders).pluck('temp_links.id');
			const isMany = some.length === manyFolders;
			if (isMany) await ownTurn();
			const rows = isMany && !isMysql(knex) ? await atOneMoment(knex, readMany) : await read(all());
			// Not sorted by the database, which would write all of their paths once more.
			return rows
				.sort((one, other) => one.created_at - other.created_at || (one.id < other.id ? -1 : 1))
				.map((row): JoinedFolder => ({ ...followedItem(row), role: row.role as MemberRole }));
		},

		async joinedNames(userId) {
			const all: JoinedRow[] = await joinedRows(userId)
				.orderBy(['members.created_at', 'temp_links.id'])
				.select('temp_links.id', 'members.role', { owner: 'owner.username' }, pathBytes(knex));
			const ends = new Map<string, JoinedNames['ends']>();
			for (const part of batchesOfLength(all, endsAtOnce, ({ bytes }) => bytes)) {
				if (ends.size > 0) await ownTurn();
				const ids = part.map(({ id }) => id);
				const rows: EndsRow[] = await knex('temp_links')
					.whereIn('id', ids)
					.whereRaw('+share_id = ?', [membersMark])
					.select('id', ...endsOf(knex, 'path'), ...endsOf(knex, 'next_path'));
				for (const row of rows) ends.set(row.id, endsIn(row));
			}
			return all.flatMap(({ id, role, owner }) => {
				const own = ends.get(id);
				return own === undefined ? [] : [{ id, role: role as MemberRole, owner, ends: own }];
			});
		},

		async list(ownerId) {
			// Not in the order of an index, which has the other items of the owner as well.
			const all = folders().clearSelect().orderByRaw('users.username, +temp_links.path');
			const ids: string[] = await (ownerId === undefined ? all : all.where('temp_links.user_id', ownerId)).pluck(
				'temp_links.id',
			);
			const found: SharedFolderRecord[] = [];
			const read = async (some: readonly string[]) => {
				const rows: FollowedRow[] = await foldersWith(some);
				return withMembers(rows.sort((one, other) => some.indexOf(one.id) - some.indexOf(other.id)));
			};
			for await (const part of readInParts(knex, ids, read)) found.push(...part);
			return found;
		},

		async countsIn(ownerId, folder) {
			const ids: string[] = await knex('temp_links').where({ user_id: ownerId, share_id: membersMark }).pluck('id');
			const read = async (some: readonly string[]): Promise<Pick<FollowedRow, 'id' | 'path' | 'next_path'>[]> =>
				knex('temp_links').whereIn('id', some).select('id', 'path', 'next_path');
			/** Without the folder, whose path may be long. */
			const names = new Map<string, string>();
			for await (const rows of readInParts(knex, ids, read)) {
				for (const { id, path, next_path } of rows) {
					const known = (next_path ?? path) as StoragePath;
					if (parentPath(known) === folder) names.set(id, baseName(known));
				}
			}
			const counts = new Map<string, number>();
			// Members may be by the hundred thousand: of some folders they are counted by their key in less than a millisecond, and others have
			// their turns in between.
			for (const part of batchesOf([...names.keys()], countedFolders)) {
				if (names.size > countedFolders) await ownTurn();
				const found: { folder_id: string; count: number | string }[] = await knex('members')
					.whereIn('folder_id', part)
					.groupBy('folder_id')
					.select('folder_id')
					.count({ count: '*' });
				for (const { folder_id, count } of found) counts.set(names.get(folder_id) as string, Number(count));
			}
			return counts;
		},

		leave: (folderId, userId) =>
			transact(knex, async (transaction) => {
				const members = () => transaction('members').where({ folder_id: folderId });
				if ((await members().where({ user_id: userId }).delete()) === 0) return false;
				if ((await members().first('user_id')) === undefined)
					await transaction('temp_links').where({ id: folderId, share_id: membersMark }).delete();
				return true;
			}),

		countChanges: (changes) => countChanges(knex, changes),

		changes: (ownerId, limit) => changesOf(knex, ownerId, limit),

		async forgetChanges(before) {
			await deleteInParts(knex, 'member_changes', (rows) => rows.where('ended_at', '<', before));
		},
	};
}

/** The beginning of a path as a text, and its end in bytes: to find characters there, each path would be read from its beginning. */
function endsOf(knex: Knex, column: 'path' | 'next_path'): Knex.Raw[] {
	const path = `temp_links.${column}`;
	const end = isMysql(knex) ? `right(cast(${path} as binary), ${maxEnd})` : `substr(cast(${path} as blob), -${maxEnd})`;
	return [knex.raw(`substr(${path}, 1, ${maxEnd}) as first_of_${column}`), knex.raw(`${end} as end_of_${column}`)];
}

function endsIn(row: EndsRow): JoinedNames['ends'] {
	const ends = [endIn(row.first_of_path, row.end_of_path)];
	if (row.first_of_next_path !== null) ends.push(endIn(row.first_of_next_path, row.end_of_next_path));
	return ends;
}

function endIn(beginning: string, end: Uint8Array | null): JoinedNames['ends'][number] {
	const bytes = Buffer.from(end ?? []);
	return { first: beginning.split('/', 1)[0] ?? '', last: bytes.toString('utf8', bytes.lastIndexOf('/') + 1) };
}

async function assertThere(transaction: Knex.Transaction, ids: readonly string[]): Promise<void> {
	let found = 0;
	for (const part of batches([...new Set(ids)])) {
		const there: string[] = await transaction('users').whereIn('id', part).pluck('id');
		found += there.length;
	}
	if (found < new Set(ids).size) throw new Failure('noSuchUser', 'One of the users is gone.');
}

/** Throws for the first of these users who is a member of so many folders that no more can be added. */
export async function assertRoom(
	transaction: Knex,
	ownerId: string,
	ids: readonly string[],
	{ ofOneOwner, ofAllOwners }: MemberLimits,
): Promise<void> {
	const own = transaction('temp_links').where({ user_id: ownerId, share_id: membersMark }).select('id');
	for (const part of batches(ids)) {
		// By the index of the members alone: each of a thousand may have a thousand, and meanwhile nobody else writes.
		const members = () => transaction('members').whereIn('user_id', part).groupBy('user_id');
		const [userId] = [
			...(await members()
				.having(transaction.raw('count(*) >= ?', [ofAllOwners]))
				.limit(1)
				.pluck('user_id')),
			...(await members()
				.whereIn('folder_id', own)
				.having(transaction.raw('count(*) >= ?', [ofOneOwner]))
				.limit(1)
				.pluck('user_id')),
		] as string[];
		if (userId === undefined) continue;
		const user: { username: string } | undefined = await transaction('users').where({ id: userId }).first('username');
		throw new Failure('rateLimited', `${user?.username} is a member of so many folders that no more are possible.`);
	}
}

function tooMany(limit: number): Failure {
	return new Failure(
		'rateLimited',
		`You share ${limit.toLocaleString('en')} folders with members, and more are not possible.`,
	);
}
