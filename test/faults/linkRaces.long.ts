import test from 'ava';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import { renameAgainstMoveInside } from './linkRaces.js';

test.serial('1,000 races of two processes about a link', renameAgainstMoveInside, 1000);

test.serial('1,000 races of two processes about a link, on MariaDB', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(() => mariadb.close());
	await renameAgainstMoveInside(t, 1000, await mariadb.createDatabase());
});
