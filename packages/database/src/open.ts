import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Stores } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { DatabaseClock } from './connection/DatabaseClock.js';
import { guarded, translated } from './connection/errors.js';
import type { TurnClient } from './connection/sqlite/ConnectionTurns.js';
import { type Changes, sqliteChanges } from './connection/sqlite/sqliteChanges.js';
import { parseDatabaseUrl } from './connection/target.js';
import { allMigrations, type Migration } from './migrations/all.js';
import type { AssertUnserved } from './migrations/migrate.js';
import { secondFactorStore } from './stores/accounts/secondFactors.js';
import { cachedSessions, sessionStore } from './stores/accounts/sessions.js';
import { cachedUsers, userStore } from './stores/accounts/users.js';
import { eventStore } from './stores/coordination/events.js';
import { jobStore } from './stores/coordination/jobs/jobStore.js';
import { keyValueStore, sweepKeyValues } from './stores/coordination/keyValues.js';
import { leaseStore } from './stores/coordination/leases.js';
import { limitStore, sweepLimits } from './stores/coordination/limits.js';
import { processStore } from './stores/coordination/processes.js';
import { homeStore } from './stores/files/homes.js';
import { homeUsageStore } from './stores/files/homeUsage.js';
import { idempotencyStore } from './stores/files/idempotency.js';
import { linkStore } from './stores/files/links.js';
import { memberStore } from './stores/files/members.js';
import { publishedNameStore } from './stores/files/publishedNames.js';
import { rootStore } from './stores/files/roots.js';
import { shareStore } from './stores/files/shares.js';
import { shareUseStore } from './stores/files/shareUses.js';
import { ticketStore } from './stores/files/tickets.js';
import { trashStore } from './stores/files/trash.js';
import { uploadStore } from './stores/files/uploads.js';
import { versionStore } from './stores/files/versions.js';

/** The stores of the database. */
export interface Database extends Stores {
	/** The time of day: the given clock, for a database server corrected by how far this machine's is off from its. */
	now(): number;
	/** Free bytes on the disk of a database file; unbounded for a database that is elsewhere. */
	freeSpace(): Promise<number>;
	/** Whether the database answers. Throws `unavailable` if not. */
	ping(): Promise<void>;
	/** Waits for running statements. May be called again. */
	close(): Promise<void>;
}

export interface DatabaseOptions {
	/** The clock for new rows; milliseconds since the epoch. */
	now?: () => number;
	/** The steps that make the tables, all of them by default. */
	migrations?: readonly Migration[];
	/** Asked before migrations with which programs that are older can't go on. @default nobody serves over it */
	assertUnserved?: AssertUnserved;
	/** The most connections to a database server at once. @default 10 */
	connections?: number;
	/** Names whom the running code works for: changes of a database file are made in turns of these. @default everybody is one */
	client?: () => TurnClient;
}

/**
 * Opens `sqlite:<path>` or `mysql://user:password@host:port/name` (with `?socket=<path>` through that socket) and brings its tables up
 * to date, waiting up to ten minutes for another process that does. Throws a DatabaseError for errors that only the administrator can
 * correct, and the Failure `unavailable` for a server that is away or a file that stays locked. Once open, the stores throw `unavailable`
 * while the database is away and work again when it is back.
 */
export async function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
	const { now = Date.now, migrations = allMigrations, connections = 10, client, assertUnserved } = options;
	try {
		const target = parseDatabaseUrl(url);
		// Loaded when needed: each has a program of its own, and some commands need neither.
		if (target.kind === 'mysql') {
			const { openMysql, createProbe } = await import('./connection/mysql/openMysql.js');
			const server = await openMysql(target.address, migrations, now, connections, assertUnserved);
			const clock = new DatabaseClock(server, now);
			try {
				await clock.compare();
			} catch (error) {
				await server.destroy();
				throw error;
			}
			const all = database(server, clock.now, async () => Number.POSITIVE_INFINITY);
			const probe = createProbe(target.address);
			return {
				...all,
				...guarded({ ping: probe.ping }),
				processes: guarded(processStore(server, clock)),
				async close() {
					await Promise.all([probe.close(), all.close()]);
				},
			};
		}
		const { openSqlite } = await import('./connection/sqlite/openSqlite.js');
		return database(
			await openSqlite(target.path, migrations, now, client, assertUnserved),
			now,
			() => freeSpaceAt(target.path),
			sqliteChanges(target.path),
		);
	} catch (error) {
		throw translated(error);
	}
}

/** `changes` has a version of the whole database, where that costs less than a query. */
function database(knex: Knex, now: () => number, freeSpace: () => Promise<number>, changes?: Changes): Database {
	const sessions = sessionStore(knex, now);
	const users = userStore(knex, now);
	const rest = guarded({
		sweepKeyValues: () => sweepKeyValues(knex, now()),
		sweepLimits: () => sweepLimits(knex, now()),
		async ping() {
			await knex.raw('select 1');
		},
	});
	return {
		users: guarded(changes === undefined ? users : cachedUsers(users, changes)),
		secondFactors: guarded(secondFactorStore(knex, now)),
		sessions: guarded(changes === undefined ? sessions : cachedSessions(sessions, changes)),
		roots: guarded(rootStore(knex, now)),
		homes: guarded(homeStore(knex, now)),
		homeUsage: guarded(homeUsageStore(knex, now)),
		limits: guarded(limitStore(knex)),
		links: guarded(linkStore(knex, now)),
		members: guarded(memberStore(knex, now)),
		shares: guarded(shareStore(knex, now)),
		shareUses: guarded(shareUseStore(knex, now)),
		uploads: guarded(uploadStore(knex)),
		idempotency: guarded(idempotencyStore(knex, now)),
		publishedNames: guarded(publishedNameStore(knex, now)),
		tickets: guarded(ticketStore(knex, now)),
		trash: guarded(trashStore(knex, now)),
		versions: guarded(versionStore(knex, now)),
		jobs: guarded(jobStore(knex, now)),
		leases: guarded(leaseStore(knex, now)),
		events: guarded(eventStore(knex, now)),
		processes: undefined,
		now,
		keyValues: (scope) => guarded(keyValueStore(knex, now, scope)),
		...rest,
		freeSpace,
		async close() {
			changes?.close();
			await knex.destroy();
		},
	};
}

async function freeSpaceAt(file: string): Promise<number> {
	const { bavail, bsize } = await statfs(dirname(resolve(file)));
	return bavail * bsize;
}
