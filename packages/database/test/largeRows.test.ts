import {
	DatabaseError,
	fillDatabase,
	openDatabase,
	readSnapshot,
	type Snapshot,
	type TableRows,
} from '@stowage/database';
import test, { type ExecutionContext } from 'ava';
import Libsql from 'libsql';
import { type MariaDb, startMariadb } from './mariadb.js';
import { temporaryFolder } from './temporaryFolder.js';

let mariadb: MariaDb;

test.before(async () => {
	mariadb = await startMariadb();
});

test.after.always(() => mariadb?.close());

test.serial(
	'rows of megabytes are copied to a database server and back, and few of them are in memory at once',
	async (t) => {
		const one = await sqliteWith(t, 40, 500_000);
		const server = await mariadb.createDatabase();
		const two = `sqlite:${await folderOf(t)}/stowage.db`;
		for (const [from, to] of [
			[one, server],
			[server, two],
		] as const) {
			const written = await readSnapshot(from, (snapshot) => fillDatabase(to, snapshot, rowsOf(t, snapshot)));
			t.is(written.get('key_values')?.count, 40);
		}
	},
);

test.serial('a row that the server does not take at once is named with the setting that limits it', async (t) => {
	const source = await sqliteWith(t, 1, 3_000_000);
	const url = await mariadb.createDatabase();
	await mariadb.run('set global max_allowed_packet = 2097152');
	t.teardown(() => mariadb.run('set global max_allowed_packet = 16777216'));
	const copied = readSnapshot(source, (snapshot) => fillDatabase(url, snapshot, rowsOf(t, snapshot)));
	await t.throwsAsync(copied, {
		instanceOf: DatabaseError,
		message:
			'The database server does not take a row of key_values with 2.9 MB: raise its max_allowed_packet. Nothing was written.',
	});
});

/** A database with so many rows, each with so many bytes. */
async function sqliteWith(t: ExecutionContext, rows: number, bytes: number): Promise<string> {
	const file = `${await folderOf(t)}/stowage.db`;
	await (await openDatabase(`sqlite:${file}`)).close();
	const connection = new Libsql(file);
	const add = connection.prepare("insert into key_values values ('test', ?, ?, ?)");
	for (let n = 0; n < rows; n++) add.run([`row ${n}`, 'x'.repeat(bytes), Number.MAX_SAFE_INTEGER]);
	connection.close();
	return `sqlite:${file}`;
}

async function folderOf(t: ExecutionContext): Promise<string> {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	return folder.path;
}

async function* rowsOf(t: ExecutionContext, snapshot: Snapshot): AsyncGenerator<TableRows> {
	for (const table of snapshot.tables)
		for await (const rows of snapshot.rows(table)) {
			t.true(rows.length === 1 || JSON.stringify(rows).length < 1.1 * 1024 * 1024, `${rows.length} rows of ${table}`);
			yield { table, rows };
		}
}
