import type {
	FileVersion,
	TrashCount,
	TrashedItem,
	TrashRecord,
	TrashSelection,
	TrashState,
	TrashStore,
} from '@stowage/plugin-api';
import { batchesOfLength, parentPath, type StoragePath, utf8Length } from '@stowage/rules';
import type { Knex } from 'knex';
import { isMysql } from '../../connection/dialect.js';
import { atOneMoment } from '../../connection/oneMoment.js';
import { ownTurn } from '../../connection/ownTurn.js';
import { plainRow } from '../../connection/plainValues.js';
import { batches, idBatches, type SizedRow } from '../batches.js';

/** From `version_of` on they are set for a version only. */
export interface TrashRow {
	id: string;
	user_id: string;
	username: string;
	root_id: string;
	path: string;
	type: string;
	bytes: number | null;
	entries: number | null;
	deleted_at: number;
	deleted_by: string;
	state: string;
	state_at: number;
	version_of: string | null;
	replaced_id: string | null;
	mtime: number | null;
	folder: string | null;
	written_by: string | null;
	next_item: string | null;
	next_by: string | null;
}

/** The bytes of the path of a row, which SQLite knows without reading it. */
const pathBytes = 'octet_length(path)';

/** Rows that one statement writes, and bytes of their paths: each has its path several times, and SQLite writes on the main thread. */
export const writtenAtOnce = { count: 200, length: 1_000_000 };

/** Rows that one statement reads, and bytes of their paths, in some milliseconds. */
const readAtOnce = { count: 200, length: 500_000 };

/** So few rows have no more bytes than that, however long their paths are. */
const fewRows = 15;

/** Rows that one statement sums, in some milliseconds. */
const summedAtOnce = 2_000;

/** The columns of a `SizedRow`. */
export const sizedColumns = (knex: Knex) => ['id', knex.raw(`${pathBytes} as bytes`)];

type Rows = Knex.QueryBuilder<TrashRow>;

type ListOptions = Parameters<TrashStore['list']>[0];

