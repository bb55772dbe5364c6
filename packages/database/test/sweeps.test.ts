import { openDatabase } from '@stowage/database';
import test, { type ExecutionContext } from 'ava';
import Libsql from 'libsql';
import { placeDatabase } from './emptyDatabase.js';
import { temporaryFolder } from './temporaryFolder.js';

const count = 3_000;

/** Opens a database in which each of these tables has rows that have expired: all their numbers, and so their times, are small. */
async function openWithExpired(t: ExecutionContext, tables: readonly string[]) {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const file = `${folder.path}/stowage.db`;
	await placeDatabase(file);
	const db = await openDatabase(`sqlite:${file}`);
	t.teardown(() => db.close());
	const connection = new Libsql(file);
	t.teardown(() => connection.close());
	connection.exec('PRAGMA foreign_keys = OFF');
	connection.exec('begin');
	for (const table of tables) {
		const columns = connection.prepare(`PRAGMA table_info(${table})`).all() as { type: string }[];
		const insert = connection.prepare(`insert into ${table} values (${columns.map(() => '?').join()})`);
		for (let n = 1; n <= count; n++) insert.run(...columns.map(({ type }) => (/int/i.test(type) ? n : `${n}`)));
	}
	connection.exec('commit');
	const rowsOf = (table: string): number => {
		const [row] = connection.prepare(`select count(*) as count from ${table}`).all() as [{ count: number }];
		return row.count;
	};
	return { db, rowsOf };
}

test('rows that have expired by the thousand are removed in parts, between which others have their turns and write', async (t) => {
	const now = Date.now();
	type Db = Awaited<ReturnType<typeof openWithExpired>>['db'];
	const sweeps: Record<string, (db: Db) => Promise<unknown>> = {
		limits: (db) => db.sweepLimits(),
		key_values: (db) => db.sweepKeyValues(),
		tickets: (db) => db.tickets.sweep(),
		events: (db) => db.events.sweep({ eventsMs: 60_000, listenersMs: 60_000 }),
		event_listeners: (db) => db.events.sweep({ eventsMs: 60_000, listenersMs: 60_000 }),
		leases: (db) => db.leases.sweep(),
		idempotency_keys: (db) => db.idempotency.sweep(now),
		published_names: (db) => db.publishedNames.sweep(now),
		uploads: (db) => db.uploads.forget(now),
		share_parts: (db) => db.shareUses.sweep(now),
		share_passes: (db) => db.shareUses.sweep(now),
		share_receipts: (db) => db.shareUses.forgetReceipts(now),
		member_changes: (db) => db.members.forgetChanges(now),
		sessions: (db) => db.sessions.sweep(now),
		jobs: (db) => db.jobs.sweep(now, 1_000_000),
		job_interruptions: (db) => db.jobs.sweep(now, 1_000_000),
	};
	for (const [table, sweep] of Object.entries(sweeps)) {
		const { db, rowsOf } = await openWithExpired(t, [table]);
		let hasEnded = false;
		const swept = sweep(db).finally(() => {
			hasEnded = true;
		});
		const left: number[] = [];
		for (let n = 0; !hasEnded; n++) {
			await db.users.add({ username: `user${n}`, secret: 'none' });
			left.push(rowsOf(table));
		}
		await swept;
		t.is(rowsOf(table), 0, table);
		t.true(
			left.some((each) => each > 0 && each < count),
			`${table}: ${left}`,
		);
	}
});

test('a new window of a limit removes few of those that have ended, however many they are', async (t) => {
	const { db, rowsOf } = await openWithExpired(t, ['limits']);
	const now = Date.now();
	await db.limits.hit('a', 60_000, now);
	t.true(rowsOf('limits') > count / 2, `${rowsOf('limits')} are left`);
	let windows = 1;
	for (; rowsOf('limits') > windows; windows++) await db.limits.hit(`b ${windows}`, 60_000, now);
	t.true(windows < count / 100, `all are removed after ${windows}`);
});
