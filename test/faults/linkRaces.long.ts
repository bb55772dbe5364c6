import test from 'ava';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import { jobPair, stopBoth } from '../jobServers.js';
import { renameAgainstMoveInside } from './linkRaces.js';

test.serial('a link leads to its file after each of 1,000 races of a rename and a move at two processes', async (t) => {
	const pair = await jobPair(t);
	await renameAgainstMoveInside(t, 1000, pair);
	await stopBoth(t, pair);
});

test.serial(
	'a link leads to its file after each of 1,000 races of a rename and a move at two processes, on MariaDB',
	async (t) => {
		const mariadb = await startMariadb();
		t.teardown(() => mariadb.close());
		const pair = await jobPair(t, await mariadb.createDatabase());
		await renameAgainstMoveInside(t, 1000, pair);
		await stopBoth(t, pair);
	},
);
