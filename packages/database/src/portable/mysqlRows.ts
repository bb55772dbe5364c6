import type { Knex } from 'knex';
import type { Row, Value } from './Row.js';

/** The rows of a table in batches, in the order of its primary key. */
export async function* mysqlRows(knex: Knex, table: string, batchSize: number): AsyncGenerator<Row[]> {
	const [found] = (await knex.raw(
		"select column_name as name from information_schema.key_column_usage where table_schema = database() and table_name = ? and constraint_name = 'PRIMARY' order by ordinal_position",
		[table],
	)) as [{ name: string }[]];
	const key = found.map(({ name }) => name);
	for (let last: Row | undefined; ; ) {
		const page = knex<Record<string, Value>>(table)
			.orderBy(key.map((column) => ({ column })))
			.limit(batchSize);
		const after = last;
		const columns = key.map(() => '??').join(', ');
		const values = key.map(() => '?').join(', ');
		if (after !== undefined)
			page.whereRaw(`(${columns}) > (${values})`, [...key, ...key.map((column) => after[column] ?? null)]);
		const rows = ((await page.select('*')) as Row[]).map((row) => ({ ...row }));
		if (rows.length > 0) yield rows;
		if (rows.length < batchSize) return;
		last = rows.at(-1);
	}
}
