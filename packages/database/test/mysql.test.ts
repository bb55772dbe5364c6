import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { repositoriesSuite } from '@stowage/conformance';
import { checkDatabase, DatabaseError, openDatabase } from '@stowage/database';
import { Failure } from '@stowage/rules';
import test from 'ava';
import type { Knex } from 'knex';
import mysql from 'mysql2/promise';
import { allMigrations, type Migration } from '../src/migrations/all.js';
import { keyHash } from '../src/stores/keyHash.js';
import { type MariaDb, sharedMariadb } from './mariadb.js';

let mariadb: MariaDb;

test.before(async () => {
	mariadb = await sharedMariadb();
	// Defaults of a server that would change the meaning of statements, were they not set for each connection.
	await mariadb.run(`
		set global sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT';
		set global character_set_server = 'latin1';
		set global default_storage_engine = 'MyISAM';
	`);
});

test.after.always(() => mariadb?.close());

let urlOfRules: Promise<string> | undefined;

// One after another, in one database that is emptied after each: creating its tables takes longer than a rule.
repositoriesSuite(test.serial as typeof test, 'MariaDB', async (clock) => {
	urlOfRules ??= mariadb.createDatabase();
	const url = await urlOfRules;
	const db = await openDatabase(url, { now: () => clock.now });
	return {
		db,
		async close() {
			await db.close();
			await emptyTables(url);
		},
	};
});

/** Empties all tables except the list of migrations. */
async function emptyTables(url: string): Promise<void> {
	const connection = await mysql.createConnection({ uri: url, multipleStatements: true });
	const [tables] = await connection.query(
		"select table_name as name from information_schema.tables where table_schema = database() and table_name <> 'migrations'",
	);
	const deletes = (tables as { name: string }[]).map(({ name }) => `delete from \`${name}\`;`);
	// With foreign keys the order of the tables would matter.
	await connection.query(`set foreign_key_checks = 0; ${deletes.join(' ')}`);
	await connection.end();
}

test('the tables are InnoDB with the collation utf8mb4_nopad_bin', async (t) => {
	const url = await mariadb.createDatabase();
	await (await openDatabase(url)).close();
	const rows = await query(
		url,
		'select distinct engine, table_collation as collation from information_schema.tables where table_schema = database()',
	);
	t.deepEqual(rows, [{ engine: 'InnoDB', collation: 'utf8mb4_nopad_bin' }]);
});

test('a text that is too long is refused, not truncated', async (t) => {
	const db = await openDatabase(await mariadb.createDatabase());
	t.teardown(db.close);
	await t.throwsAsync(() => db.users.add({ username: 'a'.repeat(256), secret: 's' }));
	t.deepEqual(await db.users.list(), []);
});

test('a database error does not contain the values of its statement', async (t) => {
	const db = await openDatabase(await mariadb.createDatabase());
	t.teardown(db.close);
	const error = await t.throwsAsync(() => db.users.add({ username: 'a'.repeat(256), secret: 'hunter2' }));
	t.false(JSON.stringify(error, Object.getOwnPropertyNames(error)).includes('hunter2'));
});

test('concurrent first starts run each migration once', async (t) => {
	const url = await mariadb.createDatabase();
	const opened = await Promise.all([1, 2, 3, 4].map(() => openDatabase(url)));
	await Promise.all(opened.map((db, number) => db.users.add({ username: `user${number}`, secret: 's' })));
	for (const db of opened) await db.close();
	t.is((await query(url, 'select name from migrations')).length, allMigrations.length);
});

test('users from before the migration to quotas have the quotas of the configuration', async (t) => {
	const url = await mariadb.createDatabase();
	await (await openDatabase(url, { migrations: allMigrations.slice(0, 5) })).close();
	await query(
		url,
		"insert into users (id, username, username_folded, secret, is_disabled, created_at) values ('1', 'ada', 'ada', 's', 0, 1)",
	);
	const { users, close } = await openDatabase(url);
	t.teardown(close);
	t.deepEqual(await users.quota('1'), { bytes: null, entries: null });
	await users.setQuota('1', { bytes: 2 ** 45, entries: 7 });
	t.deepEqual(await users.quota('1'), { bytes: 2 ** 45, entries: 7 });
});

