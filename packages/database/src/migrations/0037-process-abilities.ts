import type { Knex } from 'knex';

/** What each process can do, and which list of storage roots it has read. */
export async function addProcessAbilities(knex: Knex): Promise<void> {
	const has = (column: string) => knex.schema.hasColumn('processes', column);
	const [hasCapabilities, hasRoots] = [await has('capabilities'), await has('roots')];
	if (hasCapabilities && hasRoots) return;
	await knex.schema.alterTable('processes', (table) => {
		/** JSON: names. */
		if (!hasCapabilities) table.text('capabilities');
		if (!hasRoots) table.string('roots', 64);
	});
}
