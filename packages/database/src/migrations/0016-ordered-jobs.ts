import type { Knex } from 'knex';

/** Jobs that the administrator has ordered: their users see them, and do not end them. */
export async function addOrderedJobs(knex: Knex): Promise<void> {
	if (!(await knex.schema.hasColumn('jobs', 'is_ordered')))
		await knex.schema.alterTable('jobs', (table) => table.boolean('is_ordered').notNullable().defaultTo(false));
	await knex('jobs').where({ kind: 'move-root' }).update({ is_ordered: true });
}
