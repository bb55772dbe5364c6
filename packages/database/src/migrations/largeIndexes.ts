import type { Knex } from 'knex';
import { isMysql } from '../connection/dialect.js';
import { codeOf } from '../connection/errors.js';
import { hasIndex } from './hasIndex.js';

/** An index of a table that may be large when it is added. */
export interface LargeIndex {
	table: string;
	index: string;
	columns: string;
}

/** A statement that indexes so many rows takes a cluster some tenths of a second. */
const fewRows = 100_000;

/** Adds an index in a migration, but for one that would keep a whole cluster waiting: each of its nodes adds that by itself. */
export async function addIndex(knex: Knex, index: LargeIndex): Promise<void> {
	await addIndexes(knex, [index]);
}

/** Adds several, as `addIndex` does; those of one table at once, in one pass over its rows where the database can. */
export async function addIndexes(knex: Knex, indexes: readonly LargeIndex[]): Promise<void> {
	const missing: LargeIndex[] = [];
	const known = await indexNames(knex);
	for (const each of indexes) if (!known.has(`${each.table} ${each.index}`)) missing.push(each);
	const isCluster = missing.length > 0 && isMysql(knex) && (await isInCluster(knex));
	for (const table of new Set(missing.map((each) => each.table))) {
		if (isCluster && !(await hasFewRows(knex, table))) continue;
		const own = missing.filter((each) => each.table === table);
		if (isMysql(knex)) {
			const added = own.map(({ index, columns }) => `add index ${index} (${columns})`);
			await knex.raw(`alter table ${table} ${added.join(', ')}`);
		} else for (const { index, columns } of own) await knex.raw(`create index ${index} on ${table} (${columns})`);
	}
}

/** The indexes that are there, each behind its table. */
async function indexNames(knex: Knex): Promise<Set<string>> {
	const names: { table: string; name: string }[] = isMysql(knex)
		? (
				await knex.raw(
					'select distinct table_name as `table`, index_name as name from information_schema.statistics where table_schema = database()',
				)
			)[0]
		: await knex('sqlite_master').where({ type: 'index' }).select('name', { table: 'tbl_name' });
	return new Set(names.map(({ table, name }) => `${table} ${name}`));
}

/**
 * Adds the indexes that a migration left out, at the server of this connection alone: the others of its cluster go on,
 * and get theirs when a Stowage starts that uses them. A statement is usually executed at all of them at once, and
 * nothing is written anywhere meanwhile.
 */
export async function addIndexesHere(knex: Knex, indexes: readonly LargeIndex[]): Promise<void> {
	if (indexes.length === 0 || !(await isInCluster(knex))) return;
	for (const { table, index, columns } of indexes) {
		if (await hasIndex(knex, table, index)) continue;
		await knex.raw("set session wsrep_osu_method = 'RSU'");
		try {
			await knex.raw(`create index ${index} on ${table} (${columns})`);
		} catch (error) {
			// Another process of this machine was sooner.
			if (codeOf(error) !== 'ER_DUP_KEYNAME') throw error;
		} finally {
			await knex.raw("set session wsrep_osu_method = 'TOI'");
		}
	}
}

async function isInCluster(knex: Knex): Promise<boolean> {
	const [[variable]] = await knex.raw("show global variables like 'wsrep_on'");
	return variable?.Value === 'ON';
}

async function hasFewRows(knex: Knex, table: string): Promise<boolean> {
	const [rows] = await knex.raw('select 1 from ?? limit ?, 1', [table, fewRows]);
	return rows.length === 0;
}
