import { openDatabase } from '@stowage/database';
import { allMigrations } from '../../src/migrations/all.js';

/** Opens the database, but is gone when its migrations ask their n-th statement. */
const [url = '', last = '0'] = process.argv.slice(2);
let asked = 0;
const migrations = allMigrations.map((migration) => ({
	...migration,
	async up(knex: Parameters<typeof migration.up>[0]) {
		knex.on('query', () => {
			if (++asked === Number(last)) process.kill(process.pid, 'SIGKILL');
		});
		await migration.up(knex);
	},
}));
const db = await openDatabase(url, { migrations });
await db.close();
