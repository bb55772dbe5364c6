import test from 'ava';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import { runManyJobs } from '../jobServers.js';

test('1,000 jobs over two server processes on MariaDB, one of which is killed, take effect once each', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(() => mariadb.close());
	await runManyJobs(t, 1000, await mariadb.createDatabase());
});
