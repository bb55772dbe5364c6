import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '@stowage/database';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import type { Knex } from 'knex';
import mysql from 'mysql2/promise';
import { isOfDatabase, translated } from '../src/connection/errors.js';
import { connectPatiently, openMysql } from '../src/connection/mysql/openMysql.js';
import { parseDatabaseUrl } from '../src/connection/target.js';
import { type MariaDb, startMariadb } from './mariadb.js';

let mariadb: MariaDb;

test.before(async () => {
	mariadb = await startMariadb();
});

test.after.always(() => mariadb?.close());

for (const [how, end] of [
	['stopped', () => mariadb.stop()],
	['killed', () => mariadb.kill()],
] as const) {
	for (const way of ['TCP', 'a socket']) {
		test.serial(
			`calls through ${way} to a server that was ${how} fail as unavailable, and work again after its start`,
			async (t) => {
				const url = await mariadb.createDatabase({ socket: way === 'a socket' });
				const db = await openDatabase(url);
				t.teardown(db.close);
				await db.users.add({ username: 'alice', secret: 's' });
				await end();
				await unavailable(t, () => db.ping());
				await unavailable(t, () => db.users.find('alice'));
				await unavailable(t, () => db.users.add({ username: 'bob', secret: 's' }));
				await unavailable(t, () => db.limits.hit('key', 1000, 1));
				await unavailable(t, () => openDatabase(url));
				await mariadb.start();
				await db.ping();
				t.truthy(await db.users.find('alice'));
				await db.users.add({ username: 'bob', secret: 's' });
				t.is((await db.users.list()).length, 2);
			},
		);
	}
}

test.serial(
	'a server that has no connection left makes calls wait for one, and refuses them after some seconds',
	async (t) => {
		const url = await mariadb.createDatabase();
		const db = await openDatabase(url);
		t.teardown(db.close);
		await mariadb.run(`alter user stowage@'%' with max_user_connections 2`);
		t.teardown(() => mariadb.run(`alter user stowage@'%' with max_user_connections 0`));
		const names = Array.from({ length: 30 }, (_, n) => `user${n}`);
		await Promise.all(names.map((username) => db.users.add({ username, secret: 's' })));
		t.is((await db.users.list()).length, names.length);
		await unavailable(t, () => openDatabase(url));
	},
);

test.serial(
	'every acknowledged write survives a kill of the server under load, and other writes fail as unavailable',
	async (t) => {
		const db = await openDatabase(await mariadb.createDatabase());
		t.teardown(db.close);
		const acknowledged: string[] = [];
		let isOver = false;
		const writer = async (number: number) => {
			for (let count = 0; !isOver; count++) {
				const username = `user${number}-${count}`;
				try {
					await db.users.add({ username, secret: 's' });
					acknowledged.push(username);
				} catch (error) {
					t.true(isFailure(error, 'unavailable'), String(error));
				}
			}
		};
		const writers = [1, 2, 3, 4].map(writer);
		while (acknowledged.length < 100) await db.ping();
		await mariadb.kill();
		await mariadb.start();
		await db.ping();
		isOver = true;
		await Promise.all(writers);
		const names = new Set((await db.users.list()).map((user) => user.username));
		t.deepEqual(
			acknowledged.filter((name) => !names.has(name)),
			[],
		);
	},
);

test.serial('a call to a server that does not answer fails as unavailable after a timeout', async (t) => {
	const db = await openDatabase(await mariadb.createDatabase());
	t.teardown(db.close);
	await db.users.add({ username: 'alice', secret: 's' });
	await mariadb.freeze();
	try {
		await unavailable(t, () => db.users.find('alice'));
	} finally {
		mariadb.thaw();
	}
	t.truthy(await db.users.find('alice'));
});

test.serial('a server can be asked whether it works while all other connections wait', async (t) => {
	const url = await mariadb.createDatabase();
	const db = await openDatabase(url);
	t.teardown(db.close);
	const locking = await mysql.createConnection({ uri: url });
	await locking.query('lock tables users write');
	const waiting = Array.from({ length: 12 }, () => db.users.find('alice'));
	const first = await Promise.race([...waiting, db.ping().then(() => 'it works')]);
	await locking.end();
	t.is(first, 'it works');
	await Promise.all(waiting);
});

test.serial('a process that stood still itself takes no server for dead that has answered meanwhile', async (t) => {
	const url = await mariadb.createDatabase();
	const db = await openDatabase(url);
	t.teardown(db.close);
	const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
	const found = db.users.find('alice');
	// The statement is on its way.
	await new Promise(setImmediate);
	standStill(10_500);
	t.is(await found, undefined);
	const opening = openDatabase(url);
	await new Promise(setImmediate);
	standStill(5500);
	await (await opening).close();
});