test('a first start that is interrupted at any statement is completed by the next start', async (t) => {
	const url = await mariadb.createDatabase();
	let interruptions = 0;
	for (let step = 1; step <= allMigrations.length; step++) {
		// Each start also completes the one before, which was interrupted a statement earlier.
		for (let last = 1; await isInterruptedAt(url, allMigrations.slice(0, step), last); last++) interruptions++;
	}
	t.true(interruptions > 40, `${interruptions} interruptions`);
	const db = await openDatabase(url);
	t.teardown(db.close);
	const alice = await db.users.add({ username: 'alice', secret: 's' });
	await db.sessions.add('hash', alice);
	await db.users.remove(alice.id);
	t.is(await db.sessions.find('hash', Date.now()), undefined);
	await t.throwsAsync(() => db.sessions.add('hash', alice), { message: /no longer there/ });
	const whole = await mariadb.createDatabase();
	await (await openDatabase(whole)).close();
	const columns = (schema: string) =>
		query(
			schema,
			'select table_name, column_name, column_type, is_nullable from information_schema.columns where table_schema = database() order by 1, 2',
		);
	const indexes = (schema: string) =>
		query(
			schema,
			'select table_name, index_name, seq_in_index, column_name, non_unique from information_schema.statistics where table_schema = database() order by 1, 2, 3',
		);
	t.deepEqual(await columns(url), await columns(whole));
	t.deepEqual(await indexes(url), await indexes(whole));
});

test('the deleted items of a user are listed and summed without their versions', async (t) => {
	const url = await mariadb.createDatabase();
	await (await openDatabase(url)).close();
	const columns =
		'id, user_id, username, root_id, path, type, bytes, entries, deleted_at, deleted_by, state, state_at, version_of, replaced_id, mtime, folder';
	await query(
		url,
		`insert into trash (${columns}) select lpad(seq, 32, '0'), 'ada', 'ada', 'r', 'a', 'file', 1, 1, seq, 'ada', 'kept', 1,
			if(seq > 3000, null, concat('f', seq)), if(seq > 3000, null, 'x'), 1, '' from seq_1_to_3300`,
	);
	await query(url, 'analyze table trash');
	const items = "from trash where user_id = 'ada' and version_of is null and not state = 'purging'";
	for (const sql of [
		`select * ${items} order by deleted_at, id limit 200`,
		`select * ${items} and deleted_at <= 3200 order by deleted_at desc, id desc limit 200`,
		`select sum(bytes), sum(entries), count(bytes), count(*) ${items}`,
	]) {
		const plan = JSON.stringify(await query(url, `explain ${sql}`));
		t.true(plan.includes('"key":"trash_user_kind"') && !plan.includes('filesort'), plan);
	}
});

// No other test reads anything meanwhile.
test.serial('a page of deleted items is read without the newer versions of their user, or of others', async (t) => {
	const url = await mariadb.createDatabase();
	const db = await openDatabase(url);
	t.teardown(db.close);
	const columns =
		'id, user_id, username, root_id, path, type, bytes, entries, deleted_at, deleted_by, state, state_at, version_of, replaced_id, mtime, folder';
	for (const [name, first, last] of [
		['ada', 1, 10_000],
		['bob', 10_001, 16_000],
	] as const)
		await query(
			url,
			`insert into trash (${columns}) select lpad(seq, 32, '0'), '${name}', '${name}', 'r ${name}', 'a', 'file', 1, 1, seq, '${name}', 'kept', 1,
				if(seq < 5000, null, concat('f', seq)), if(seq < 5000, null, 'x'), 1, '' from seq_${first}_to_${last}`,
		);
	await query(url, 'analyze table trash');
	const readRows = async () =>
		(await mariadb.query("show global status like 'Handler_read%'")).reduce((sum, { Value }) => sum + Number(Value), 0);
	const page = { order: 'newest', limit: 200 } as const;
	for (const [selection, after, first] of [
		[{ ownerId: 'ada', kind: 'item' }, undefined, 4999],
		[{ ownerId: 'ada', kind: 'item' }, { deletedAt: 4000, id: '0' }, 3999],
		[{ ownerId: 'ada' }, undefined, 10_000],
		[{ rootId: 'r ada' }, undefined, 10_000],
	] as const) {
		const before = await readRows();
		const found = await db.trash.list({ ...page, ...selection, after });
		const read = (await readRows()) - before;
		t.deepEqual([found.length, found[0]?.deletedAt], [200, first]);
		t.true(read < 3000, `${JSON.stringify({ ...selection, after })}: ${read} rows were read`);
	}
});

