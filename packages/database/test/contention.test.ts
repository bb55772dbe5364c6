import { openDatabase } from '@stowage/database';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { runProgram, startProgram } from './program.js';
import { temporaryFolder } from './temporaryFolder.js';

test('several processes that begin with an empty folder migrate once, and count each try once', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const url = `sqlite:${folder.path}/stowage.db`;
	const ends = await Promise.all([1, 2, 3, 4].map(() => runProgram('countTries', url, '50')));
	for (const end of ends) t.is(end.code, 0, end.errors);
	const counts = ends.flatMap((end) => end.lines.map(Number)).sort((a, b) => a - b);
	t.deepEqual(
		counts,
		Array.from({ length: 200 }, (_, index) => index + 1),
	);
});

test('two databases on one file in one process do not wait for each other forever', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const url = `sqlite:${folder.path}/stowage.db`;
	const [one, two] = await Promise.all([openDatabase(url), openDatabase(url)]);
	const tries = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? one : two).limits.hit('key', 60_000, 1000));
	const counts = (await Promise.all(tries)).map(({ count }) => count).sort((a, b) => a - b);
	t.deepEqual(
		counts,
		Array.from({ length: 40 }, (_, index) => index + 1),
	);
	await one.close();
	await two.close();
});

test('a file that another program locks for a moment is waited for, without blocking the process', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const path = `${folder.path}/stowage.db`;
	const db = await openDatabase(`sqlite:${path}`);
	t.teardown(db.close);
	const holder = startProgram('holdLock', path, '2500');
	await holder.spoke;
	const lag = longestLag();
	await db.users.add({ username: 'alice', secret: 's' });
	const milliseconds = lag.stop();
	// Blocked, it would have stood still for as long as the lock was held.
	t.true(milliseconds < 2000, `${milliseconds} ms`);
	t.is((await holder.end).code, 0);
	t.truthy(await db.users.find('alice'));
});

test('a file that stays locked is unavailable after a while, and works again afterwards', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const path = `${folder.path}/stowage.db`;
	const db = await openDatabase(`sqlite:${path}`);
	t.teardown(db.close);
	const holder = startProgram('holdLock', path, '7000');
	await holder.spoke;
	const failure = await t.throwsAsync(() => db.users.add({ username: 'alice', secret: 's' }));
	t.true(isFailure(failure, 'unavailable'), String(failure));
	await db.ping();
	await holder.end;
	await db.users.add({ username: 'alice', secret: 's' });
	t.truthy(await db.users.find('alice'));
});

function longestLag(): { stop(): number } {
	let last = performance.now();
	let longest = 0;
	const timer = setInterval(() => {
		const now = performance.now();
		longest = Math.max(longest, now - last - 10);
		last = now;
	}, 10);
	return {
		stop() {
			clearInterval(timer);
			return Math.round(longest);
		},
	};
}
