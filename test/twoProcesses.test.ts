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

const title = 'a page hears of downloads, uploads and the end of its session at another process';

test.serial(title, (t) => eventsAcross(t, pair));

test.serial('a link is kept while two processes move its file and the folder above it', (t) =>
	renameAgainstMoveInside(t, 15, pair),
);

test.serial('an upload that comes to two processes at once under one key is one upload', (t) =>
	oneKeyAtBoth(t, 20, pair),
);

test.serial('both processes end as they are asked to', (t) => stopBoth(t, pair));

test(`${title}, over MariaDB`, async (t) => {
	const mariadb = await startMariadb();
	t.teardown(mariadb.close);
	await eventsAcross(t, await jobPair(t, await mariadb.createDatabase()));
});
