import { closeSync, openSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, statfs, truncate, writeFile } from 'node:fs/promises';
import { checkDatabase, DatabaseError, type Migration, openDatabase, putBack, readSnapshot } from '@stowage/database';
import test, { type ExecutionContext } from 'ava';
import Libsql from 'libsql';
import { allMigrations } from '../src/migrations/all.js';
import { createTable } from '../src/migrations/createTable.js';
import type { AssertUnserved } from '../src/migrations/migrate.js';
import { keyHash } from '../src/stores/keyHash.js';
import { runProgram } from './program.js';
import { temporaryFolder } from './temporaryFolder.js';

const addBoats: Migration = {
	name: '9001-boats',
	up: (knex) => createTable(knex, 'boats', (table) => table.string('name', 100).primary()),
};

const sinkBoats: Migration = {
	name: '9002-sink',
	async up(knex) {
		await knex('boats').insert({ name: 'Argo' });
		await knex('users').delete();
		throw new Error('The boats sank.');
	},
};

/** Puts a file back, with the one beside it that has this ending. */
async function back(url: string, file: string, at: number, ending?: '-wal' | '-journal'): Promise<string> {
	const beside = (each: string) => (each === ending ? openSync(`${file}${each}`, 'r') : undefined);
	const copy = { file: openSync(file, 'r'), wal: beside('-wal'), journal: beside('-journal') };
	try {
		return await putBack(url, copy, new Date(at));
	} finally {
		for (const each of Object.values(copy)) if (each !== undefined) closeSync(each);
	}
}

test('a copy of before a migration is put back whole, though a killed process has left a write-ahead log, and after an earlier call was cut off', async (t) => {
	const { url, path } = await database(t);
	const now = Date.UTC(2031, 1, 2, 3, 4, 5);
	await reopen(url, [...allMigrations, addBoats], now);
	const copy = `${path}/stowage.db.2031-02-02T03-04-05.000Z.before-9001-boats`;
	const whole = await readFile(copy);
	// As a process leaves them that is killed: once the last connection closes, there is no log.
	const db = await openDatabase(url, { migrations: [...allMigrations, addBoats] });
	for (let n = 0; n < 50; n++) await db.users.add({ username: `later${n}`, secret: 's' });
	const endings = ['', '-wal', '-shm'];
	const left = new Map<string, Buffer>();
	for (const ending of endings) left.set(ending, await readFile(`${path}/stowage.db${ending}`));
	await db.close();
	// Elsewhere: the process that has closed it may remove its log a little later.
	const folder = `${path}/killed`;
	await mkdir(folder);
	for (const [ending, bytes] of left) await writeFile(`${folder}/stowage.db${ending}`, bytes);
	const killed = `sqlite:${folder}/stowage.db`;
	t.true((left.get('-wal')?.length ?? 0) > 0);
	await writeFile(`${folder}/stowage.db.going-back`, 'what an earlier call was writing');

	const former = await back(killed, copy, now + 60_000);
	t.is(former, `${folder}/stowage.db.replaced-2031-02-02T03-05-05.000Z`);
	const state = async (of: string) => {
		const { damage, orphans } = await checkDatabase(of, 1e6);
		return readSnapshot(of, async ({ migrations, rows }) => {
			let users = 0;
			for await (const some of rows('users')) users += some.length;
			return { damage, orphans, users, hasBoats: migrations.includes(addBoats.name) };
		});
	};
	t.deepEqual(await state(killed), { damage: [], orphans: 0, users: 1, hasBoats: false });
	await back(killed, former, now + 120_000, '-wal');
	t.deepEqual(await state(killed), { damage: [], orphans: 0, users: 51, hasBoats: true });
	await back(killed, copy, now + 180_000);
	t.deepEqual(await state(`sqlite:${former}`), { damage: [], orphans: 0, users: 51, hasBoats: true });
	t.deepEqual(await readFile(copy), whole);
	await reopen(killed, allMigrations);
	t.false((await readdir(folder)).includes('stowage.db.going-back'));
	await t.throwsAsync(() => back('mysql://u:p@127.0.0.1:1/x', copy, now), {
		message: /^Only of an SQLite database/,
	});
});