// No other test reads anything meanwhile.
test.serial('the next job is found without those that wait before it, and one is added without them', async (t) => {
	const url = await mariadb.createDatabase();
	const db = await openDatabase(url);
	t.teardown(db.close);
	const columns =
		'id, kind, user_id, network, title, input, input_bytes, saved_bytes, on_restart, status, is_cancel_requested, done, total, unit, attempt, interruptions, turn, epoch, created_at, updated_at';
	await query(
		url,
		`insert into jobs (${columns}) select lpad(seq, 32, '0'), 'copy', concat('u', seq mod 300), if(seq = 7000, '10.0.0.9', '10.0.0.2'), '',
			'{}', 2, 0, 'resume', if(seq > 9000, 'completed', 'queued'), 0, 0, 0, 'items', 0, 0, seq div 300, 0, seq, seq from seq_1_to_10000`,
	);
	const readRows = async () =>
		(await mariadb.query("show global status like 'Handler_read%'")).reduce((sum, { Value }) => sum + Number(Value), 0);
	const [attacking, other] = ['10.0.0.2', '10.0.0.9'];
	const { id: userId } = await db.users.add({ username: 'ada', secret: 's' });
	const added = { kind: 'copy', userId, network: attacking, title: '', input: '{}', onRestart: 'resume' } as const;
	for (const isAnalyzed of [false, true]) {
		if (isAnalyzed) await query(url, 'analyze table jobs');
		const before = await readRows();
		const limits = { jobs: 10, bytes: 1000 };
		await db.jobs.add({ ...added, id: `${isAnalyzed}`, isLong: false, isOrdered: false }, limits);
		const read = (await readRows()) - before;
		t.true(read < 1500, `${read} rows were read to add one`);
		for (const more of [{}, { isLong: false }])
			for (const [choice, network] of [
				[{}, attacking],
				[{ after: attacking }, other],
				[{ exceptNetworks: [attacking] }, other],
				[{ after: other }, attacking],
				[{ after: other, exceptNetworks: [attacking, other] }, undefined],
			] as const) {
				const before = await readRows();
				const next = await db.jobs.next('copy', { ...choice, ...more });
				const read = (await readRows()) - before;
				t.is(next?.network, network);
				t.true(read < 1500, `${JSON.stringify({ ...choice, ...more })}: ${read} rows were read`);
			}
	}
});

test('the migration to credentials keeps passwords and sessions, also when it is interrupted at any statement', async (t) => {
	const url = await mariadb.createDatabase();
	const step = allMigrations.findIndex(({ name }) => name === '0013-credentials');
	await (await openDatabase(url, { migrations: allMigrations.slice(0, step) })).close();
	const now = Date.now();
	for (const name of ['ada', 'bob']) {
		await query(
			url,
			`insert into users (id, username, username_folded, secret, is_disabled, created_at) values ('${name}', '${name}', '${name}', 'secret of ${name}', 0, ${now})`,
		);
		await query(
			url,
			`insert into sessions (id_hash, user_id, created_at, last_seen_at) values ('of ${name}', '${name}', ${now}, ${now})`,
		);
	}
	let interruptions = 0;
	while (await isInterruptedAt(url, allMigrations.slice(0, step + 1), interruptions + 1)) interruptions++;
	t.true(interruptions >= 4, `${interruptions} interruptions`);
	const db = await openDatabase(url);
	t.teardown(db.close);
	t.deepEqual(
		(await db.users.list()).map(({ username, secret }) => [username, secret]),
		[
			['ada', 'secret of ada'],
			['bob', 'secret of bob'],
		],
	);
	t.deepEqual(await db.sessions.findValid(['of ada', 'of bob'], now), new Set(['of ada', 'of bob']));
	t.deepEqual(await query(url, "show columns from users like 'secret'"), []);
	await db.users.setSecret('ada', 'new');
	t.deepEqual(await db.sessions.findValid(['of ada', 'of bob'], now), new Set(['of bob']));
});

test('the migration to key-value stores keeps their values, also when it is interrupted at any statement', async (t) => {
	const url = await mariadb.createDatabase();
	const step = allMigrations.findIndex(({ name }) => name === '0021-key-values');
	await (await openDatabase(url, { migrations: allMigrations.slice(0, step) })).close();
	await query(
		url,
		`insert into small_rows (scope, key_hash, value, expires_at) values ('boats', '${keyHash('Argo')}', '{"oars":50}', ${Date.now() + 1e6})`,
	);
	let interruptions = 0;
	while (await isInterruptedAt(url, allMigrations.slice(0, step + 1), interruptions + 1)) interruptions++;
	t.true(interruptions >= 2, `${interruptions} interruptions`);
	const db = await openDatabase(url);
	t.teardown(db.close);
	t.deepEqual(await db.keyValues('boats').get('Argo'), { oars: 50 });
	t.deepEqual(await query(url, "show tables like 'small_rows'"), []);
});

