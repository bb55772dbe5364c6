import { closeSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import {
	agreeOnSecret,
	assertUnserved,
	ConfigError,
	checkConfig,
	fillDatabase,
	findServing,
	liveMs,
	migrationNames,
	openDatabase,
	putBack,
	readOrMakeSecret,
	readSnapshot,
	recordCommand,
	type Snapshot,
	type TableRows,
	withoutPassword,
} from '@stowage/core';
import { Failure, undefinedIf } from '@stowage/rules';
import { Command } from 'commander';
import { openBackupFile } from '../backup/readBackup.js';
import { administrator } from '../commandLine/administrator.js';
import { assertNoServerHere } from '../commandLine/assertNoServerHere.js';
import { commandLog } from '../commandLine/commandLog.js';
import { withHelp } from '../commandLine/help.js';
import { loadConfigAsOwner, NamedFile } from '../commandLine/loadConfigAsOwner.js';
import { withSettings } from '../commandLine/settings.js';
import { objectionToDatabase } from '../privileges/placesOfRoot.js';
import { printJson, printLine, printList } from '../terminal/output.js';
import { withProgress, withRowProgress } from '../terminal/Progress.js';
import { readLine } from '../terminal/readPassword.js';

interface MigrateOptions {
	status?: boolean;
	newSessionKey?: boolean;
	back?: string;
	json?: boolean;
}

/** A server that runs goes on with the former key, and would take the cookies that are sealed with the new one for forged. */
function assertNoServerRuns(live: readonly { node: string }[]): void {
	if (live.length === 0) return;
	const nodes = [...new Set(live.map(({ node }) => node))].sort().join(', ');
	throw new Failure(
		'locked',
		`Stop all servers over this database first. These nodes serve, or were killed within the last ${liveMs / 1000} s: ${nodes}`,
	);
}

/** Brings the tables up to date, or lists the missing migrations. */
export function migrateCommand(): Command {
	const command = withSettings(
		new Command('migrate')
			.description('bring the tables of the database up to date; of an SQLite database a snapshot is made before')
			.option('--status', 'only say which migrations were applied and which are pending')
			.option(
				'--new-session-key',
				'let the session key of this configuration be that of all servers over a database server',
			)
			.option(
				'--back <copy>',
				'put the copy that was made before a migration in the place of the SQLite database, and keep what is there beside it',
			)
			.option('--json', 'as JSON'),
	);
	withHelp(command, [
		'migrate --status',
		'migrate',
		'migrate --back /var/lib/stowage/stowage.db.2031-02-03T04-05-06.000Z.before-0039-boats',
	]);
	return command.action(async ({ status, json, newSessionKey, back }: MigrateOptions) => {
		if (back !== undefined) {
			if (status || newSessionKey)
				throw new Failure('invalid', '--back is used alone: the older version then makes the tables its own.');
			return goBack(command, path.resolve(back), json === true);
		}
		const config = await loadConfigAsOwner(command);
		await checkConfig(config);
		const applied = async () => readSnapshot(config.databaseUrl, async ({ migrations }) => migrations);
		const before = await applied();
		if (!status) {
			const database = await openDatabase(config.databaseUrl, {
				assertUnserved: (listed) => assertUnserved(config, listed),
			});
			try {
				if (newSessionKey) {
					assertNoServerRuns(await findServing(config, database, commandLog(command, config)));
					await agreeOnSecret(
						database,
						config.sessionKey ?? (await readOrMakeSecret(config.dataDir, commandLog(command, config))),
					);
				}
			} finally {
				await database.close();
			}
		}
		const now = status ? before : await applied();
		const added = now.filter((name) => !before.includes(name));
		if (added.length > 0)
			await recordCommand(config, commandLog(command, config), administrator(), {
				action: 'migrate',
				detail: added.join(', '),
				entries: added.length,
			});
		const rows = [...new Set([...migrationNames, ...now])].sort().map((name) => ({
			name,
			state: stateOf(name, before, now),
		}));
		await printList(rows, {
			json,
			columns: [{ title: 'MIGRATION' }, { title: 'STATE' }],
			row: ({ name, state }) => [name, state],
		});
	});
}

/** Puts a copy back. A server that runs would go on with the former database, and write of it over the copy. */
async function goBack(command: Command, file: string, json: boolean): Promise<void> {
	const source = new NamedFile<number>(file, async () => openBackupFile(file));
	// What a killed process has left belongs to the database: its last commits, or how to roll one back.
	const real = await realpath(file).catch(() => file);
	const [wal, journal] = ['-wal', '-journal'].map((ending) => {
		const beside = `${real}${ending}`;
		const open = async () => openBackupFile(beside);
		return new NamedFile(beside, () => undefinedIf(open(), 'notFound'));
	}) as [NamedFile<number | undefined>, NamedFile<number | undefined>];
	const config = await loadConfigAsOwner(command, [source, wal, journal]);
	const copy = { file: source.opened as number, wal: wal.opened, journal: journal.opened };
	try {
		await checkConfig(config);
		await assertNoServerHere(config);
		const replaced = await putBack(config.databaseUrl, copy, new Date());
		const detail = `back to ${path.basename(file)}`;
		await recordCommand(config, commandLog(command, config), administrator(), { action: 'migrate', detail });
		if (json) printJson({ restored: file, replaced });
		else {
			printLine(`The database is that of ${path.basename(file)} again. What was there is ${replaced}.`);
			printLine(
				'Install the version that it was made by before you start the server: this one would migrate it again.',
			);
		}
	} finally {
		for (const each of Object.values(copy)) if (each !== undefined) closeSync(each);
	}
}

function stateOf(name: string, before: readonly string[], now: readonly string[]): string {
	if (!migrationNames.includes(name)) return 'of a newer Stowage';
	if (!now.includes(name)) return 'pending';
	return before.includes(name) ? 'applied' : 'applied now';
}

/** The address of a database, which may have a password, from standard input. */
async function readAddress(): Promise<string> {
	if (process.stdin.isTTY)
		throw new Failure(
			'invalid',
			'With --to - a file or a program gives the address: database copy --to - < /root/new-database',
		);
	const address = (await readLine('The address')).trim();
	if (address === '') throw new Failure('invalid', 'Standard input names no database.');
	return address;
}

export function databaseCommand(): Command {
	return new Command('database').description('work on the database as a whole').addCommand(copyCommand());
}

function copyCommand(): Command {
	const command = withSettings(
		new Command('copy')
			.description('copy all rows into an empty database of either kind, and compare them')
			.requiredOption(
				'--to <url>',
				'the database to fill: sqlite:<path>, mysql://user:password@host:port/name, or - for one that standard input names, which other users of the machine can’t see',
			)
			.option('--json', 'as JSON'),
	);
	withHelp(command, [
		'database copy --to - < /root/new-database',
		'database copy --config /etc/stowage/config.yaml --to sqlite:/var/lib/stowage/stowage.db',
	]);
	return command.action(async ({ to: named, json }: { to: string; json?: boolean }) => {
		const to = named === '-' ? await readAddress() : named;
		const config = await loadConfigAsOwner(command);
		const { databaseUrl } = config;
		if (process.geteuid?.() === 0) {
			const reason = await objectionToDatabase(to, config.dataDir);
			if (reason !== undefined) throw new ConfigError(reason);
		}
		if (absolute(to) === absolute(databaseUrl)) throw new Failure('invalid', 'This is the database itself.');
		const written = await withProgress({ json }, (progress) =>
			readSnapshot(databaseUrl, (snapshot) =>
				fillDatabase(to, snapshot, withRowProgress(rowsOf(snapshot), { what: 'Copying' }, progress)),
			),
		);
		await (await openDatabase(to)).close();
		await recordCommand(config, commandLog(command, config), administrator(), {
			action: 'copyDatabase',
			to: withoutPassword(absolute(to)),
		});
		const rows = [...written].map(([table, { count, digest }]) => ({ table, rows: count, digest }));
		await printList(rows, {
			json,
			columns: [{ title: 'TABLE' }, { title: 'ROWS' }],
			row: (each) => [each.table, each.rows],
		});
		if (json) return;
		printLine(
			'Copied, and the same when read back. Stop the server before you switch: what it wrote since is missing.',
		);
	});

	function absolute(url: string): string {
		return url.startsWith('sqlite:') ? `sqlite:${path.resolve(url.slice('sqlite:'.length))}` : url;
	}

	async function* rowsOf(snapshot: Snapshot): AsyncGenerator<TableRows> {
		for (const table of snapshot.tables) for await (const rows of snapshot.rows(table)) yield { table, rows };
	}
}