test.serial('a connection that is broken off before it is established is asked for again', async (t) => {
	const url = new URL(await mariadb.createDatabase());
	let broken = 0;
	const front = createServer((socket) => {
		socket.on('error', () => {});
		if (broken++ < 2) return void socket.resetAndDestroy();
		const server = connect(Number(url.port), url.hostname).on('error', () => socket.destroy());
		socket.pipe(server).pipe(socket);
	}).listen(0, '127.0.0.1');
	await once(front, 'listening');
	t.teardown(() => void front.close());
	const there = Object.assign(new URL(url), { host: `127.0.0.1:${(front.address() as AddressInfo).port}` });
	const db = await openDatabase(there.href);
	t.teardown(db.close);
	await db.ping();
	t.true(broken > 2);
});

for (const [what, kill] of [
	['a statement', 'kill query'],
	['a connection in the middle of a statement', 'kill'],
] as const) {
	test.serial(`${what} that the administrator kills fails as unavailable`, async (t) => {
		const url = await mariadb.createDatabase();
		const db = await openDatabase(url);
		t.teardown(db.close);
		const locking = await mysql.createConnection({ uri: url });
		await locking.query('lock tables users write');
		const waiting = unavailable(t, () => db.users.add({ username: 'alice', secret: 's' }));
		const [id] = await eventually(() => connectionsOf(url, 'waiting'));
		await mariadb.run(`${kill} ${id}`);
		await waiting;
		await locking.end();
		await db.users.add({ username: 'alice', secret: 's' });
		t.is((await db.users.list()).length, 1);
	});
}

test.serial('calls after idle connections were killed work again, and fail as unavailable before', async (t) => {
	const url = await mariadb.createDatabase();
	const db = await openDatabase(url);
	t.teardown(db.close);
	for (let round = 1; round <= 5; round++) {
		await Promise.all([1, 2, 3].map((n) => db.users.add({ username: `user${round}-${n}`, secret: 's' })));
		const idle = await connectionsOf(url);
		t.true(idle.length > 0);
		await mariadb.run(idle.map((id) => `kill ${id}`).join('; '));
		await eventually(async () => {
			try {
				await db.users.list();
				return ['works'];
			} catch (error) {
				t.true(isFailure(error, 'unavailable'), String(error));
				return [];
			}
		});
	}
});

/** What a server says, and what the calls of the stores fail with. */
const answers = [
	[1927, '70100', 'Connection was killed', 'unavailable'],
	[1969, '70100', 'Query execution was interrupted (max_statement_time exceeded)', 'unavailable'],
	[3024, 'HY000', 'Query execution was interrupted, maximum statement execution time exceeded', 'unavailable'],
	[1053, '08S01', 'Server shutdown in progress', 'unavailable'],
	[1158, '08S01', 'Got an error reading communication packets', 'unavailable'],
	[1836, 'HY000', 'Running in read-only mode', 'unavailable'],
	[3101, '40000', 'Plugin instructed the server to rollback the current transaction.', 'unavailable'],
	[1180, 'HY000', 'Got error 6 "No such device or address" during COMMIT', 'unavailable'],
	[1180, 'HY000', 'Got error 28 "No space left on device" during COMMIT', 'storageFull'],
	[1026, 'HY000', 'Error writing file \'/log/bin\' (errno: 28 "No space left on device")', 'storageFull'],
	[1026, 'HY000', 'Fehler beim Schreiben der Datei \'/log/bin\' (Fehler: 28 "No space left on device")', 'storageFull'],
	[1026, 'HY000', "Error writing file '/log/bin' (OS errno 28 - No space left on device)", 'storageFull'],
	[1026, 'HY000', 'Error writing file \'/log/bin\' (errno: 122 "Disk quota exceeded")', 'storageFull'],
	[1030, 'HY000', 'Got error 28 "No space left on device" from storage engine InnoDB', 'storageFull'],
	[1030, 'HY000', 'Got error 28 from storage engine', 'storageFull'],
	[3, 'HY000', 'Error writing file \'/tmp/ML\' (Errcode: 28 "No space left on device")', 'storageFull'],
	[1062, '23000', "Duplicate entry 'No space left on device' for key 'username'", 'alreadyExists'],
	// These are so each time.
	[1030, 'HY000', 'Got error 122 "Internal (unspecified) error in handler" from storage engine InnoDB', undefined],
	[1153, '08S01', "Got a packet bigger than 'max_allowed_packet' bytes", undefined],
	[1406, '22001', "Data too long for column 'No space left on device' at row 1", undefined],
	[4025, '23000', 'CONSTRAINT `c` failed', undefined],
] as const;