test('a start takes over from one that died while it migrated, and waits for one that lives', async (t) => {
	const url = await mariadb.createDatabase();
	let goOn = () => {};
	let begun = () => {};
	const hasBegun = new Promise<void>((resolve) => {
		begun = resolve;
	});
	const mayEnd = new Promise<void>((resolve) => {
		goOn = resolve;
	});
	const slow: Migration = {
		name: '9001-slow',
		olderMayRun: true,
		up() {
			begun();
			return mayEnd;
		},
	};
	const living = openDatabase(url, { migrations: [...allMigrations, slow] });
	await hasBegun;
	const order: string[] = [];
	const waiting = openDatabase(url, { migrations: [...allMigrations, slow] }).then((db) => {
		order.push('second');
		return db;
	});
	// A start that has nothing to do does not wait.
	await (await openDatabase(url)).close();
	order.push('first');
	goOn();
	for (const db of await Promise.all([living, waiting])) await db.close();
	t.deepEqual(order, ['first', 'second']);
	await query(url, "update migration_lock set holder = 'one that died'");
	await query(url, "delete from migrations where name = '9001-slow'");
	await (await openDatabase(url, { migrations: [...allMigrations, slow] })).close();
	t.deepEqual(await query(url, "select count(*) as count from migrations where name = '9001-slow'"), [{ count: 1 }]);
});

test('who opens an older database with the processes that serve over it is asked before a migration with which they can’t go on', async (t) => {
	const url = await mariadb.createDatabase();
	await (await openDatabase(url)).close();
	await query(
		url,
		`insert into processes (name, node, version, seen_at, clock_offset, settings)
		values ('linux 1 1 7 1 a', 'one', '', 1, 0, ''), ('elsewhere', 'two', '', 1, 0, '')`,
	);
	const listed: string[][] = [];
	const open = async (added: Migration) => {
		const database = await openDatabase(url, {
			migrations: [...allMigrations, added],
			async assertUnserved(names) {
				listed.push([...names].sort());
				throw new DatabaseError('It is served.');
			},
		});
		await database.close();
	};
	await open({ name: '9000-none', olderMayRun: true, up: async () => {} });
	t.deepEqual(listed, []);
	const added = { name: '9001-none', up: async () => {} };
	await t.throwsAsync(open(added), { instanceOf: DatabaseError, message: /It is served\./ });
	t.deepEqual(listed, [['elsewhere', 'linux 1 1 7 1 a']]);
	t.deepEqual(await query(url, "select name from migrations where name = '9001-none'"), []);
	// Nobody waits for the lock of the one that was refused.
	await (await openDatabase(url, { migrations: [...allMigrations, added] })).close();
});

test('a process whose migration was taken over does nothing more, and ends with a message', async (t) => {
	const url = await mariadb.createDatabase();
	const lost: Migration = {
		name: '9001-lost',
		async up(knex) {
			await query(url, "update migration_lock set holder = 'another'");
			while ((await query(url, "select holder from migration_lock where holder = 'another'")).length === 1) {
				await knex.raw('select 1');
				await wait(100);
			}
		},
	};
	await t.throwsAsync(() => openDatabase(url, { migrations: [...allMigrations, lost] }), {
		instanceOf: Failure,
		message: /has taken over the migration/,
	});
	t.deepEqual(await query(url, "select name from migrations where name = '9001-lost'"), []);
});

test('a process whose clock is ten minutes fast counts limits, leases and sessions by the clock of the database', async (t) => {
	const url = await mariadb.createDatabase();
	const db = await openDatabase(url);
	t.teardown(db.close);
	await db.limits.hit('key', 60_000, db.now());
	await db.leases.acquire('lease', 'right', 10_000);
	const program = new URL('./programs/fastClock.js', import.meta.url).pathname;
	const { stdout } = await promisify(execFile)(process.execPath, [program, url]);
	const found = JSON.parse(stdout) as { error: number; count: number; hasLease: boolean; offset: number };
	t.like(found, { count: 2, hasLease: false });
	t.true(Math.abs(found.error) < 30_000, `its clock is off by ${found.error} ms still`);
	t.true(Math.abs(found.offset - 600_000) < 30_000, `it takes itself for ${found.offset} ms fast`);
	t.truthy(await db.sessions.find('session', db.now()));
	t.deepEqual(
		(await db.processes?.live(60_000))?.map(({ node, ageMs }) => [node, Math.abs(ageMs) < 60_000]),
		[['fast', true]],
	);
});

