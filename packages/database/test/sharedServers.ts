import { readFile } from 'node:fs/promises';
import type { Connection, ConnectionOptions, RowDataPacket } from 'mysql2/promise';

/** The variable with the URLs of one empty, migrated database at each node of the servers that all processes of a run share. */
export const sharedServersVariable = 'STOWAGE_TEST_DATABASES';

interface Template {
	name: string;
	/** Make its tables and their rows in another database. */
	statements: string[];
}

let template: Promise<Template> | undefined;
let databases = 0;

/** Each test of the API loads this file, and hardly one connects to a server: its client is a tenth of what they load. */
async function connect(options: ConnectionOptions): Promise<Connection> {
	const { createConnection } = await import('mysql2/promise');
	return createConnection(options);
}

/** Makes an empty, migrated database there and resolves to its URL at each node. It ends with the test. */
export async function sharedDatabase(t: { teardown(end: () => Promise<void>): void }): Promise<string[]> {
	const [first = '', ...others] = (process.env[sharedServersVariable] ?? '').split(' ');
	template ??= readTemplate(first);
	const { name, statements } = await template;
	const own = `${name}_${process.pid}_${++databases}`;
	await runAt(first, [`create database ${own}`, `use ${own}`, 'set foreign_key_checks = 0', ...statements]);
	t.teardown(() => runAt(first, [`drop database ${own}`]));
	// Nobody can connect to it before it is there.
	for (const url of others) await runAt(url, ['set session wsrep_sync_wait = 15', `show tables in ${own}`]);
	return [first, ...others].map((url) => Object.assign(new URL(url), { pathname: `/${own}` }).href);
}

async function readTemplate(url: string): Promise<Template> {
	const connection = await connect({ uri: url });
	try {
		const name = new URL(url).pathname.slice(1);
		const [tables] = await connection.query<RowDataPacket[]>('show tables');
		const statements: string[] = [];
		for (const table of tables.map((row) => String(Object.values(row)[0]))) {
			const [[made]] = await connection.query<RowDataPacket[]>(`show create table \`${table}\``);
			const [rows] = await connection.query<RowDataPacket[]>(`select 1 from \`${table}\` limit 1`);
			statements.push(String(made?.['Create Table']));
			if (rows.length > 0) statements.push(`insert into \`${table}\` select * from ${name}.\`${table}\``);
		}
		return { name, statements };
	} finally {
		await connection.end();
	}
}

/** Runs statements at a database server. */
export async function runAt(url: string, statements: readonly string[]): Promise<void> {
	const connection = await connect({ uri: url, multipleStatements: true });
	try {
		await connection.query(statements.join(';\n'));
	} finally {
		await connection.end();
	}
}

/** All that a database keeps, as text: of SQLite the bytes of its files, of a server the values of all rows. */
export async function storedText(url: string): Promise<string> {
	if (url.startsWith('sqlite:')) {
		const file = url.slice('sqlite:'.length);
		const log = await readFile(`${file}-wal`, 'latin1').catch(() => '');
		return log + (await readFile(file, 'latin1'));
	}
	const connection = await connect({ uri: url });
	try {
		await connection.query('set session wsrep_sync_wait = 15');
		const [tables] = await connection.query<RowDataPacket[]>('show tables');
		const values: string[] = [];
		for (const table of tables.map((row) => String(Object.values(row)[0]))) {
			const [rows] = await connection.query<RowDataPacket[]>(`select * from \`${table}\``);
			for (const value of rows.flatMap((row) => Object.values(row)))
				values.push(Buffer.isBuffer(value) ? value.toString('latin1') : String(value));
		}
		return values.join('\n');
	} finally {
		await connection.end();
	}
}
