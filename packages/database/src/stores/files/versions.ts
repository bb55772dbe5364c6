import type { FileVersion, VersionCount, VersionedFile, VersionStore } from '@stowage/plugin-api';
import {
	addTo,
	batchesOf,
	batchesOfLength,
	isWithin,
	joinChecked,
	parentPath,
	relativePath,
	type StoragePath,
	utf8Length,
} from '@stowage/rules';
import type { Knex } from 'knex';
import { isMysql } from '../../connection/dialect.js';
import { ownTurn } from '../../connection/ownTurn.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { batches, idBatches, type SizedRow } from '../batches.js';
import { noVersion, sizedColumns, type TrashRow, toRecord, writtenAtOnce } from './trash.js';

/** Rows that get another path in one transaction, which all other writers wait for, and the bytes of their paths before and after it. */
const movedAtOnce = { count: 500, length: 1_000_000 };

/** Files whose versions one statement counts at most and at least, and characters of their paths: SQLite reads on the main thread. */
const countedAtOnce = { most: 100, least: 10, length: 1_000_000 };

/** Files of which all versions are found by one statement: of one there may be some hundreds. */
const purgedAtOnce = 50;

export function versionStore(knex: Knex, now: () => number): VersionStore {
	/** All versions of a user, also the unfinished ones. */
	const rowsOf = (ownerId: string, connection = knex) =>
		connection<TrashRow>('trash').where({ user_id: ownerId }).whereNotNull('version_of');
	const kept = (ownerId: string) => rowsOf(ownerId).whereNot('state', 'purging');
	const finished = (ownerId: string) => kept(ownerId).whereRaw('version_of <> replaced_id');
	const counted = async (rows: Knex.QueryBuilder): Promise<VersionCount[]> => {
		const counts: { path: string; version_of: string; count: number }[] = await rows
			.groupBy('folder', 'path', 'version_of')
			.orderBy(['folder', 'path', 'version_of'])
			.select('path', 'version_of')
			.count({ count: '*' });
		// It was parsed before it was kept.
		return counts.map(({ path, version_of, count }) => ({
			path: path as StoragePath,
			file: version_of,
			count: Number(count),
		}));
	};
	/** All in a range of the index, between whose pages others have their turn. */
	const countedInPages = async (
		rows: () => Knex.QueryBuilder,
		{ all, following }: Range,
		{ length }: StoragePath,
		use: (page: VersionCount[]) => Promise<void>,
	): Promise<void> => {
		// An index of beginnings has no order: MySQL would sort the whole range for each page.
		if (isMysql(knex)) return use(await counted(all(rows())));
		for (let limit = countedWith(length), after: VersionCount | undefined; ; limit = countedWith(after.path.length)) {
			const page = await counted((after === undefined ? all(rows()) : following(rows(), after)).limit(limit));
			if (page.length > 0) await use(page);
			after = page.at(-1);
			if (after === undefined || page.length < limit) return;
			await ownTurn();
		}
	};
	/** Writes rows in parts of which none has many long paths. Resolves to how many. */
	const writeInParts = async (rows: Iterable<SizedRow>, write: (ids: string[]) => Promise<number>): Promise<number> => {
		let count = 0;
		for (const ids of idBatches(rows, writtenAtOnce)) {
			if (count > 0) await ownTurn();
			count += await write(ids);
		}
		return count;
	};
	return {
		async hasAny(ownerId) {
			return (await rowsOf(ownerId).first('id')) !== undefined;
		},
		async hasWithin(ownerId, path) {
			for (const { all } of rangesWithin(path)) if ((await all(rowsOf(ownerId)).first('id')) !== undefined) return true;
			return false;
		},
		async of(ownerId, { file, path }) {
			// Each is a look-up in an index.
			const rows = await Promise.all([
				finished(ownerId).where({ version_of: file }),
				finished(ownerId)
					.where({ folder: parentPath(path), path })
					.whereNot({ version_of: file }),
			]);
			const order = (one: TrashRow, other: TrashRow) =>
				other.deleted_at - one.deleted_at || (one.id < other.id ? 1 : -1);
			return rows
				.flat()
				.sort(order)
				.map((row) => toRecord(row) as FileVersion);
		},
		async countsIn(ownerId, folders, { limit, after }) {
			if (folders.length === 0) return [];
			const rows = finished(ownerId).whereIn('folder', folders);
			if (after !== undefined) {
				const { path, file } = after;
				// The first condition is what an index can begin at.
				rows.where('path', '>=', path).where((next) => next.where('path', '>', path).orWhere('version_of', '>', file));
			}
			return counted(rows.limit(limit));
		},
		async countsWithin(ownerId, path, use) {
			for (const range of rangesWithin(path)) await countedInPages(() => finished(ownerId), range, path, use);
		},
		async unfinished(ownerId, path) {
			const rows = await kept(ownerId)
				.where({ folder: parentPath(path), path })
				.whereRaw('version_of = replaced_id');
			return rows.map((row) => toRecord(row) as FileVersion);
		},
		async move(ownerId, from, to) {
			// They would be found again and again.
			if (isWithin(to, from)) return 0;
			const longer = Math.max(0, utf8Length(to) - utf8Length(from));
			const found: SizedRow[] = [];
			// Each is a range of the index, of which no more is read than is moved.
			for (const { all } of rangesWithin(from))
				if (found.length < movedAtOnce.count)
					found.push(
						...(await all(rowsOf(ownerId))
							.select(sizedColumns(knex))
							.limit(movedAtOnce.count - found.length)),
					);
			const [moving = []] = batchesOfLength(found, movedAtOnce, ({ bytes }) => 2 * bytes + longer);
			const rows: Pick<TrashRow, 'id' | 'path'>[] = [];
			for (const part of batches(moving)) {
				const ids = part.map(({ id }) => id);
				rows.push(...(await knex<TrashRow>('trash').whereIn('id', ids).select('id', 'path')));
			}
			// One may have been moved elsewhere since it was found.
			const inside = rows.filter(({ path }) => isWithin(path as StoragePath, from));
			await transact(knex, async (transaction) => {
				for (const [path, ids] of idsByPath(inside)) {
					const moved = joinChecked(to, relativePath(path as StoragePath, from));
					const change = plainRow({ path: moved, folder: parentPath(moved) });
					for (const part of batches(ids)) await transaction<TrashRow>('trash').whereIn('id', part).update(change);
				}
			});
			return moving.length;
		},
		async bind(ownerId, former, file, next) {
			const own = () => rowsOf(ownerId).where({ version_of: former });
			if (next !== undefined)
				await own()
					.where({ replaced_id: former })
					.update(plainRow({ next_item: next.item, next_by: next.writtenBy }));
			const rows: (SizedRow & Pick<TrashRow, 'replaced_id'>)[] = await own().select(
				'replaced_id',
				...sizedColumns(knex),
			);
			// That of what has just been replaced comes last: it shows that there is something left to do.
			const isUnfinished = (row: (typeof rows)[number]) => row.replaced_id === former;
			rows.sort((one, other) => Number(isUnfinished(one)) - Number(isUnfinished(other)));
			return writeInParts(rows, (ids) =>
				own()
					.whereIn('id', ids)
					.update(plainRow({ version_of: file })),
			);
		},
		async writerOf(ownerId, file, item, { isBeginning = false } = {}) {
			// Texts compare byte for byte: those with this beginning come first of these.
			const row = await rowsOf(ownerId)
				.where({ version_of: file })
				.where('next_item', isBeginning ? '>=' : '=', item)
				.orderBy('next_item')
				.first('next_item', 'next_by');
			return row?.next_item?.startsWith(item) ? (row.next_by ?? undefined) : undefined;
		},
		async place(ownerId, { file, path }) {
			const change = plainRow({ path, folder: parentPath(path) });
			const own = () => rowsOf(ownerId).where({ version_of: file });
			const rows: SizedRow[] = await own().select(sizedColumns(knex));
			const longest = rows.map(({ id, bytes }) => ({ id, bytes: Math.max(bytes, utf8Length(path)) }));
			await writeInParts(longest, (ids) => own().whereIn('id', ids).update(change));
		},
		async beginPurging(ownerId, files) {
			let marked = 0;
			for (const part of batchesOf(files, purgedAtOnce)) {
				const marking = (rows: Knex.QueryBuilder) =>
					rows.whereIn('version_of', part).whereNot('state', 'purging').whereRaw('version_of <> replaced_id');
				// Without another condition for what has files: SQLite would read all versions of the user by that.
				const rows: SizedRow[] = await marking(knex('trash').where('user_id', ownerId)).select(sizedColumns(knex));
				const change = plainRow({ state: 'purging' as const, state_at: now() });
				marked += await writeInParts(rows, (ids) => marking(knex('trash').whereIn('id', ids)).update(change));
			}
			return marked;
		},
		async detach(id, path) {
			const plain = { ...noVersion, path };
			await knex<TrashRow>('trash').where({ id }).update(plainRow(plain));
		},
	};
}

