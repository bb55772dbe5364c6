import { openDatabase } from '@stowage/database';
import { allMigrations } from '../../src/migrations/all.js';

/** Opens the database, and kills itself at the n-th statement of the migrations. */
const [url = '', last = '0'] = process.argv.slice(2);
let count = 0;
const counted = new WeakSet<object>();
const migrations = allMigrations.map((migration) => ({
	...migration,
	async up(knex: Parameters<typeof migration.up>[0]) {
		if (!counted.has(knex)) {
			counted.add(knex);
			knex.on('query', () => {
				if (++count === Number(last)) process.kill(process.pid, 'SIGKILL');
			});
		}
		await migration.up(knex);
	},
}));
const db = await openDatabase(url, { migrations });
await db.close();
