import path from 'node:path';
import {
	type Config,
	ConfigError,
	migrationNames,
	type RootState,
	readConfigBytes,
	readSnapshot,
	recordCommand,
	type Services,
} from '@stowage/core';
import { Failure, isFailure } from '@stowage/rules';
import { Command } from 'commander';
import { type Backup, openBackup, openBackupFile, openBackupInput } from '../backup/readBackup.js';
import { type ConfigurationFile, finishRestore, relinkAll, restore } from '../backup/restore.js';
import { targetOf } from '../backup/target.js';
import { type Unreadable, writeBackup } from '../backup/writeBackup.js';
import { createFile, type NewFile } from '../backup/writeDurably.js';
import { administrator } from '../commandLine/administrator.js';
import { withApp } from '../commandLine/appCommand.js';
import { assertNoServerHere } from '../commandLine/assertNoServerHere.js';
import { commandLog } from '../commandLine/commandLog.js';
import { startupCode, withHelp } from '../commandLine/help.js';
import { loadConfigAsOwner, NamedFile } from '../commandLine/loadConfigAsOwner.js';
import { printableConfig, withSettings } from '../commandLine/settings.js';
import { isOnTerminal, printError, printJson, printLine, writeBytes } from '../terminal/output.js';
import { withProgress } from '../terminal/Progress.js';

/** Writes a backup of the database, the key and the configuration, also while the server runs. */
export function backupCommand(): Command {
	const command = withSettings(
		new Command('backup')
			.description(
				'write one ZIP of the database, the key and the configuration while the server runs; the files themselves are copied by other means',
			)
			.argument('<target>', 'a new file, a folder for a file with the date in its name, or - for standard output')
			.option('--keep <count>', 'of a folder: remove its oldest backups afterwards, so that so many are left')
			.option('--hashes', 'with the SHA-256 of every file, not only of those that temporary links and shares lead to')
			.option('--json', 'print its manifest, its file and the removed backups'),
	);
	withHelp(
		command,
		[
			'backup /backup --keep 14',
			'backup /backup/before-upgrade.zip --hashes',
			'backup - | gpg --encrypt --recipient ada > stowage.zip.gpg',
		],
		`Exit codes: 0 done, 1 refused or failed, or a storage root is away, ${startupCode}.`,
	);
	return command.action(async (word: string, { hashes, keep, json, config }: BackupFlags) => {
		const target = targetOf(word, keep);
		if (target.kind === 'output') assertPiped(json === true);
		const file =
			target.kind === 'output' ? undefined : new NamedFile(target.file, (byRoot) => createFile(target.file, byRoot));
		const from = config ?? process.env.STOWAGE_CONFIG ?? '';
		const configuration = new NamedFile(path.resolve(from), async () =>
			from === '' ? undefined : readConfigFile(from),
		);
		try {
			await withApp(
				command,
				file === undefined ? [configuration] : [configuration, file],
				async (services) => {
					const settings = printableConfig(services.config);
					const options = { hashesAll: hashes === true, configuration: configuration.opened, settings };
					const to = file?.file ?? 'standard output';
					const { manifest, unreadable } = await services.audit.recorded({ action: 'backup', to }, () =>
						withProgress({ json }, (progress) => writeBackup(services, file?.opened ?? toOutput, options, progress)),
					);
					if (file === undefined) printError(`Wrote the backup. ${secrets}`);
					else if (!json) printLine(`Wrote ${file.file}. ${secrets}`);
					const kept = target.kind === 'output' ? undefined : target.keep;
					const removed = kept === undefined ? [] : ((await file?.opened?.removeOldest(kept)) ?? []);
					if (json) printJson({ file: to, removed, ...manifest });
					else for (const name of removed) printLine(`Removed the old backup ${name}.`);
					const roots = await services.rootAdministration.list();
					report(unreadable, hashes === true, roots);
				},
				assertMigrated,
			);
		} finally {
			await file?.opened?.close();
		}
	});
}

/**
 * Lists unreadable files, which have no hash in the backup, and the storage roots that can't be used. Throws if every file was
 * to have its hash; otherwise the hashes are for files that links lead to, and no link serves an unreadable one. Throws for a
 * root that is away, too: a script that goes on would copy an empty mount point over the copy of its files.
 */
function report({ count, paths }: Unreadable, hashesAll: boolean, roots: readonly RootState[]): void {
	for (const each of paths) printError(`Can't be read, and has no hash in the backup: ${each}`);
	if (count > paths.length) printError(`... and ${count - paths.length} more.`);
	const unusable = roots.filter(({ fault }) => fault !== null);
	for (const { name, fault } of unusable) printError(`The storage root ${name} can't be used: ${fault}`);
	if (count > 0 && hashesAll)
		throw new Failure('forbidden', 'The backup is written, but without the hashes of files that can’t be read.');
	if (unusable.length > 0)
		throw new Failure(
			'unavailable',
			'The backup is written and whole, but not every storage root can be used. Do not copy the files of such a root now: what lies in its place would replace the copy of them.',
		);
}

/** Opening the database would migrate it, and the version that is gone back to would refuse the backup. */
async function assertMigrated({ databaseUrl }: Config): Promise<void> {
	// What can't be read is a matter of who opens it, and of one that is new nothing is pending.
	const applied = await readSnapshot(databaseUrl, async ({ migrations }) => migrations).catch((): string[] => []);
	const pending = migrationNames.filter((name) => !applied.includes(name));
	if (applied.length === 0 || pending.length === 0) return;
	throw new Failure(
		'conflict',
		`The tables of the database are those of an older version, which could not restore a backup of this one (pending: ${pending.join(', ')}). Make the backup by that version, or first start the server by this one, or run stowage migrate, which copies an SQLite database before.`,
	);
}

