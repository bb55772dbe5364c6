import test from 'ava';
import { fileTeardown } from '../fileTeardown.js';
import { type JobPair, jobPair, stopBoth } from '../jobServers.js';
import { renameAgainstMoveInside } from './linkRaces.js';
import { oneKeyAtBoth } from './uploadKeys.js';

const shared = fileTeardown();
let pair: JobPair;
test.before(async () => {
	pair = await jobPair(shared);
});

test.serial('a link is kept while two processes move its file and the folder above it', (t) =>
	renameAgainstMoveInside(t, 15, pair),
);

test.serial('an upload that comes to two processes at once under one key is one upload', (t) =>
	oneKeyAtBoth(t, 20, pair),
);

test.serial('both processes end as they are asked to', (t) => stopBoth(t, pair));