test.serial(
	'errors of a server are understood by their numbers and states, also where the driver has no name for them',
	async (t) => {
		const connection = await mysql.createConnection({ uri: await mariadb.createDatabase() });
		t.teardown(() => connection.end());
		for (const [errno, state, message, kind] of answers) {
			const error = await t.throwsAsync(() =>
				connection.query(`signal sqlstate '${state}' set mysql_errno = ${errno}, message_text = ?`, [message]),
			);
			t.like(error, { errno, sqlState: state, sqlMessage: message });
			const to = translated(error);
			const text = `${errno} ${message}: ${to}`;
			if (kind === undefined) t.is(to, error, text);
			else t.true(isFailure(to, kind), text);
			t.is(isOfDatabase(to), kind === 'unavailable' || kind === 'storageFull', text);
		}
		const late = await t.throwsAsync(() =>
			connection.query('set statement max_statement_time = 0.1 for select sleep(60)'),
		);
		t.true(isFailure(translated(late), 'unavailable'), String(late));
	},
);

const locks = {
	'a lock of its table': ['lock tables users read'],
	'a lock of the whole server': ['flush tables with read lock'],
	'a lock of a row': ['begin', "update users set is_disabled = 1 where username = 'ada'"],
};

for (const [what, statements] of Object.entries(locks)) {
	test.serial(`a write that is given up as it waits for ${what} has ended at the server, too`, async (t) => {
		const url = await mariadb.createDatabase();
		const db = await openDatabase(url);
		t.teardown(db.close);
		const ada = await db.users.add({ username: 'ada', secret: 's' });
		const locking = await mysql.createConnection({ uri: url });
		t.teardown(() => locking.end());
		for (const statement of statements) await locking.query(statement);
		await Promise.all(Array.from({ length: 12 }, () => unavailable(t, () => db.users.setSecret(ada.id, 'late'))));
		const deadline = performance.now() + 30_000;
		while ((await connectionsOf(url, 'busy')).length > 0 && performance.now() < deadline) await wait(100);
		t.deepEqual(await connectionsOf(url, 'busy'), []);
		await locking.query('rollback');
		await locking.query('unlock tables');
		t.is((await db.users.find('ada'))?.secret, 's');
	});
}

test.serial('the limits of a server are none of long work, and an administrator may have set less', async (t) => {
	const url = await mariadb.createDatabase();
	const target = parseDatabaseUrl(url);
	if (target.kind !== 'mysql') throw new Error('It is a server.');
	const patient = connectPatiently(target.address);
	t.teardown(() => patient.destroy());
	const names = ['lock_wait_timeout', 'innodb_lock_wait_timeout', 'max_statement_time'];
	const limitsOf = async (knex: Knex) => {
		const [[row]] = await knex.raw(`select ${names.map((name) => `@@${name} as ${name}`).join(', ')}`);
		return names.map((name) => Number(row[name]));
	};
	t.deepEqual(await limitsOf(patient), [86_400, 50, 0]);
	const knex = await openMysql(target.address, [], Date.now, 1);
	t.deepEqual(await limitsOf(knex), [8, 8, 9]);
	await knex.destroy();
	await mariadb.run('set global innodb_lock_wait_timeout = 5; set global max_statement_time = 3');
	t.teardown(() => mariadb.run('set global innodb_lock_wait_timeout = 50; set global max_statement_time = 0'));
	const stricter = await openMysql(target.address, [], Date.now, 1);
	t.teardown(() => stricter.destroy());
	t.deepEqual(await limitsOf(stricter), [8, 5, 3]);
});

const whichConnections = { all: '', busy: "and command <> 'Sleep'", waiting: "and state like 'Waiting for%'" };

/** The ids of the connections of the product to a database. */
async function connectionsOf(url: string, which: keyof typeof whichConnections = 'all'): Promise<number[]> {
	const name = new URL(url).pathname.slice(1);
	const rows = await mariadb.query(
		`select id from information_schema.processlist where user = 'stowage' and db = '${name}' ${whichConnections[which]}`,
	);
	return rows.map(({ id }) => Number(id));
}

/** Asks until the answer is not empty. */
async function eventually<T>(ask: () => Promise<T[]>): Promise<T[]> {
	for (;;) {
		const found = await ask();
		if (found.length > 0) return found;
		await wait(20);
	}
}

async function unavailable(t: ExecutionContext, call: () => Promise<unknown>): Promise<void> {
	const error = await t.throwsAsync(call);
	t.true(isFailure(error, 'unavailable'), String(error));
}
