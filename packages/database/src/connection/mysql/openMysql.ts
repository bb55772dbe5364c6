import knex, { type Knex } from 'knex';
import type { Connection, RowDataPacket } from 'mysql2';
import type { Migration } from '../../migrations/all.js';
import { addIndexesHere } from '../../migrations/largeIndexes.js';
import {
	type AssertUnserved,
	applyMigrations,
	assertMayMigrate,
	makeMigrationsTable,
	migrationState,
} from '../../migrations/migrate.js';
import { commonSettings } from '../commonSettings.js';
import { codeOf, DatabaseError } from '../errors.js';
import type { MysqlAddress } from '../target.js';
import { MigrationLock } from './MigrationLock.js';
import { MysqlClient, PatientMysqlClient, serverLimits } from './MysqlClient.js';

/**
 * Set for each connection, whatever the server's own defaults are: a value that does not fit a column is refused rather than truncated,
 * and a backslash in a text is escaped as the driver takes for granted. Weaker isolation than the default makes for fewer deadlocks.
 */
const sessionSettings = [
	"set session sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION'",
	'set session transaction isolation level read committed',
];

const { lockWaitSeconds, statementSeconds } = serverLimits;

/** Set for connections whose statements are given up after a while. An administrator may have set less. */
const lockSettings = ['lock_wait_timeout', 'innodb_lock_wait_timeout'].map(
	(name) => `set session ${name} = least(@@${name}, ${lockWaitSeconds})`,
);

/**
 * Set for the same where the server is a MariaDB by itself. MySQL has no such limit for statements that write; a node of a cluster
 * would break off what the others are about to have.
 */
const mariadbSettings = [
	`set session max_statement_time = if(@@max_statement_time = 0, ${statementSeconds}, least(@@max_statement_time, ${statementSeconds}))`,
];

/**
 * Set where the server is a node of a Galera cluster: reads, updates and inserts first wait until the node has applied all that was
 * committed at any node before. Otherwise it would not know a session that has just begun or ended at another one.
 */
const clusterSettings = ['set session wsrep_sync_wait = 7'];

/** Connects to the server and brings the tables up to date. */
export async function openMysql(
	address: MysqlAddress,
	migrations: readonly Migration[],
	now: () => number,
	connections: number,
	assertUnserved: AssertUnserved = async () => {},
): Promise<Knex> {
	try {
		await migrate(address, migrations, now, assertUnserved);
	} catch (error) {
		throw explained(error, address);
	}
	return connect(address, MysqlClient, connections);
}

/**
 * Asks whether the server can be used, over a connection of its own: others may all be waiting. In a cluster it waits for no other
 * node, as a query does until it is decided that one which does not answer has left; a node without a majority refuses this, too.
 */
export function createProbe(address: MysqlAddress): { ping(): Promise<void>; close(): Promise<void> } {
	const probe = connect(address, MysqlClient, 1);
	return {
		async ping() {
			await probe.raw('do 1');
		},
		close: () => probe.destroy(),
	};
}

/** One connection for long work. `beforeStatement` is awaited before each statement, which it may refuse by throwing. */
export function connectPatiently(address: MysqlAddress, beforeStatement?: () => Promise<void>): Knex {
	return connect(address, PatientMysqlClient, 1, { beforeStatement });
}

function connect(address: MysqlAddress, client: typeof MysqlClient, max: number, further: object = {}): Knex {
	const { host, port, socketPath, user, password, database } = address;
	return knex({
		client,
		connection: {
			...(socketPath === undefined ? { host, port } : { socketPath }),
			user,
			password,
			database,
			charset: 'utf8mb4',
			// The client's own limit counts.
			connectTimeout: 0,
		},
		pool: { min: 0, max, acquireTimeoutMillis: 10_000, afterCreate: preparing(client !== PatientMysqlClient) },
		...commonSettings,
		...further,
	});
}

function preparing(isLimited: boolean) {
	return (connection: Connection, done: (error?: unknown) => void): void => {
		prepare(connection, isLimited).then(() => done(), done);
	};
}

async function prepare(connection: Connection, isLimited: boolean): Promise<void> {
	const server = connection.promise();
	// Sent together: the driver keeps their order.
	const [[rows]] = await Promise.all([
		server.query<RowDataPacket[]>("show global variables where variable_name in ('wsrep_on', 'version')"),
		...[...sessionSettings, ...(isLimited ? lockSettings : [])].map((setting) => server.query(setting)),
	]);
	const variables = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, String(Value)]));
	const isNode = variables.get('wsrep_on') === 'ON';
	const isMariadb = variables.get('version')?.includes('MariaDB');
	const further = isNode ? clusterSettings : isMariadb && isLimited ? mariadbSettings : [];
	for (const setting of further) await server.query(setting);
}

/**
 * Runs missing migrations. Writes and locks nothing if the tables are up to date, so that a server starts also while a
 * newer one migrates.
 */
async function migrate(
	address: MysqlAddress,
	migrations: readonly Migration[],
	now: () => number,
	assertUnserved: AssertUnserved,
): Promise<void> {
	const patient = connectPatiently(address);
	try {
		const { pending } = await migrationState(patient, migrations);
		if (pending.length > 0) await migrateExclusively(address, migrations, now, assertUnserved);
		await addIndexesHere(
			patient,
			migrations.flatMap(({ indexes = [] }) => indexes),
		);
	} finally {
		await patient.destroy();
	}
}

async function migrateExclusively(
	address: MysqlAddress,
	migrations: readonly Migration[],
	now: () => number,
	assertUnserved: AssertUnserved,
): Promise<void> {
	// A connection of its own: the lock is renewed while a statement of the migration runs.
	const coordinating = connect(address, MysqlClient, 1);
	const lock = new MigrationLock(coordinating);
	const migrating = connectPatiently(address, () => lock.assertHeld());
	try {
		await lock.acquire();
		await makeMigrationsTable(migrating);
		const state = await migrationState(migrating, migrations);
		await assertMayMigrate(state, () => listedProcesses(migrating), assertUnserved);
		await applyMigrations(migrating, state.pending, now());
	} finally {
		try {
			await lock.release();
		} finally {
			await migrating.destroy();
			await coordinating.destroy();
		}
	}
}

/** The names of all processes that have said that they serve, and not that they have ended. */
async function listedProcesses(knex: Knex): Promise<string[]> {
	// Tables from before it was there.
	if (!(await knex.schema.hasTable('processes'))) return [];
	return knex<{ name: string }>('processes').pluck('name');
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
