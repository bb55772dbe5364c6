import { type Database, openDatabase } from '@stowage/database';
import test, { type ExecutionContext } from 'ava';
import Libsql from 'libsql';
import mysql from 'mysql2/promise';
import { type MariaDb, startMariadb } from './mariadb.js';
import { temporaryFolder } from './temporaryFolder.js';

let mariadb: MariaDb;

test.before(async () => {
	mariadb = await startMariadb();
});

test.after.always(() => mariadb?.close());

interface Bench {
	db: Database;
	/** Lets no session be deleted any more. */
	breakSessions(): Promise<void>;
}

const dialects: Record<string, (t: ExecutionContext) => Promise<Bench>> = {
	async SQLite(t) {
		const folder = await temporaryFolder();
		const path = `${folder.path}/stowage.db`;
		const db = await openDatabase(`sqlite:${path}`);
		t.teardown(async () => {
			await db.close();
			await folder.remove();
		});
		return {
			db,
			async breakSessions() {
				const connection = new Libsql(path);
				connection.exec("create trigger broken before delete on sessions begin select raise(abort, 'broken'); end");
				connection.close();
			},
		};
	},
	async MariaDB(t) {
		const url = await mariadb.createDatabase();
		const db = await openDatabase(url);
		t.teardown(() => db.close());
		return {
			db,
			async breakSessions() {
				const connection = await mysql.createConnection(url);
				await connection.query(
					"create trigger broken before delete on sessions for each row signal sqlstate '45000' set message_text = 'broken'",
				);
				await connection.end();
			},
		};
	},
};

for (const [name, open] of Object.entries(dialects)) {
	test(`${name}: an account is changed and its sessions ended in one commit, or neither`, async (t) => {
		const { db, breakSessions } = await open(t);
		const alice = await db.users.add({ username: 'alice', secret: 'old' });
		await db.sessions.add('hash', alice.id, 'old');
		await breakSessions();
		await t.throwsAsync(() => db.users.setSecret(alice.id, 'new'), { any: true });
		await t.throwsAsync(() => db.users.setDisabled(alice.id, true), { any: true });
		t.deepEqual(await db.users.get(alice.id), alice);
		t.truthy(await db.sessions.find('hash', Date.now()));
	});
}
