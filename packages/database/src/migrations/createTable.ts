import type { Knex } from 'knex';
import { isMysql } from '../connection/dialect.js';

/**
 * Creates a table unless it exists, completely or not at all. Texts compare byte for byte on every database. Name indexes and foreign
 * keys: MySQL requires the keys' names to be unique in the whole database.
 */
export async function createTable(
	knex: Knex,
	name: string,
	build: (table: Knex.CreateTableBuilder) => void,
): Promise<void> {
	if (await knex.schema.hasTable(name)) return;
	if (!isMysql(knex)) {
		await knex.schema.createTable(name, build);
		return;
	}
	// knex adds indexes and keys by further statements, and MySQL commits each: a cut between them would leave half a table behind.
	const unfinished = `${name}_unfinished`;
	const collation = await exactCollation(knex);
	await knex.schema.dropTableIfExists(unfinished);
	await knex.schema.createTable(unfinished, (table) => {
		table.engine('InnoDB');
		table.charset('utf8mb4');
		table.collate(collation);
		build(table);
	});
	await knex.schema.renameTable(unfinished, name);
}

/** The collation that distinguishes all texts that differ, trailing spaces too: utf8mb4_bin does not. */
export async function exactCollation(knex: Knex): Promise<string> {
	const [[row]] = await knex.raw('select version() as version');
	return String(row.version).includes('MariaDB') ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin';
}
