import type { Knex } from 'knex';
import { isMysql } from '../connection/dialect.js';

/** Whether an earlier attempt at a step has made this index. */
export async function hasIndex(knex: Knex, table: string, index: string): Promise<boolean> {
	if (isMysql(knex)) {
		const [rows] = await knex.raw('show index from ?? where key_name = ?', [table, index]);
		return rows.length > 0;
	}
	return (await knex('sqlite_master').where({ type: 'index', name: index }).first('name')) !== undefined;
}