const secrets = 'It holds secrets: keep it where only you can read it.';

const toOutput: NewFile = { write: writeBytes, close: async () => undefined };

function assertPiped(isJson: boolean): void {
	if (isOnTerminal())
		throw new Failure('invalid', 'A ZIP is not for a terminal: let a program or a file take it, or name a file.');
	if (isJson) throw new Failure('invalid', 'With - only the ZIP is written, which contains the manifest.');
}

function readConfigFile(file: string): Buffer {
	try {
		return readConfigBytes(file);
	} catch (cause) {
		if (cause instanceof ConfigError) throw cause;
		const { code } = cause as NodeJS.ErrnoException;
		throw new Failure('forbidden', `The configuration file can't be read (${code}): ${file}`, { cause });
	}
}

interface BackupFlags {
	hashes?: boolean;
	keep?: string;
	json?: boolean;
	config?: string;
}

/** Brings back what a backup has, in an empty data folder and database. */
export function restoreCommand(): Command {
	const command = withSettings(
		new Command('restore')
			.description('bring back users, links, settings and quotas from a backup, into an empty database of either kind')
			.argument('<file>', 'the ZIP that backup wrote, or - for standard input')
			.option('--write-config <path>', 'also write the configuration file that the backup holds')
			.option(
				'--relink',
				'bind temporary links and shares to the files that were copied back, where the bytes are the same',
			),
	);
	withHelp(command, [
		'restore /backup/stowage-2031-02-03T030000Z.zip --data-dir /var/lib/stowage',
		'restore /backup/stowage-2031-02-03T030000Z.zip --config /etc/stowage/config.yaml',
		'restore /backup/stowage-2031-02-03T030000Z.zip --relink',
		'restore - < /backup/stowage-2031-02-03T030000Z.zip',
	]);
	return command.action(async (file: string, { relink, writeConfig }: { relink?: boolean; writeConfig?: string }) => {
		const input = file === '-' ? await openBackupInput() : undefined;
		const source = new NamedFile(path.resolve(file), async () => input ?? openBackupFile(path.resolve(file)));
		const opened = () => openBackup(source.opened as number, input === undefined ? source.file : 'standard input');
		if (relink) {
			await withApp(command, [source], async (services) => {
				const backup = await opened();
				await relinkFrom(backup, services).finally(() => backup.close());
			});
			return;
		}
		const written = path.resolve(writeConfig ?? '');
		const target = new NamedFile(written, (byRoot) => configurationFile(written, byRoot));
		try {
			const config = await loadConfigAsOwner(command, writeConfig === undefined ? [source] : [source, target]);
			const backup = await opened();
			try {
				await assertNoServerHere(config);
				await withProgress({}, (progress) => restore(backup, config, target.opened, progress));
				const { createdAt, database } = backup.manifest;
				const detail = `the backup of ${createdAt}`;
				await recordCommand(config, commandLog(command, config), administrator(), { action: 'restore', detail });
				await finishRestore(backup, config);
				const { users = 0, temp_links: links = 0 } = database.tables;
				printLine(`Restored ${users} users and ${links} temporary links and shared items of ${createdAt}.`);
			} finally {
				backup.close();
			}
			printLine(
				'Copy the files back now, then run the same command with --relink so that temporary links and shares hold.',
			);
		} finally {
			await target.opened?.close();
		}
	});
}

/** A file that is there already may be what an interrupted call has written. */
async function configurationFile(file: string, byRoot: boolean): Promise<ConfigurationFile> {
	try {
		return { ...(await createFile(file, byRoot)), assertFits: () => undefined };
	} catch (error) {
		if (!isFailure(error, 'alreadyExists')) throw error;
		const found = bytesOf(file);
		if (found === undefined) throw error;
		return {
			assertFits(content) {
				if (!found.equals(content)) throw error;
			},
			write: async () => undefined,
			close: async () => undefined,
		};
	}
}

function bytesOf(file: string): Buffer | undefined {
	try {
		return readConfigBytes(file);
	} catch {
		return undefined;
	}
}

async function relinkFrom(backup: Backup, services: Services): Promise<void> {
	const { bound, held, differs, unknown, unavailable, memberless } = await services.audit.recorded(
		{ action: 'relinkLinks' },
		() => withProgress({}, (progress) => relinkAll(backup, services, progress)),
		(counts) => (counts.bound === 0 ? undefined : { entries: counts.bound }),
	);
	printLine(
		`Bound ${bound} temporary links and shared items again; ${held} held already, ${unknown} are not those of the backup.`,
	);
	for (const each of differs) printError(`Not bound, since the file is missing or has other bytes: ${each}`);
	for (const each of unavailable) printError(`Not bound, since its storage is not available: ${each}`);
	for (const { owner, path: at, members } of memberless) {
		const viewers = members.filter(({ role }) => role === 'view').map(({ user }) => user.username);
		const left = `${viewers.join(', ')} can only look at what is there, also within a folder that they may edit`;
		printError(
			`The members of ${owner.username}: ${at} don’t have it until ${owner.username} sets them again${viewers.length === 0 ? '.' : `; ${left}.`}`,
		);
	}
}
