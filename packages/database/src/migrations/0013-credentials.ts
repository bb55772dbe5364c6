import type { Knex } from 'knex';
import { createTable } from './createTable.js';

/** The credentials of users, in rows of their own; and the generation that ends all sessions of a user at once. */
export async function addCredentials(knex: Knex): Promise<void> {
	await createTable(knex, 'credentials', (table) => {
		// The id of a password is its user's: there is one, also with concurrent changes.
		table.string('id', 36).primary();
		table.string('user_id', 36).notNullable();
		table.string('kind', 32).notNullable();
		table.text('secret').notNullable();
		table.bigInteger('created_at').notNullable();
		table.index(['user_id', 'kind'], 'credentials_user_id');
		table.foreign('user_id', 'credentials_user').references('id').inTable('users').onDelete('CASCADE');
	});
	for (const name of ['users', 'sessions']) {
		if (await knex.schema.hasColumn(name, 'generation')) continue;
		await knex.schema.alterTable(name, (table) => table.bigInteger('generation').notNullable().defaultTo(0));
	}
	if (!(await knex.schema.hasColumn('users', 'secret'))) return;
	await knex.raw(
		"insert into credentials (id, user_id, kind, secret, created_at) select id, id, 'password', secret, created_at from users where id not in (select id from credentials)",
	);
	await knex.raw('alter table users drop column secret');
}
