import { type Database, openDatabase, sessionIdleMs } from '@stowage/database';
import test, { type ExecutionContext } from 'ava';
import Libsql from 'libsql';
import mysql from 'mysql2/promise';
import { type MariaDb, sharedMariadb } from './mariadb.js';
import { temporaryFolder } from './temporaryFolder.js';

let mariadb: MariaDb;

test.before(async () => {
	mariadb = await sharedMariadb();
});

test.after.always(() => mariadb?.close());

interface Bench {
	db: Database;
	/** Another process's connection to the same database. */
	other: Database;
	/** Makes every deletion of a session fail. */
	breakSessions(): Promise<void>;
	/** Runs a statement through another connection. */
	run(sql: string): Promise<void>;
}

const dialects: Record<string, (t: ExecutionContext) => Promise<Bench>> = {
	async SQLite(t) {
		const folder = await temporaryFolder();
		const path = `${folder.path}/stowage.db`;
		const db = await openDatabase(`sqlite:${path}`);
		const other = await openDatabase(`sqlite:${path}`);
		t.teardown(async () => {
			await other.close();
			await db.close();
			await folder.remove();
		});
		const run = async (sql: string) => {
			const connection = new Libsql(path);
			connection.exec(sql);
			connection.close();
		};
		const trigger = "create trigger broken before delete on sessions begin select raise(abort, 'broken'); end";
		return { db, other, run, breakSessions: () => run(trigger) };
	},
	async MariaDB(t) {
		const url = await mariadb.createDatabase();
		const db = await openDatabase(url);
		const other = await openDatabase(url);
		t.teardown(async () => {
			await other.close();
			await db.close();
		});
		const run = async (sql: string) => {
			const connection = await mysql.createConnection(url);
			await connection.query(sql);
			await connection.end();
		};
		const trigger =
			"create trigger broken before delete on sessions for each row signal sqlstate '45000' set message_text = 'broken'";
		return { db, other, run, breakSessions: () => run(trigger) };
	},
};

for (const [name, open] of Object.entries(dialects)) {
	test(`${name}: a change of an account and the end of its sessions are one transaction`, async (t) => {
		const { db, breakSessions } = await open(t);
		const alice = await db.users.add({ username: 'alice', secret: 'old' });
		await db.sessions.add('hash', alice);
		const factor = { secret: 'SECRET', session: 'hash', recoveryHashes: [] };
		await db.secondFactors.begin(alice.id, factor);
		await breakSessions();
		await t.throwsAsync(() => db.secondFactors.enable(alice.id, 'SECRET', 7), { any: true });
		t.deepEqual(await db.secondFactors.find(alice.id), { ...factor, isEnabled: false, lastStep: 0 });
		await t.throwsAsync(() => db.users.setSecret(alice.id, 'new'), { any: true });
		await t.throwsAsync(() => db.users.setDisabled(alice.id, true), { any: true });
		await t.throwsAsync(() => db.sessions.removeOf(alice.id), { any: true });
		t.deepEqual(await db.users.get(alice.id), alice);
		t.truthy(await db.sessions.find('hash', Date.now()));
	});

	test(`${name}: exactly one of twenty concurrent sign-ins over two connections is accepted with one code`, async (t) => {
		const { db, other } = await open(t);
		const alice = await db.users.add({ username: 'alice', secret: 's' });
		await db.secondFactors.begin(alice.id, {
			secret: 'SECRET',
			session: 'hash',
			recoveryHashes: ['one', 'two'],
		});
		const both = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? db : other).secondFactors);
		const count = async (use: (store: Database['secondFactors']) => Promise<boolean | number | undefined>) =>
			(await Promise.all(both.map(use))).filter(Boolean).length;
		t.is(await count((store) => store.enable(alice.id, 'SECRET', 7)), 1);
		t.is(await count((store) => store.useStep(alice.id, 'SECRET', 8)), 1);
		t.is(await count((store) => store.useRecoveryCode(alice.id, 'two')), 1);
		t.like(await other.secondFactors.find(alice.id), { lastStep: 8, recoveryHashes: ['one'] });
	});

	test(`${name}: a session of an outdated generation of its user is not found, and is swept once it is idle`, async (t) => {
		const { db, run } = await open(t);
		const ends: Record<string, (id: string) => Promise<unknown>> = {
			password: (id) => db.users.setSecret(id, 'new'),
			disabled: async (id) => {
				await db.users.setDisabled(id, true);
				await db.users.setDisabled(id, false);
			},
			renamed: (id) => db.users.rename(id, 'another', false),
			revoked: (id) => db.sessions.removeOf(id),
			others: (id) => db.sessions.removeOf(id, 'unknown'),
			'second factor': async (id) => {
				await db.secondFactors.begin(id, { secret: 'SECRET', session: 'hash', recoveryHashes: [] });
				await db.secondFactors.enable(id, 'SECRET', 7);
			},
		};
		for (const [how, end] of Object.entries(ends)) {
			const alice = await db.users.add({ username: how, secret: 'old' });
			await end(alice.id);
			const now = Date.now();
			// As added by another node of a cluster that does not have the change yet.
			await run(
				`insert into sessions (id_hash, user_id, created_at, last_seen_at, generation) values ('${how}', '${alice.id}', ${now}, ${now}, ${alice.generation})`,
			);
			t.is(await db.sessions.find(how, now), undefined, how);
			t.deepEqual(await db.sessions.findValid([how], now), new Set());
			t.deepEqual(await db.sessions.list(alice.id, now), []);
		}
		t.is(await db.sessions.sweep(Date.now()), 0);
		t.is(await db.sessions.sweep(Date.now() + sessionIdleMs), 6);
	});
}
