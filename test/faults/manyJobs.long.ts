import test from 'ava';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import { runManyJobs } from '../jobServers.js';

test.serial('1,000 jobs over two server processes, one of which is killed in the middle, take effect once each', (t) =>
	runManyJobs(t, 1000),
);

test.serial(
	'1,000 jobs over two server processes on MariaDB, one of which is killed, take effect once each',
	async (t) => {
		const mariadb = await startMariadb();
		t.teardown(() => mariadb.close());
		await runManyJobs(t, 1000, await mariadb.createDatabase());
	},
);
