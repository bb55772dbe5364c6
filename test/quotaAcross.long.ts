import test from 'ava';
import { startMariadb } from '../packages/database/test/mariadb.js';
import { fillHome } from './quotaAcross.js';

// All that is under way is less than what may be left where an upload is refused.
const gigabyte = { quota: 1024, connections: 32, overshoot: 16, refusable: 128, largest: 3 * 1024 };

test.serial('eight servers over one SQLite file fill a home of a gigabyte, and no further', (t) =>
	fillHome(t, { servers: 8, ...gigabyte }),
);

test.serial('eight workers of one server fill a home of a gigabyte, and no further', (t) =>
	fillHome(t, { servers: 1, flags: ['--workers', '8'], ...gigabyte }),
);

test.serial('eight servers over MariaDB fill a home of a gigabyte, and no further', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(mariadb.close);
	await fillHome(t, { servers: 8, ...gigabyte }, await mariadb.createDatabase());
});