test('a copy in whose file a transaction was interrupted is rolled back before it is put back', async (t) => {
	const { url, path } = await database(t);
	const [whole, copy] = [`${path}/whole`, `${path}/copy`];
	await writeFile(whole, await readFile(`${path}/stowage.db`));
	const connection = new Libsql(whole);
	for (const statement of [
		'PRAGMA journal_mode = DELETE',
		// So small that changed pages are written to the file before the end of the transaction.
		'PRAGMA cache_size = 1',
		'BEGIN',
		`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 20000)
			insert into key_values select 'many', n, '0', 1 from numbers`,
	])
		connection.exec(statement);
	for (const ending of ['', '-journal']) await writeFile(`${copy}${ending}`, await readFile(`${whole}${ending}`));
	connection.exec('ROLLBACK');
	connection.close();
	await back(url, copy, Date.now(), '-journal');
	const rows = await readSnapshot(url, async (snapshot) => {
		let count = 0;
		for await (const some of snapshot.rows('key_values')) count += some.length;
		return count;
	});
	t.is(rows, 0);
	t.deepEqual((await checkDatabase(url, 1e6)).damage, []);
});

test('of a copy without an end, be it what lies beside one, nothing is copied: it is no database, or there is no room for it', async (t) => {
	const { url, path } = await database(t);
	const whole = await readFile(`${path}/stowage.db`);
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const copy = `${folder.path}/copy`;
	const { bavail, bsize } = await statfs(path);
	// It takes no room, and hours to read.
	const size = Math.max(4e12, 2 * bavail * bsize);
	const lacking = /^The copy is copied beside the database first, which needs \d.* TB; .* are free at /;
	const refused = async (of: Parameters<typeof back>[3], expected: object) => {
		await t.throwsAsync(back(url, copy, Date.now(), of), expected);
		t.false((await readdir(path)).some((name) => /going-back|replaced/.test(name)));
	};
	for (const [content, expected] of [
		['', { message: 'This is no copy of a database of Stowage.' }],
		[whole, { message: lacking }],
	] as const) {
		await writeFile(copy, content);
		await truncate(copy, size);
		await refused(undefined, expected);
	}
	await writeFile(copy, whole);
	for (const ending of ['-wal', '-journal'] as const) {
		await writeFile(`${copy}${ending}`, '');
		await truncate(`${copy}${ending}`, size);
		await refused(ending, { message: lacking });
	}
});

test('a database that is up to date is not copied', async (t) => {
	const { url, snapshots } = await database(t);
	await reopen(url, allMigrations);
	t.deepEqual(await snapshots(), []);
});

test('a database with migrations of a newer program opens where all of them say that older ones may go on', async (t) => {
	const { url } = await database(t);
	await reopen(url, [...allMigrations, { ...addBoats, olderMayRun: true }]);
	await t.notThrowsAsync(() => reopen(url, allMigrations));
	const incompatible = () => readSnapshot(url, async (found) => found.incompatible);
	t.deepEqual(await incompatible(), []);
	await reopen(url, [...allMigrations, addBoats, { name: '9003-crew', up: async () => {} }]);
	t.deepEqual(await incompatible(), ['9003-crew']);
	await t.throwsAsync(() => reopen(url, allMigrations), {
		instanceOf: DatabaseError,
		message: /it has 9003-crew\./,
	});
});

test('who opens an older database is asked before a migration with which its servers can’t go on, and may refuse it', async (t) => {
	const { url, snapshots } = await database(t);
	const refusing: AssertUnserved = async () => {
		throw new DatabaseError('It is served.');
	};
	const open = async (migrations: readonly Migration[]) =>
		(await openDatabase(url, { migrations, assertUnserved: refusing })).close();
	await t.notThrowsAsync(open(allMigrations));
	await t.notThrowsAsync(open([...allMigrations, { ...addBoats, name: '9000-boats', olderMayRun: true }]));
	const before = await snapshots();
	await t.throwsAsync(open([...allMigrations, addBoats]), { instanceOf: DatabaseError, message: /^It is served\./ });
	t.deepEqual(await snapshots(), before);
	t.false(await readSnapshot(url, async ({ migrations }) => migrations.includes(addBoats.name)));
	const empty = await temporaryFolder();
	t.teardown(empty.remove);
	const first = await openDatabase(`sqlite:${empty.path}/stowage.db`, { assertUnserved: refusing });
	await first.close();
	t.pass();
});

test('an older database is copied before it is migrated, complete and for its owner only', async (t) => {
	const { url, path, snapshots } = await database(t);
	await reopen(url, [...allMigrations, addBoats], Date.UTC(2031, 1, 2, 3, 4, 5));
	t.deepEqual(await snapshots(), ['stowage.db.2031-02-02T03-04-05.000Z.before-9001-boats']);
	const [name] = await snapshots();
	const copy = `${path}/${name}`;
	t.is((await stat(copy)).mode & 0o777, 0o600);
	const restored = await openDatabase(`sqlite:${copy}`);
	t.teardown(restored.close);
	t.truthy(await restored.users.find('alice'));
	t.deepEqual(tables(copy).includes('boats'), false);
	t.deepEqual(tables(`${path}/stowage.db`).includes('boats'), true);
});