export function trashStore(knex: Knex, now: () => number): TrashStore {
	const trash = () => knex<TrashRow>('trash');
	const inState = (state: TrashState) => plainRow({ state, state_at: now() });
	/** With ids each condition but these has a plus before its column: without statistics SQLite would read all rows of a user instead. */
	const plain = isMysql(knex) ? '' : '+';
	const selected = (
		{ ids, ownerId, rootId, deletedUntil, isUnmeasured, kind }: TrashSelection,
		rows: Rows = trash(),
	): Rows => {
		const chosen = (column: string, operator: '=' | '<=', value: string | number) =>
			ids === undefined
				? rows.where(column, operator, value)
				: rows.whereRaw(`${plain}${column} ${operator} ?`, [value]);
		if (ownerId !== undefined) chosen('user_id', '=', ownerId);
		if (rootId !== undefined) chosen('root_id', '=', rootId);
		if (deletedUntil !== undefined) chosen('deleted_at', '<=', deletedUntil);
		if (isUnmeasured) rows.whereNull('bytes');
		if (kind === 'item') rows.whereNull('version_of');
		if (kind === 'version') rows.whereNotNull('version_of');
		return rows;
	};
	/**
	 * Adds up what is chosen, without what is `purging`. Very many rows are summed in pages, as of one moment: SQLite reads on the main
	 * thread, and in any order but this a row that changes meanwhile would count twice, or not at all.
	 */
	const summed = async <Sum>(selection: TrashSelection, sum: (rows: Rows) => Promise<Sum[]>): Promise<Sum[]> => {
		const ranges = isMysql(knex) ? [] : rangesOf(selection);
		const ends = await Promise.all(ranges.map((range) => pageEnd(range.rows(trash()), range)));
		if (ends.every((end) => end === undefined))
			return (await forEachPart(selection, (rows) => sum(there(rows)))).flat();
		return atOneMoment(knex, async (moment) => {
			const sums: Sum[] = [];
			for (const range of ranges) {
				for (let after: TrashKey | undefined; ; ) {
					const rest = () => keyed(range.rows(moment<TrashRow>('trash')), range, '>', after);
					const end = await pageEnd(rest(), range);
					sums.push(...(await sum(there(keyed(rest(), range, '<=', end)))));
					await ownTurn();
					if (end === undefined) break;
					after = end;
				}
			}
			return sums;
		});
	};
	/**
	 * Reads rows in the order in which `choose` chooses them. SQLite does so on the main thread: many with long paths are read in parts, as
	 * of one moment, since a list with fewer rows than it may have is taken for the last one.
	 */
	const readInParts = async (choose: (all: Rows) => Rows): Promise<TrashRow[]> => {
		const isShort = (sized: readonly SizedRow[]) =>
			sized.length <= fewRows || sized.reduce((sum, { bytes }) => sum + bytes, 0) <= readAtOnce.length;
		if (isMysql(knex) || isShort(await choose(trash()).select(sizedColumns(knex)))) return choose(trash());
		return atOneMoment(knex, async (moment) => {
			const all = () => moment<TrashRow>('trash');
			const sized: SizedRow[] = await choose(all()).select(sizedColumns(knex));
			const found: TrashRow[] = [];
			for (const ids of idBatches(sized, readAtOnce)) {
				const rows = new Map((await all().whereIn('id', ids)).map((row) => [row.id, row]));
				found.push(...ids.flatMap((id) => rows.get(id) ?? []));
				await ownTurn();
			}
			return found;
		});
	};
	/** Runs a statement for each part of the ids, or once where they are no condition. */
	const forEachPart = async <T>(selection: TrashSelection, run: (rows: Rows) => Promise<T>): Promise<T[]> => {
		const { ids } = selection;
		if (ids === undefined) return [await run(selected(selection))];
		const results: T[] = [];
		for (const part of batches(ids)) results.push(await run(selected(selection).whereIn('id', part)));
		return results;
	};
	/** Runs a statement that writes rows for each part of these: many together, where their paths are short. */
	const writeEachPart = async (
		selection: TrashSelection & { ids: readonly string[] },
		run: (rows: Rows) => Promise<number>,
	): Promise<number> => {
		let count = 0;
		for (const part of batches(selection.ids)) {
			const sized: Iterable<SizedRow> =
				part.length <= fewRows
					? part.map((id) => ({ id, bytes: 0 }))
					: await trash().whereIn('id', part).select(sizedColumns(knex));
			for (const written of idBatches(sized, writtenAtOnce)) {
				count += await run(selected(selection).whereIn('id', written));
				if (written.length < part.length) await ownTurn();
			}
		}
		return count;
	};
	return {
		async add(record) {
			await trash().insert(plainRow(toRow(record, now())));
		},
		async addMissing(records) {
			for (const part of batchesOfLength(records, writtenAtOnce, ({ path }) => utf8Length(path))) {
				if (part[0] !== records[0]) await ownTurn();
				const rows = part.map((record) => plainRow(toRow(record, now())));
				await trash().insert(rows).onConflict('id').ignore();
			}
		},
		async get(id) {
			const row = await trash().where({ id }).first();
			return row && toRecord(row);
		},
		async list<Kind extends TrashRecord['kind']>(options: ListOptions & { kind?: Kind }) {
			const { order, limit, after, pathBytesOver, deletedBy, ...selection } = options;
			const direction = order === 'newest' ? 'desc' : 'asc';
			const passed = passedIndexes(selection);
			const ordered = (rows: Rows): Rows =>
				rows.orderBy(['deleted_at', 'id'].map((column) => ({ column, order: direction })));
			const choose = (rows: Rows, from = after, until?: TrashKey): Rows => {
				if (isMysql(knex) && passed.length > 0) rows.from(knex.raw(`trash ignore index (${passed.join(', ')})`));
				if (from !== undefined) following(rows, from, order);
				if (until !== undefined) keyed(rows, { key: ['deleted_at', 'id'] }, order === 'newest' ? '>=' : '<=', until);
				if (pathBytesOver !== undefined) rows.whereRaw(`${pathBytes} > ?`, [pathBytesOver]);
				if (deletedBy !== undefined) rows.whereRaw(`deleted_by ${deletedBy === 'owner' ? '=' : '<>'} username`);
				return ordered(there(rows));
			};
			const found: TrashRow[] = [];
			if (deletedBy !== undefined && selection.ids === undefined && !isMysql(knex)) {
				// There may be very many of the others between them: SQLite reads on the main thread.
				for (let from = after; found.length < limit; ) {
					const rest = from === undefined ? selected(selection) : following(selected(selection), from, order);
					const end = await ordered(rest)
						.offset(summedAtOnce - 1)
						.first('deleted_at', 'id');
					const left = limit - found.length;
					const begin = from;
					found.push(...(await readInParts((all) => choose(selected(selection, all), begin, end).limit(left))));
					if (end === undefined) break;
					from = { deletedAt: end.deleted_at, id: end.id };
					await ownTurn();
				}
			} else
				for (const ids of selection.ids === undefined ? [undefined] : batches(selection.ids))
					found.push(
						...(await readInParts((all) => {
							const rows = selected(selection, all);
							return choose(ids === undefined ? rows : rows.whereIn('id', ids)).limit(limit);
						})),
					);
			return found.slice(0, limit).map(toRecord) as Extract<TrashRecord, { kind: Kind }>[];
		},
		async known(ids) {
			const found = await forEachPart({ ids }, (rows): Promise<string[]> => rows.pluck('id'));
			return found.flat();
		},
		async count(ownerId, kind) {
			const counts = await summed(
				{ ownerId, kind },
				(rows): Promise<Record<string, number | string | null>[]> =>
					rows
						.count({ items: '*' })
						.select(knex.raw(`sum(${pathBytes}) as bytes`))
						.select({ by: 'deleted_by' }, knex.raw('deleted_by = username as own'))
						.groupBy('by', 'own'),
			);
			const count = { items: 0, pathBytes: 0 };
			const ofOthers = new Map<string, TrashCount>();
			for (const { items, bytes, by, own } of counts) {
				const name = String(by);
				const ofOther = ofOthers.get(name) ?? { items: 0, pathBytes: 0 };
				if (Number(own) === 0) ofOthers.set(name, ofOther);
				for (const sum of Number(own) === 0 ? [count, ofOther] : [count]) {
					sum.items += Number(items);
					sum.pathBytes += Number(bytes ?? 0);
				}
			}
			return { ...count, ofOthers };
		},
		async totals(selection) {
			const sums = await summed(
				selection,
				(rows): Promise<Record<string, number | null>[]> =>
					rows.sum({ bytes: 'bytes', entries: 'entries' }).count({ measured: 'bytes', all: '*' }),
			);
			const totals = { bytes: 0, entries: 0, unmeasured: 0 };
			for (const row of sums) {
				totals.bytes += Number(row.bytes ?? 0);
				totals.entries += Number(row.entries ?? 0);
				totals.unmeasured += Number(row.all) - Number(row.measured);
			}
			return totals;
		},
		async inState(state, { limit, until, skip = 0 }) {
			const found = await readInParts((all) => {
				const rows = all.where({ state });
				if (until !== undefined) rows.where('state_at', '<=', until);
				return rows.orderBy(['state_at', 'id']).limit(limit).offset(skip);
			});
			return found.map(toRecord);
		},
		async settle(ids, from) {
			return writeEachPart(
				{ ids },
				(rows): Promise<number> =>
					rows
						.whereRaw(`${plain}state = ?`, [from])
						.where((settled) => settled.whereNull('version_of').orWhereRaw('version_of <> replaced_id'))
						.update(inState('kept')),
			);
		},
		async beginLeaving(id) {
			return (await trash().where({ id }).whereNot('state', 'purging').update(inState('leaving'))) > 0;
		},
		async beginPurging(selection, { forgetsPaths = false } = {}) {
			const empty = (column: 'path' | 'folder') => knex.raw(`case when version_of is null then ${column} else '' end`);
			const change = {
				...inState('purging'),
				...(forgetsPaths ? { path: empty('path'), folder: empty('folder') } : {}),
			};
			return writeEachPart(selection, (rows): Promise<number> => rows.whereNot('state', 'purging').update(change));
		},
		async setType(id, type) {
			await trash().where({ id }).update(plainRow({ type }));
		},
		async setSizes(sizes) {
			for (const part of batches([...sizes])) {
				const byId = (column: 'bytes' | 'entries') =>
					knex.raw(
						`case id ${part.map(() => 'when ? then ?').join(' ')} end`,
						part.flatMap(([id, size]) => [id, size[column]]),
					);
				const ids = part.map(([id]) => id);
				await trash()
					.whereIn('id', ids)
					.update({ bytes: byId('bytes'), entries: byId('entries') });
			}
		},
		async setRoot(id, rootId) {
			const row = plainRow({ root_id: rootId });
			return (await trash().where({ id }).update(row)) > 0;
		},
		async remove(ids) {
			await writeEachPart({ ids }, (rows): Promise<number> => rows.delete());
		},
	};
}

