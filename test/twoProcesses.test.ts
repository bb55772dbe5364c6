import test from 'ava';
import { startMariadb } from '../packages/database/test/mariadb.js';
import { eventsAcross } from './eventsAcross.js';
import { renameAgainstMoveInside } from './faults/linkRaces.js';
import { oneKeyAtBoth } from './faults/uploadKeys.js';
import { fileTeardown } from './fileTeardown.js';
import { type JobPair, jobPair, stopBoth } from './jobServers.js';

const shared = fileTeardown();
let pair: JobPair;
test.before(async () => {
	pair = await jobPair(shared);
});

const title = 'a page gets the events of downloads, uploads and the end of its session from another process';

test.serial(title, (t) => eventsAcross(t, pair));

test.serial('a link still leads to its file after two processes have moved the file and the folder above it', (t) =>
	renameAgainstMoveInside(t, 15, pair),
);

test.serial('an upload sent to two processes at once under one key is stored once', (t) => oneKeyAtBoth(t, 20, pair));

test.serial('both processes exit with 0 when asked to stop', (t) => stopBoth(t, pair));

test(`${title}, over MariaDB`, async (t) => {
	const mariadb = await startMariadb();
	t.teardown(mariadb.close);
	await eventsAcross(t, await jobPair(t, await mariadb.createDatabase()));
});
