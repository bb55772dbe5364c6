import type { Knex } from 'knex';
import { isMysql } from '../connection/dialect.js';
import { ownTurn } from '../connection/ownTurn.js';

/** Rows that one statement changes: SQLite does so on the main thread, where 500,000 would take seconds. */
export const rowsAtOnce = 200;

/** Some of the rows of a table that `choose` chooses, to be changed or deleted. */
export function someRows(
	knex: Knex,
	table: string,
	choose: (rows: Knex.QueryBuilder) => Knex.QueryBuilder,
): Knex.QueryBuilder {
	const some = choose(knex(table)).limit(rowsAtOnce);
	// MySQL has no limit in a subquery, SQLite none in a change.
	return isMysql(knex) ? some : knex(table).whereIn('rowid', some.select('rowid'));
}

/**
 * Repeats a change of `someRows`, or of `rowsAtOnce` rows, after which they are chosen no more, until it has changed all: others have
 * their turns between, and write.
 */
export async function changeInParts(change: () => Promise<number>): Promise<number> {
	let changed = 0;
	for (;;) {
		const some = await change();
		changed += some;
		if (some < rowsAtOnce) return changed;
		await ownTurn();
	}
}

/** Deletes the rows of a table that `choose` chooses, however many they are. Resolves to their number. */
export function deleteInParts(
	knex: Knex,
	table: string,
	choose: (rows: Knex.QueryBuilder) => Knex.QueryBuilder,
): Promise<number> {
	return changeInParts(() => someRows(knex, table, choose).delete());
}

/**
 * Deletes the chosen rows with the least values of a column where these are more than so many; an index has what is chosen in the order
 * of the column. Resolves to their number.
 */
export async function keepLatest(
	knex: Knex,
	{ table, column, most }: { table: string; column: string; most: number },
	choose: (rows: Knex.QueryBuilder) => Knex.QueryBuilder = (rows) => rows,
): Promise<number> {
	const chosen = choose(knex(table)).where(column, '>=', 0);
	const [latest] = await chosen.orderBy(column, 'desc').offset(most).limit(1).pluck(column);
	if (latest === undefined) return 0;
	return deleteInParts(knex, table, (rows) => choose(rows).where(column, '<=', latest));
}
