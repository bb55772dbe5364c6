import knex, { type Knex } from 'knex';
import type { Connection } from 'mysql2';
import type { Migration } from '../../migrations/all.js';
import { applyMigrations, migrationState } from '../../migrations/migrate.js';
import { commonSettings } from '../commonSettings.js';
import { codeOf, DatabaseError } from '../errors.js';
import type { MysqlAddress } from '../target.js';
import { MysqlClient, PatientMysqlClient } from './MysqlClient.js';

/** How long a starting process waits for another one that is migrating. */
const migrationLockSeconds = 600;

/**
 * Set for each connection, whatever the server's own defaults are: a value that does not fit a column is refused rather than truncated,
 * and a backslash in a text is escaped as the driver takes for granted. Weaker isolation than the default makes for fewer deadlocks.
 */
const sessionSettings = [
	"set session sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION'",
	'set session transaction isolation level read committed',
];

/** Connects to the server and brings the tables up to date. */
export async function openMysql(
	address: MysqlAddress,
	migrations: readonly Migration[],
	now: () => number,
	connections: number,
): Promise<Knex> {
	// One connection: the lock belongs to it.
	const migrating = connectPatiently(address);
	try {
		await migrate(migrating, migrations, now);
	} catch (error) {
		throw explained(error, address);
	} finally {
		await migrating.destroy();
	}
	return connect(address, MysqlClient, connections);
}

/** One connection for long work. */
export function connectPatiently(address: MysqlAddress): Knex {
	return connect(address, PatientMysqlClient, 1);
}

function connect(address: MysqlAddress, client: typeof MysqlClient, max: number): Knex {
	const { host, port, socketPath, user, password, database } = address;
	return knex({
		client,
		connection: {
			...(socketPath === undefined ? { host, port } : { socketPath }),
			user,
			password,
			database,
			charset: 'utf8mb4',
			connectTimeout: 5000,
		},
		pool: { min: 0, max, acquireTimeoutMillis: 10_000, afterCreate: prepareConnection },
		...commonSettings,
	});
}

function prepareConnection(connection: Connection, done: (error?: unknown) => void): void {
	const settings = sessionSettings.map((setting) => connection.promise().query(setting));
	Promise.all(settings).then(() => done(), done);
}

async function migrate(database: Knex, migrations: readonly Migration[], now: () => number): Promise<void> {
	// Locks are global in the server, so the name contains the database.
	const lock = "concat('stowage-', sha1(database()))";
	const [[{ taken }]] = await database.raw(`select get_lock(${lock}, ?) as taken`, [migrationLockSeconds]);
	if (taken !== 1) throw new DatabaseError('Another process has been migrating this database for ten minutes.');
	const { pending } = await migrationState(database, migrations);
	await applyMigrations(database, pending, now());
	await database.raw(`select release_lock(${lock})`);
}

const reasons: Record<string, string> = {
	ER_ACCESS_DENIED_ERROR: 'refuses this user or password',
	ER_DBACCESS_DENIED_ERROR: 'does not let this user use the database',
	ER_BAD_DB_ERROR: 'has no database of this name',
};

function explained(error: unknown, address: MysqlAddress): unknown {
	const reason = reasons[codeOf(error) ?? ''];
	if (reason === undefined) return error;
	const server = address.socketPath ?? `${address.host}:${address.port}`;
	return new DatabaseError(`The MySQL server ${server} ${reason}: ${address.user}, ${address.database}`, {
		cause: error,
	});
}
