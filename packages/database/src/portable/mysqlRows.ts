import type { Knex } from 'knex';
import { bytesExpression, pageRows, rowsAtOnce } from './pages.js';
import type { Row, Value } from './Row.js';

/** The rows of a table in batches, in the order of its primary key. */
export async function* mysqlRows(knex: Knex, table: string): AsyncGenerator<Row[]> {
	const [found] = (await knex.raw(
		"select column_name as name from information_schema.key_column_usage where table_schema = database() and table_name = ? and constraint_name = 'PRIMARY' order by ordinal_position",
		[table],
	)) as [{ name: string }[]];
	const [all] = (await knex.raw(
		'select column_name as name from information_schema.columns where table_schema = database() and table_name = ?',
		[table],
	)) as [{ name: string }[]];
	const key = found.map(({ name }) => name);
	const columns = all.map(({ name }) => name);
	const bytes = knex.raw(bytesExpression(columns.map(() => '??')), columns);
	for (let last: Row | undefined; ; ) {
		const after = last;
		const next = (count: number) => {
			const page = knex<Record<string, Value>>(table)
				.orderBy(key.map((column) => ({ column })))
				.limit(count);
			if (after === undefined) return page;
			const names = key.map(() => '??').join(', ');
			const values = key.map(() => '?').join(', ');
			return page.whereRaw(`(${names}) > (${values})`, [...key, ...key.map((column) => after[column] ?? null)]);
		};
		const sizes = await next(pageRows).select({ bytes });
		if (sizes.length === 0) return;
		const count = rowsAtOnce(sizes.map((row) => Number(row.bytes)));
		const rows = ((await next(count).select('*')) as Row[]).map((row) => ({ ...row }));
		yield rows;
		if (sizes.length < pageRows && count === sizes.length) return;
		last = rows.at(-1);
	}
}
