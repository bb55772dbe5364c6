import test from 'ava';
import { startMariadb } from '../packages/database/test/mariadb.js';
import { fillHome } from './quotaAcross.js';

const small = { quota: 48, connections: 12, overshoot: 1, refusable: 12, largest: 2048 };

test('two servers over one SQLite file keep a quota together', (t) => fillHome(t, { servers: 2, ...small }));

test('the processes of one server keep a quota together, and with another server over MariaDB', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(mariadb.close);
	await fillHome(t, { servers: 2, flags: ['--workers', '2'], ...small }, await mariadb.createDatabase());
});
