import { execFile } from 'node:child_process';
import { chmod, readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openDatabase } from '@stowage/database';
import test from 'ava';
import { openSqlite } from '../src/connection/sqlite/openSqlite.js';
import { allMigrations } from '../src/migrations/all.js';
import { runProgram } from './program.js';
import { temporaryFolder } from './temporaryFolder.js';

const run = promisify(execFile);

test('SQLite syncs each commit to the disk, keeps a write-ahead log and checks foreign keys', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const knex = await openSqlite(`${folder.path}/stowage.db`, allMigrations, Date.now);
	t.teardown(() => knex.destroy());
	t.deepEqual(await knex.raw('PRAGMA synchronous'), [{ synchronous: 2 }]);
	t.deepEqual(await knex.raw('PRAGMA journal_mode'), [{ journal_mode: 'wal' }]);
	t.deepEqual(await knex.raw('PRAGMA foreign_keys'), [{ foreign_keys: 1 }]);
});

test('no commit is synced on the main thread', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const log = `${folder.path}/calls`;
	try {
		await run('strace', ['-V']);
	} catch {
		t.log('strace is not installed');
		t.pass();
		return;
	}
	const program = fileURLToPath(new URL('./programs/writeRows.js', import.meta.url));
	const node = [process.execPath, program, `sqlite:${folder.path}/stowage.db`];
	const { stdout } = await run('strace', ['-f', '-o', log, '-e', 'trace=fsync,fdatasync,openat', ...node]);
	const calls = (await readFile(log, 'utf8')).split('\n');
	const afterStart = calls.slice(calls.findIndex((call) => call.includes('writing begins')));
	const syncs = afterStart.filter((call) => /\b(fsync|fdatasync)\(/.test(call));
	t.true(syncs.length >= 20, `${syncs.length} syncs`);
	t.deepEqual(
		syncs.filter((call) => call.startsWith(`${stdout.trim()} `)),
		[],
	);
});

test('a transaction takes the write lock when it begins', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const knex = await openSqlite(`${folder.path}/stowage.db`, allMigrations, Date.now);
	t.teardown(() => knex.destroy());
	const statements: string[] = [];
	knex.on('query', ({ sql }: { sql: string }) => statements.push(sql));
	await knex.transaction((transaction) => transaction('users'));
	t.is(statements[0], 'BEGIN IMMEDIATE;');
});

test('every acknowledged write survives a SIGKILL of the process', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const url = `sqlite:${folder.path}/stowage.db`;
	const end = await runProgram('addAndDie', url, '25');
	t.is(end.signal, 'SIGKILL', end.errors);
	const db = await openDatabase(url);
	t.teardown(db.close);
	const users = await db.users.list();
	t.deepEqual(users.map((user) => user.username).sort(), end.lines.sort());
	t.is(users.length, 25);
});

test('opening restricts the database files to their owner, also those with other modes', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const path = `${folder.path}/deep/er/stowage.db`;
	const before = process.umask(0);
	t.teardown(() => process.umask(before));
	const first = await openDatabase(`sqlite:${path}`);
	const modes = () => Promise.all(['', '-wal', '-shm'].map(async (end) => (await stat(path + end)).mode & 0o777));
	t.deepEqual(await modes(), [0o600, 0o600, 0o600]);
	t.is((await stat(`${folder.path}/deep`)).mode & 0o777, 0o700);
	for (const end of ['', '-wal', '-shm']) await chmod(path + end, 0o666);
	const second = await openDatabase(`sqlite:${path}`);
	t.deepEqual(await modes(), [0o600, 0o600, 0o600]);
	await first.close();
	await second.close();
});

test('the write-ahead log does not grow with the number of writes', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const db = await openDatabase(`sqlite:${folder.path}/stowage.db`);
	t.teardown(db.close);
	const alice = await db.users.add({ username: 'alice', secret: 's' });
	for (let time = 1; time <= 3000; time++) {
		await db.users.setSecret(alice.id, `secret ${time}`);
		await db.users.find('alice');
	}
	const { size } = await stat(`${folder.path}/stowage.db-wal`);
	t.true(size < 5_000_000, `${size} bytes`);
});