/** How many files are counted together whose paths have about that length. */
function countedWith(length: number): number {
	const { most, least, length: characters } = countedAtOnce;
	return Math.max(least, Math.min(most, Math.floor(characters / (length + 1))));
}

function idsByPath(rows: readonly Pick<TrashRow, 'id' | 'path'>[]): Map<string, string[]> {
	const ids = new Map<string, string[]>();
	for (const { id, path } of rows) addTo(ids, path, id);
	return ids;
}

/** Rows that lie together in the index of paths, and those of them that follow a file: by one search each, however many come before. */
interface Range {
	all(rows: Knex.QueryBuilder): Knex.QueryBuilder;
	following(rows: Knex.QueryBuilder, after: VersionedFile): Knex.QueryBuilder;
}

/** The rows at a path, those in a folder there, and those below: each is a range of the index of paths. */
function rangesWithin(path: StoragePath): Range[] {
	const withFolder = (rows: Knex.QueryBuilder, { path: last, file }: VersionedFile) =>
		rows.whereRaw('(folder, path, version_of) > (?, ?, ?)', [parentPath(last), last, file]);
	if (path === '') return [{ all: (rows) => rows.where('folder', '>=', ''), following: withFolder }];
	const inOne = (of: Partial<TrashRow>): Range => ({
		all: (rows) => rows.where(of),
		following: (rows, { path: last, file }) => rows.where(of).whereRaw('(path, version_of) > (?, ?)', [last, file]),
	});
	// Texts compare byte for byte, and '0' is the character after '/'.
	const below = (rows: Knex.QueryBuilder) => rows.where('folder', '<', `${path}0`);
	return [
		inOne({ folder: parentPath(path), path }),
		inOne({ folder: path }),
		{
			all: (rows) => below(rows.where('folder', '>=', `${path}/`)),
			following: (rows, after) => below(withFolder(rows, after)),
		},
	];
}
