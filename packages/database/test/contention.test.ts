import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '@stowage/database';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { openSqlite } from '../src/connection/sqlite/openSqlite.js';
import { allMigrations } from '../src/migrations/all.js';
import { runProgram, startProgram } from './program.js';
import { temporaryFolder } from './temporaryFolder.js';

test('processes that start at once with an empty folder migrate it once and count each hit of a limit once', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const url = `sqlite:${folder.path}/stowage.db`;
	const ends = await Promise.all([1, 2, 3, 4].map(() => runProgram('hitLimit', url, '50')));
	for (const end of ends) t.is(end.code, 0, end.errors);
	const counts = ends.flatMap((end) => end.lines.map(Number)).sort((a, b) => a - b);
	t.deepEqual(
		counts,
		Array.from({ length: 200 }, (_, index) => index + 1),
	);
});

test('two databases on one file in one process do not deadlock', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const url = `sqlite:${folder.path}/stowage.db`;
	const [one, two] = await Promise.all([openDatabase(url), openDatabase(url)]);
	const hits = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? one : two).limits.hit('key', 60_000, 1000));
	const counts = (await Promise.all(hits)).map(({ count }) => count).sort((a, b) => a - b);
	t.deepEqual(
		counts,
		Array.from({ length: 40 }, (_, index) => index + 1),
	);
	await one.close();
	await two.close();
});

/** A database whose file another program has locked until that is released. */
async function lockedDatabase(t: ExecutionContext) {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const path = `${folder.path}/stowage.db`;
	const db = await openDatabase(`sqlite:${path}`);
	t.teardown(db.close);
	const holder = startProgram('holdLock', path);
	t.teardown(holder.release);
	await holder.firstOutput;
	return { db, holder };
}

test('a write waits for the lock of another program without blocking the event loop', async (t) => {
	const { db, holder } = await lockedDatabase(t);
	let isAdded = false;
	const adding = db.users.add({ username: 'alice', secret: 's' }).then(() => {
		isAdded = true;
	});
	// Waiting that blocked the event loop would prevent the release of the lock below.
	for (let rounds = 0; rounds < 20; rounds++) await wait(10);
	t.false(isAdded);
	holder.release();
	await adding;
	t.is((await holder.end).code, 0);
	t.truthy(await db.users.find('alice'));
});

test('reads do not wait for writes that wait for the lock', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const path = `${folder.path}/stowage.db`;
	const db = await openDatabase(`sqlite:${path}`);
	t.teardown(db.close);
	const alice = await db.users.add({ username: 'alice', secret: 's' });
	await db.sessions.add('hash', alice);
	const holder = startProgram('holdLock', path);
	t.teardown(holder.release);
	await holder.firstOutput;
	const settled: string[] = [];
	const write = (name: string, work: Promise<unknown>) =>
		work.then(
			() => settled.push(name),
			() => settled.push(`${name} failed`),
		);
	const writes = [
		write('row', db.homes.set('any', 'row')),
		write('transaction', db.limits.hit('key', 60_000, 1000)),
		write('another', db.users.add({ username: 'bob', secret: 's' })),
	];
	t.is((await db.sessions.find('hash', Date.now()))?.user.username, 'alice');
	t.is((await db.users.list()).length, 1);
	t.is(await db.keyValues('any').get('key'), undefined);
	await db.ping();
	t.deepEqual(settled, []);
	holder.release();
	await Promise.all(writes);
	t.is(settled.length, 3);
	const isWritten = settled.includes('another');
	t.is((await db.users.list()).length, isWritten ? 2 : 1, 'a read returns committed writes');
});

test('a read that waited while another program put the file right leaves later reads what is written then', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const path = `${folder.path}/stowage.db`;
	const [one, two] = [await openDatabase(`sqlite:${path}`), await openDatabase(`sqlite:${path}`)];
	t.teardown(one.close);
	t.teardown(two.close);
	await one.users.add({ username: 'alice', secret: 's' });
	t.is((await two.users.list()).length, 1);
	const holder = startProgram('holdRecovery', path);
	t.teardown(holder.release);
	await holder.firstOutput;
	let isRead = false;
	const reading = two.users.list().then(({ length }) => {
		isRead = true;
		return length;
	});
	await wait(200);
	t.false(isRead);
	holder.release();
	t.is((await holder.end).errors, '');
	t.is(await reading, 1);
	await one.users.add({ username: 'bob', secret: 's' });
	t.is((await two.users.list()).length, 2);
});

test('opening an older file waits for the lock of another program, longer than a statement would', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const path = `${folder.path}/stowage.db`;
	await (await openSqlite(path, allMigrations.slice(0, -1), Date.now)).destroy();
	const holder = startProgram('holdLock', path);
	t.teardown(holder.release);
	await holder.firstOutput;
	const opening = openDatabase(`sqlite:${path}`);
	// Longer than the timeout of a statement.
	t.is(await Promise.race([opening.then(() => 'open'), wait(6000, 'waiting')]), 'waiting');
	holder.release();
	const db = await opening;
	t.teardown(db.close);
	t.truthy(await db.users.add({ username: 'alice', secret: 's' }));
});

test('a file whose tables are up to date is opened and read while another program holds its lock', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const path = `${folder.path}/stowage.db`;
	const first = await openDatabase(`sqlite:${path}`);
	await first.users.add({ username: 'alice', secret: 's' });
	await first.close();
	const holder = startProgram('holdLock', path);
	t.teardown(holder.release);
	await holder.firstOutput;
	const db = await openDatabase(`sqlite:${path}`);
	t.teardown(db.close);
	t.truthy(await db.users.find('alice'));
	holder.release();
	t.is((await holder.end).code, 0);
	await db.users.add({ username: 'bob', secret: 's' });
});

test('a process that had no processor time for long has not waited yet for a locked file', async (t) => {
	const { db, holder } = await lockedDatabase(t);
	const adding = db.users.add({ username: 'alice', secret: 's' });
	await wait(50);
	// Longer than a statement waits.
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5500);
	await Promise.race([adding, wait(200)]);
	holder.release();
	await adding;
	t.truthy(await db.users.find('alice'));
});

test('a write to a file that stays locked fails as unavailable, and writes work again after the lock is released', async (t) => {
	const { db, holder } = await lockedDatabase(t);
	const failure = await t.throwsAsync(() => db.users.add({ username: 'alice', secret: 's' }));
	t.true(isFailure(failure, 'unavailable'), String(failure));
	await db.ping();
	holder.release();
	await holder.end;
	await db.users.add({ username: 'alice', secret: 's' });
	t.truthy(await db.users.find('alice'));
});
