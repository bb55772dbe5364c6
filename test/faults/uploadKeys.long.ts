import test from 'ava';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import { oneKeyAtBoth } from './uploadKeys.js';

test.serial('100 uploads that come to two processes at once under one key', oneKeyAtBoth, 100);

test.serial('100 uploads that come to two processes at once under one key, on MariaDB', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(() => mariadb.close());
	await oneKeyAtBoth(t, 100, await mariadb.createDatabase());
});