test('the time of the server is told right in the hour that its clocks show twice in autumn', async (t) => {
	const url = new URL(await mariadb.createDatabase());
	await mariadb.run(
		`create user autumn@'%' identified by 'autumn'; grant all on ${url.pathname.slice(1)}.* to autumn@'%'`,
	);
	Object.assign(url, { username: 'autumn', password: 'autumn' });
	t.teardown(() => mariadb.run("set global init_connect = ''"));
	// The first 2:30 of the 27th of October 2030, and the second. An administrator's connections are not concerned.
	for (const time of [Date.UTC(2030, 9, 27, 0, 30), Date.UTC(2030, 9, 27, 1, 30)]) {
		await mariadb.run(`set global init_connect = 'set timestamp = ${time / 1000}'`);
		const { now = 0 } = await checkDatabase(url.href, 1000);
		t.true(Math.abs(now - time) < 30_000, new Date(now).toISOString());
	}
});

test('a statement that the database has broken off is repeated, also outside of a transaction', async (t) => {
	const url = await mariadb.createDatabase();
	const db = await openDatabase(url);
	t.teardown(db.close);
	await db.limits.hit('key', 60_000, 1);
	// As a conflict in a cluster does, for the first three times.
	await query(url, 'create table broken (left_times int not null) engine = MyISAM');
	await query(url, 'insert into broken values (3)');
	await query(
		url,
		`create trigger break_off before update on limits for each row begin
			if (select left_times from broken) > 0 then
				update broken set left_times = left_times - 1;
				signal sqlstate '40001' set mysql_errno = 1213, message_text = 'broken off';
			end if;
		end`,
	);
	await db.limits.release('key', 1, 60_001);
	t.deepEqual(await db.limits.find(['key'], 1), new Map([['key', { count: 0, endsAt: 60_001 }]]));
	await query(url, 'update broken set left_times = 3');
	t.is((await db.limits.hit('key', 60_000, 1)).count, 1);
});

test('expired limits that cannot be removed fail nobody, and are removed later', async (t) => {
	const url = await mariadb.createDatabase();
	const db = await openDatabase(url);
	t.teardown(db.close);
	await db.limits.hit('old', 1, 1);
	await query(
		url,
		"create trigger keep before delete on limits for each row signal sqlstate '40001' set mysql_errno = 1213, message_text = 'broken off'",
	);
	t.is((await db.limits.hit('new', 1000, 1000)).count, 1);
	await query(url, 'drop trigger keep');
	await db.limits.hit('newer', 1000, 1000);
	t.is(((await query(url, 'select count(*) as count from limits')) as { count: number }[])[0]?.count, 2);
});

test('a wrong password, user or database name is reported without the password', async (t) => {
	const url = new URL(await mariadb.createDatabase());
	for (const [change, reason] of [
		[{ password: 'hunter2' }, /refuses this user or password: stowage/],
		[{ username: 'nobody' }, /refuses this user or password: nobody/],
		[{ pathname: '/elsewhere' }, /has no database of this name: stowage, elsewhere/],
	] as const) {
		const wrong = new URL(url);
		Object.assign(wrong, change);
		const error = await t.throwsAsync(() => openDatabase(wrong.href), { instanceOf: DatabaseError, message: reason });
		t.false(error?.message.includes('hunter2'));
	}
});

/** Opens the database and interrupts the last of these migrations at its n-th statement; false if it has fewer. */
async function isInterruptedAt(url: string, migrations: typeof allMigrations, last: number): Promise<boolean> {
	let count = 0;
	const interrupted = migrations.map((migration, index) => ({
		...migration,
		async up(knex: Knex) {
			knex.on('query', () => {
				if (index === migrations.length - 1 && ++count === last) throw new Error('interrupted');
			});
			await migration.up(knex);
		},
	}));
	try {
		await (await openDatabase(url, { migrations: interrupted })).close();
		return false;
	} catch (error) {
		if ((error as Error).message === 'interrupted') return true;
		throw error;
	}
}

async function query(url: string, sql: string): Promise<unknown[]> {
	const connection = await mysql.createConnection(url);
	const [rows] = await connection.query(sql);
	await connection.end();
	return rows as unknown[];
}