test('the migration to credentials keeps passwords and sessions, and the copy from before still opens with the former migrations', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const file = `${folder.path}/stowage.db`;
	const url = `sqlite:${file}`;
	const former = allMigrations.slice(
		0,
		allMigrations.findIndex(({ name }) => name === '0013-credentials'),
	);
	await reopen(url, former);
	const now = Date.now();
	const connection = new Libsql(file);
	for (const name of ['ada', 'bob']) {
		connection
			.prepare(
				'insert into users (id, username, username_folded, secret, is_disabled, created_at) values (?, ?, ?, ?, 0, ?)',
			)
			.run([name, name, name, `secret of ${name}`, now]);
		connection
			.prepare('insert into sessions (id_hash, user_id, created_at, last_seen_at) values (?, ?, ?, ?)')
			.run([`of ${name}`, name, now, now]);
	}
	connection.close();
	const db = await openDatabase(url);
	t.teardown(db.close);
	const secrets = async () => (await db.users.list()).map(({ username, secret }) => `${username}: ${secret}`);
	t.deepEqual(await secrets(), ['ada: secret of ada', 'bob: secret of bob']);
	t.deepEqual(await db.sessions.findValid(['of ada', 'of bob'], now), new Set(['of ada', 'of bob']));
	await db.users.setSecret('ada', 'new');
	t.deepEqual(await secrets(), ['ada: new', 'bob: secret of bob']);
	t.deepEqual(await db.sessions.findValid(['of ada', 'of bob'], now), new Set(['of bob']));
	const [copy] = (await readdir(folder.path)).filter((name) => name.endsWith('before-0013-credentials'));
	const before = new Libsql(`${folder.path}/${copy}`);
	t.deepEqual(before.prepare('select username, secret from users order by username').raw().all() as unknown, [
		['ada', 'secret of ada'],
		['bob', 'secret of bob'],
	]);
	before.close();
	await reopen(`sqlite:${folder.path}/${copy}`, former);
});

test('a copy that can’t be made leaves nothing, and a start without migrations removes what a killed one has left', async (t) => {
	const { url, path } = await database(t);
	const inTheWay = `${path}/stowage.db.2031-02-02T03-04-05.000Z.before-9001-boats`;
	await mkdir(`${inTheWay}/full`, { recursive: true });
	const now = Date.UTC(2031, 1, 2, 3, 4, 5);
	await t.throwsAsync(reopen(url, [...allMigrations, addBoats], now), { code: 'EISDIR' });
	const partials = async () => (await readdir(path)).filter((name) => name.includes('partial'));
	t.deepEqual(await partials(), []);
	for (const ending of ['', '-journal']) await writeFile(`${path}/stowage.db.partial${ending}`, 'cut off');
	await reopen(url, allMigrations);
	t.deepEqual(await partials(), []);
	await writeFile(`${path}/stowage.db.partial`, 'what another process makes now');
	const migrating = new Libsql(`${path}/stowage.db`);
	migrating.exec('BEGIN IMMEDIATE');
	const opened = await openDatabase(url);
	migrating.exec('ROLLBACK');
	migrating.close();
	await opened.close();
	t.deepEqual(await partials(), ['stowage.db.partial']);
});

test('only the last three copies are kept', async (t) => {
	const { url, snapshots } = await database(t);
	const steps: Migration[] = [];
	for (const number of [1, 2, 3, 4, 5]) {
		steps.push({ ...addBoats, name: `900${number}-boats` });
		await reopen(url, [...allMigrations, ...steps], Date.UTC(2031, 0, number));
	}
	const names = await snapshots();
	t.deepEqual(
		names.map((name) => name.split('.').at(-1)),
		['before-9003-boats', 'before-9004-boats', 'before-9005-boats'],
	);
});

test('a failed migration changes nothing, and its error is thrown', async (t) => {
	const { url, path } = await database(t);
	const error = await t.throwsAsync(() => reopen(url, [...allMigrations, addBoats, sinkBoats]));
	t.is(error?.message, 'The boats sank.');
	t.false(tables(`${path}/stowage.db`).includes('boats'));
	const db = await openDatabase(url);
	t.teardown(db.close);
	t.truthy(await db.users.find('alice'));
});

