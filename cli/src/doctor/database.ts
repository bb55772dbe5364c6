import {
	byDoubt,
	type Config,
	checkDatabase,
	clockFaults,
	differingSettings,
	forgottenMs,
	identifyProcess,
	maxNodeClockMs,
	migrationNames,
	nodeOf,
	readSnapshot,
} from '@stowage/core';
import { clockFinding } from './dataFolder.js';
import { type Finding, fault, ok, reasonOf, warn } from './findings.js';

/** The rest of that page begins with another data folder, which would cost the files of today. */
const restoreIt =
	'Stop the server, leave the files where they are, and restore the database from a backup: docs/restore.md, "Only the database is damaged".';

/** Whether the database is undamaged and of this version; `isUsable` if the storage roots can be read from it. */
export async function checkDatabaseOf(config: Config): Promise<{ findings: Finding[]; isUsable: boolean }> {
	const what = 'database';
	const { databaseUrl } = config;
	try {
		const { migrations, incompatible } = await readSnapshot(databaseUrl, async (snapshot) => snapshot);
		const { damage, orphans, now, live } = await checkDatabase(databaseUrl, forgottenMs);
		const findings: Finding[] = damage.map((each) => fault(what, `damaged: ${each}`, restoreIt));
		if (orphans > 0) findings.push(fault(what, `${orphans} rows refer to nothing`, restoreIt));
		const pending = migrationNames.filter((name) => !migrations.includes(name));
		if (incompatible.length > 0)
			findings.push(
				fault(what, `written by a newer Stowage (${incompatible.join(', ')})`, 'Install that version again.'),
			);
		else if (pending.length > 0)
			findings.push(warn(what, `pending migrations: ${pending.join(', ')}`, pendingRemedy(databaseUrl)));
		if (findings.length === 0) findings.push(ok(what, 'whole and up to date'));
		const isUsable = findings.every(({ state }) => state === 'ok');
		if (now !== undefined) findings.push(clockFinding('the database', now, maxNodeClockMs));
		const { living } = await byDoubt(live, { node: nodeOf(config), identity: await identifyProcess() });
		for (const message of clockFaults(living))
			findings.push(warn('clock', message, 'Let all machines get their time by NTP: timedatectl set-ntp true.'));
		for (const message of differingSettings(living))
			findings.push(warn('nodes', message, 'Give all nodes the same value, and restart the one that has another.'));
		return { findings, isUsable };
	} catch (error) {
		const message = reasonOf(error);
		const finding = message.startsWith('There is no database')
			? warn(what, message, 'The first start makes it.')
			: fault(what, message, remedyOf(message));
		return { findings: [finding], isUsable: false };
	}
}

function pendingRemedy(databaseUrl: string): string {
	return databaseUrl.startsWith('sqlite:')
		? 'stowage migrate, or the next start of the server, which copy the database before. A backup that the older version can restore is made by that one.'
		: 'Make a dump of the database, then stowage migrate. A backup that the older version can restore is made by that one.';
}

function remedyOf(message: string): string {
	if (message.startsWith('The database is damaged')) return restoreIt;
	if (message.startsWith('This user may not'))
		return "Run this as the server's user; if that is this one, give the file to it (chown -h).";
	if (/^(The database|A file of the database) (is a named pipe|is a link|is no file)/.test(message))
		return `Find out who has put it there, and remove it. If the database itself is gone: ${restoreIt}`;
	if (
		/^(The database file|A file of the database) cannot be used|^The database is not available right now \(/.test(
			message,
		)
	)
		return "Give the file, those beside it and their folder to the server's user (chown -h), and make room on the disk.";
	return 'See to it that the database runs, and that databaseUrl names it with its user and password.';
}
