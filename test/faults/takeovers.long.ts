import test, { type ExecutionContext } from 'ava';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import {
	beginTooMany,
	type Pair,
	serverPair,
	takeOverKilled,
	takeOverSilent,
	takeOverStopped,
} from '../uploadTakeovers.js';

const rounds = 3;
const maxMs = 5000;

/** Measures the time from the first request at the other process until it writes, on an idle machine. */
async function measure(t: ExecutionContext, database?: string): Promise<void> {
	const pair = await serverPair(t, { database, more: ['--uploads-anonymous-unfinished', '2'] });
	await beginTooMany(t, pair, 2);
	const times = { silent: [] as number[], stopped: [] as number[], killed: [] as number[] };
	for (let n = 0; n < rounds; n++) {
		times.silent.push(await takeOverSilent(t, pair, `silent${n}.bin`));
		times.stopped.push(await takeOverStopped(t, pair, `stopped${n}.bin`));
		times.killed.push(await takeOverKilled(t, pair, `killed${n}.bin`));
		const next: Pair = { ...pair, one: await pair.start() };
		Object.assign(pair, next);
	}
	for (const [kind, each] of Object.entries(times)) {
		t.log(`${kind}: ${each.map((ms) => Math.round(ms)).join(' ')} ms`);
		t.true(Math.max(...each) < maxMs, kind);
	}
}

test.serial('an upload is taken over by another process within five seconds, on SQLite', (t) => measure(t));

test.serial('an upload is taken over by another process within five seconds, on MariaDB', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(mariadb.close);
	await measure(t, await mariadb.createDatabase());
});
