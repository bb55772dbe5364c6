import { resolve } from 'node:path';
import type { LiveProcess } from '@stowage/plugin-api';
import { DatabaseClock } from '../connection/DatabaseClock.js';
import { codeOf, translated } from '../connection/errors.js';
import { assertUsable, namedFile, openFile } from '../connection/sqlite/sqliteFile.js';
import { parseDatabaseUrl } from '../connection/target.js';
import { processStore } from '../stores/coordination/processes.js';

export interface DatabaseFindings {
	/** The damage that the database itself finds in its tables; empty if there is none. */
	damage: string[];
	/** Rows with dangling references. */
	orphans: number;
	/** The time of day of the database's machine, if it is another one; milliseconds since the epoch. */
	now: number | undefined;
	/** The processes that serve over a database server. */
	live: LiveProcess[];
}

/** Lets the database check all of its contents. Changes nothing, and creates no database. */
export async function checkDatabase(url: string, liveMs: number): Promise<DatabaseFindings> {
	const target = parseDatabaseUrl(url);
	try {
		return target.kind === 'sqlite' ? checkSqlite(resolve(target.path)) : await checkMysql(url, liveMs);
	} catch (error) {
		throw translated(error);
	}
}

function checkSqlite(file: string): DatabaseFindings {
	assertUsable(file);
	const connection = openFile(file, { timeout: 5000 });
	try {
		connection.exec('PRAGMA query_only = ON');
		const rows = connection.prepare('PRAGMA integrity_check(10)').all() as { integrity_check: string }[];
		const damage = rows.map((row) => row.integrity_check).filter((finding) => finding !== 'ok');
		return { damage, orphans: connection.prepare('PRAGMA foreign_key_check').all().length, now: undefined, live: [] };
	} catch (error) {
		const code = codeOf(error) ?? '';
		if (code !== 'SQLITE_NOTADB' && !code.startsWith('SQLITE_CORRUPT')) throw namedFile(error, file);
		return { damage: [(error as Error).message], orphans: 0, now: undefined, live: [] };
	} finally {
		connection.close();
	}
}

async function checkMysql(url: string, liveMs: number): Promise<DatabaseFindings> {
	const target = parseDatabaseUrl(url);
	if (target.kind !== 'mysql') throw new Error('Only a MySQL address is checked so.');
	const { connectPatiently } = await import('../connection/mysql/openMysql.js');
	const knex = connectPatiently(target.address);
	try {
		const [tables] = (await knex.raw(
			"select table_name as name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE'",
		)) as [{ name: string }[]];
		const names = tables.map(({ name }) => name);
		const damage: string[] = [];
		if (names.length > 0) {
			const marks = names.map(() => '??').join(', ');
			const [rows] = (await knex.raw(`check table ${marks}`, names)) as [Record<string, string>[]];
			for (const { Table, Msg_type: type, Msg_text: text } of rows)
				if (type !== 'note' && text !== 'OK') damage.push(`${Table}: ${text}`);
		}
		const clock = new DatabaseClock(knex, Date.now);
		const { offset } = await clock.compare();
		const now = Date.now() - offset;
		const live = names.includes('processes') ? await processStore(knex, clock).live(liveMs) : [];
		return { damage, orphans: 0, now, live };
	} finally {
		await knex.destroy();
	}
}
