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
export async function addIndex(knex: Knex, { table, index, columns }: LargeIndex): Promise<void> {
	if (await hasIndex(knex, table, index)) return;
	if (isMysql(knex) && (await isInCluster(knex)) && !(await hasFewRows(knex, table))) return;
	await knex.raw(`create index ${index} on ${table} (${columns})`);
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