/**
 * Indexes in which rows have the order of a list, and between them those of others, or very many versions: MariaDB would take one for its
 * order, however many rows it has to read past.
 */
function passedIndexes({ ids, ownerId, rootId, kind }: TrashSelection): string[] {
	if (ids !== undefined || (ownerId === undefined && rootId === undefined)) return [];
	return ownerId !== undefined && kind === 'item' ? ['trash_deleted', 'trash_user_deleted'] : ['trash_deleted'];
}

const there = (rows: Rows) => rows.whereNot('state', 'purging');

/** Where a row is in the order of an index. */
type TrashKey = Readonly<Record<string, string | number>>;

/** Rows that lie together in an index, and its columns that give each of them a place of its own there. */
interface TrashRange {
	rows(all: Rows): Rows;
	key: readonly string[];
}

/** The ranges of indexes that are what is chosen; none for what needs other conditions. */
function rangesOf({ ownerId, rootId, kind, ...others }: TrashSelection): TrashRange[] {
	if (Object.values(others).some((value) => value !== undefined)) return [];
	if (ownerId === undefined) {
		if (rootId === undefined || kind !== undefined) return [];
		return [{ rows: (all) => all.where('root_id', rootId), key: ['deleted_at', 'rowid'] }];
	}
	if (rootId !== undefined) return [];
	const own = (all: Rows) => all.where('user_id', ownerId);
	const items: TrashRange = { rows: (all) => own(all).whereNull('version_of'), key: ['deleted_at', 'id'] };
	const versions: TrashRange = {
		rows: (all) => own(all).whereNotNull('version_of'),
		key: ['version_of', 'deleted_at', 'id'],
	};
	return [...(kind === 'version' ? [] : [items]), ...(kind === 'item' ? [] : [versions])];
}

