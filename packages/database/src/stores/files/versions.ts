import type { FileVersion, VersionCount, VersionStore } from '@stowage/plugin-api';
import { addTo, isWithin, joinChecked, parentPath, relativePath, type StoragePath } from '@stowage/rules';
import type { Knex } from 'knex';
import { isMysql } from '../../connection/dialect.js';
import { ownTurn } from '../../connection/ownTurn.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { batches } from '../batches.js';
import { type TrashRow, toRecord } from './trash.js';

/** Rows that get another path in one transaction, which all other writers wait for. */
const movedAtOnce = 500;

/** Files whose versions one statement counts: each path may have 64 kB, and SQLite reads on the main thread. */
const countedAtOnce = 100;

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
	const countedInPages = async (range: () => Knex.QueryBuilder): Promise<VersionCount[]> => {
		// An index of beginnings has no order: MySQL would sort the whole range for each page.
		if (isMysql(knex)) return counted(range());
		const counts: VersionCount[] = [];
		for (let after: VersionCount | undefined; ; ) {
			const rows = range().limit(countedAtOnce);
			if (after !== undefined)
				rows.whereRaw('(folder, path, version_of) > (?, ?, ?)', [parentPath(after.path), after.path, after.file]);
			const page = await counted(rows);
			counts.push(...page);
			after = page.at(-1);
			if (page.length < countedAtOnce) return counts;
			await ownTurn();
		}
	};
	return {
		async hasAny(ownerId) {
			return (await rowsOf(ownerId).first('id')) !== undefined;
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
		async countsWithin(ownerId, path) {
			const counts: VersionCount[] = [];
			for (const range of rangesWithin(path)) counts.push(...(await countedInPages(() => range(finished(ownerId)))));
			return counts;
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
			const moving: Pick<TrashRow, 'id' | 'path'>[] = [];
			// Each is a range of the index, of which no more is read than is moved.
			for (const inside of rangesWithin(from))
				if (moving.length < movedAtOnce)
					moving.push(
						...(await inside(rowsOf(ownerId))
							.select('id', 'path')
							.limit(movedAtOnce - moving.length)),
					);
			await transact(knex, async (transaction) => {
				for (const [path, ids] of idsByPath(moving)) {
					const moved = joinChecked(to, relativePath(path as StoragePath, from));
					const change = plainRow({ path: moved, folder: parentPath(moved) });
					for (const part of batches(ids)) await transaction<TrashRow>('trash').whereIn('id', part).update(change);
				}
			});
			return moving.length;
		},
		bind: (ownerId, former, file) =>
			rowsOf(ownerId)
				.where({ version_of: former })
				.update(plainRow({ version_of: file })),
		async place(ownerId, { file, path }) {
			const change = plainRow({ path, folder: parentPath(path) });
			await rowsOf(ownerId).where({ version_of: file }).update(change);
		},
		async beginPurging(ownerId, files) {
			let marked = 0;
			for (const part of batches(files)) {
				const change = plainRow({ state: 'purging' as const, state_at: now() });
				marked += await finished(ownerId).whereIn('version_of', part).update(change);
			}
			return marked;
		},
		async detach(id, path) {
			const plain = { path, version_of: null, replaced_id: null, mtime: null, folder: null };
			await knex<TrashRow>('trash').where({ id }).update(plainRow(plain));
		},
	};
}

function idsByPath(rows: readonly Pick<TrashRow, 'id' | 'path'>[]): Map<string, string[]> {
	const ids = new Map<string, string[]>();
	for (const { id, path } of rows) addTo(ids, path, id);
	return ids;
}

/** The rows at a path, those in a folder there, and those below: each is a range of the index of paths. */
function rangesWithin(path: StoragePath): ((rows: Knex.QueryBuilder) => Knex.QueryBuilder)[] {
	if (path === '') return [(rows) => rows.where('folder', '>=', '')];
	return [
		(rows) => rows.where({ folder: parentPath(path), path }),
		(rows) => rows.where({ folder: path }),
		// Texts compare byte for byte, and '0' is the character after '/'.
		(rows) => rows.where('folder', '>=', `${path}/`).where('folder', '<', `${path}0`),
	];
}
