import test from 'ava';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import { jobPair, stopBoth } from '../jobServers.js';
import { oneKeyAtBoth } from './uploadKeys.js';

test.serial('each of 100 uploads sent to two processes at once under one key is stored once', async (t) => {
	const pair = await jobPair(t);
	await oneKeyAtBoth(t, 100, pair);
	await stopBoth(t, pair);
});

test.serial('each of 100 uploads sent to two processes at once under one key is stored once, on MariaDB', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(() => mariadb.close());
	const pair = await jobPair(t, await mariadb.createDatabase());
	await oneKeyAtBoth(t, 100, pair);
	await stopBoth(t, pair);
});