/** The rows before or behind a place in the index; all where it is left out. */
function keyed(
	rows: Rows,
	{ key }: Pick<TrashRange, 'key'>,
	operator: '>' | '<=' | '>=',
	at: TrashKey | undefined,
): Rows {
	if (at === undefined) return rows;
	const values = key.map((column) => at[column] as string | number);
	return rows.whereRaw(`(${key.join(', ')}) ${operator} (${key.map(() => '?').join(', ')})`, values);
}

/** The place of the last row of a full page; undefined if there are fewer. */
async function pageEnd(rows: Rows, { key }: TrashRange): Promise<TrashKey | undefined> {
	return rows
		.orderBy([...key])
		.offset(summedAtOnce - 1)
		.first(...key);
}

function following(
	rows: Rows,
	{ deletedAt, id }: Pick<TrashRecord, 'deletedAt' | 'id'>,
	order: 'newest' | 'oldest',
): Rows {
	const [beyond, orAt] = order === 'newest' ? ['<', '<='] : ['>', '>='];
	// The first condition is what an index can begin at.
	return rows
		.where('deleted_at', orAt, deletedAt)
		.where((next) => next.where('deleted_at', beyond, deletedAt).orWhere('id', beyond, id));
}

function toRow(record: TrashRecord, stateAt: number): TrashRow {
	return {
		id: record.id,
		user_id: record.ownerId,
		username: record.ownerName,
		root_id: record.rootId,
		path: record.path,
		type: record.type,
		bytes: record.size?.bytes ?? null,
		entries: record.size?.entries ?? null,
		deleted_at: record.deletedAt,
		deleted_by: record.deletedBy,
		state: record.state,
		state_at: stateAt,
		...(record.kind === 'item' ? noVersion : versionColumns(record)),
	};
}

export const noVersion = {
	version_of: null,
	replaced_id: null,
	mtime: null,
	folder: null,
	written_by: null,
	next_item: null,
	next_by: null,
};

function versionColumns({ versionOf, replacedId, mtime, path, writtenBy, next }: FileVersion) {
	return {
		version_of: versionOf,
		replaced_id: replacedId,
		mtime,
		folder: parentPath(path),
		written_by: writtenBy ?? null,
		next_item: next?.item ?? null,
		next_by: next?.writtenBy ?? null,
	};
}

export function toRecord(row: TrashRow): TrashRecord {
	const { bytes, entries, version_of: versionOf, replaced_id: replacedId, mtime } = row;
	const size = bytes === null || entries === null ? undefined : { bytes, entries };
	const kept = {
		id: row.id,
		ownerId: row.user_id,
		ownerName: row.username,
		rootId: row.root_id,
		// It was parsed before it was kept.
		path: row.path as StoragePath,
		deletedAt: row.deleted_at,
		deletedBy: row.deleted_by,
		state: row.state as TrashState,
	};
	if (versionOf === null || replacedId === null || mtime === null || size === undefined)
		return { ...kept, kind: 'item', type: row.type as TrashedItem['type'], size };
	const { written_by: writtenBy, next_item: item, next_by: by } = row;
	return {
		...kept,
		kind: 'version',
		type: 'file',
		size,
		mtime,
		versionOf,
		replacedId,
		...(writtenBy === null ? {} : { writtenBy }),
		...(item === null || by === null ? {} : { next: { item, writtenBy: by } }),
	};
}