test('a migration that leaves dangling references is rolled back', async (t) => {
	const { url } = await database(t);
	const orphan: Migration = {
		name: '9001-orphan',
		up: (knex) =>
			knex('sessions')
				.insert({ id_hash: 'h', user_id: 'nobody', created_at: 1, last_seen_at: 1 })
				.then(() => {}),
	};
	await t.throwsAsync(() => reopen(url, [...allMigrations, orphan]), { message: /refer to nothing/ });
	await reopen(url, allMigrations);
});

test('a database of a newer version is refused with the name of its migration, and stays unchanged', async (t) => {
	const { url } = await database(t);
	await reopen(url, [...allMigrations, addBoats]);
	const error = await t.throwsAsync(() => reopen(url, allMigrations), { instanceOf: DatabaseError });
	t.regex(error?.message ?? '', /^This database was written by a newer Stowage: it has 9001-boats\./);
	await reopen(url, [...allMigrations, addBoats]);
});

test('a first start that is killed during migration is completed by the next start', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const statements = [1, 2, 5, 10];
	await Promise.all(
		statements.map(async (statement) => {
			const url = `sqlite:${folder.path}/${statement}.db`;
			const end = await runProgram('migrateAndDie', url, String(statement));
			t.is(end.signal, 'SIGKILL', end.errors);
			const db = await openDatabase(url);
			t.truthy(await db.users.add({ username: 'alice', secret: 's' }));
			await db.close();
		}),
	);
});

/** A folder with a database of the current version that contains the user alice. */
async function database(t: ExecutionContext) {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const url = `sqlite:${folder.path}/stowage.db`;
	const db = await openDatabase(url);
	await db.users.add({ username: 'alice', secret: 's' });
	await db.close();
	const snapshots = async () => (await readdir(folder.path)).filter((name) => name.includes('before')).sort();
	return { url, path: folder.path, snapshots };
}

async function reopen(url: string, migrations: readonly Migration[], now = Date.now()): Promise<void> {
	const db = await openDatabase(url, { migrations, now: () => now });
	await db.close();
}

function tables(path: string): string[] {
	const connection = new Libsql(path);
	const rows = connection.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[];
	connection.close();
	return rows.map((row) => row.name);
}

test('an older database tells the last sign-ins by the sessions that it has, and no beginning of its uploads', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const file = `${folder.path}/stowage.db`;
	const url = `sqlite:${file}`;
	const former = allMigrations.slice(
		0,
		allMigrations.findIndex(({ name }) => name === '0019-account-facts'),
	);
	await reopen(url, former);
	const now = Date.now();
	const connection = new Libsql(file);
	for (const name of ['ada', 'bob'])
		connection
			.prepare('insert into users (id, username, username_folded, is_disabled, created_at) values (?, ?, ?, 0, ?)')
			.run([name, name, name, now]);
	for (const [hash, time] of [
		['one', now - 1000],
		['two', now - 3000],
	])
		connection
			.prepare('insert into sessions (id_hash, user_id, created_at, last_seen_at) values (?, ?, ?, ?)')
			.run([hash, 'ada', time, now]);
	connection
		.prepare(
			"insert into uploads (id_hash, staged_id, user_id, address, area, directory, name, metadata, length, offset, touched_at, expires_at) values ('u', 's', 'ada', 'x', 'private', '', 'a', '', 2, 1, 1, ?)",
		)
		.run([now + 1e6]);
	connection.close();
	const db = await openDatabase(url);
	t.teardown(db.close);
	t.deepEqual(
		(await db.users.overview()).map(({ username, lastSignInAt, used }) => [username, lastSignInAt, used]),
		[
			['ada', now - 1000, null],
			['bob', null, null],
		],
	);
	t.like((await db.uploads.listAllUnfinished())[0], {
		idHash: 'u',
		startedAt: null,
		received: null,
		touchedAt: 1,
		onConflict: { kind: 'rename' },
	});
});

test('an older database keeps its key-value stores', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const file = `${folder.path}/stowage.db`;
	const step = allMigrations.findIndex(({ name }) => name === '0021-key-values');
	await reopen(`sqlite:${file}`, allMigrations.slice(0, step));
	const connection = new Libsql(file);
	connection
		.prepare('insert into small_rows (scope, key_hash, value, expires_at) values (?, ?, ?, ?)')
		.run(['boats', keyHash('Argo'), '{"oars":50}', Date.now() + 1e6]);
	connection.close();
	const db = await openDatabase(`sqlite:${file}`);
	t.teardown(db.close);
	t.deepEqual(await db.keyValues('boats').get('Argo'), { oars: 50 });
	t.false(tables(file).includes('small_rows'));
});
