import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { recordOrder, type Services } from '@stowage/core';
import { Command } from 'commander';
import { type Backup, openBackup, openBackupFile } from '../backup/readBackup.js';
import { relinkAll, restore } from '../backup/restore.js';
import { writeBackup } from '../backup/writeBackup.js';
import { createFile, type NewFile } from '../backup/writeDurably.js';
import { administrator } from '../commandLine/administrator.js';
import { withApp } from '../commandLine/appCommand.js';
import { documented } from '../commandLine/documented.js';
import { enter, NamedFile } from '../commandLine/enter.js';
import { printableConfig, withSettings } from '../commandLine/settings.js';
import { printError, printJson, printLine } from '../terminal/output.js';
import { withProgress } from '../terminal/Progress.js';

/** One file of all that the server remembers, made while it runs. */
export function backupCommand(): Command {
	const command = withSettings(
		new Command('backup')
			.description(
				'write one ZIP of the database, the key and the configuration while the server runs; the files themselves are copied by other means',
			)
			.argument('<file>')
			.option('--hashes', 'with the SHA-256 of every file, not only of those that temporary links lead to')
			.option('--json', 'print its manifest'),
	);
	documented(command, ['backup /backup/stowage-2031-02-03.zip', 'backup /backup/today.zip --hashes']);
	return command.action(async (file: string, { hashes, json, config }: BackupFlags) => {
		const target = path.resolve(file);
		const output = new NamedFile(target, (byRoot) => createFile(target, byRoot));
		const from = config ?? process.env.STOWAGE_CONFIG ?? '';
		const configuration = new NamedFile(path.resolve(from), async () =>
			from === '' ? undefined : await readFile(from),
		);
		try {
			await withApp(command, [configuration, output], async (services) => {
				const settings = printableConfig(services.config);
				const options = { hashesAll: hashes === true, configuration: configuration.opened, settings };
				const manifest = await services.audit.recorded({ action: 'backup', to: target }, () =>
					withProgress({ json }, (progress) => writeBackup(services, output.opened as NewFile, options, progress)),
				);
				if (json) printJson(manifest);
				else printLine(`Wrote ${file}. It holds secrets: keep it where only you can read it.`);
			});
		} finally {
			await output.opened?.close();
		}
	});
}

interface BackupFlags {
	hashes?: boolean;
	json?: boolean;
	config?: string;
}

/** Onto an empty machine. */
export function restoreCommand(): Command {
	const command = withSettings(
		new Command('restore')
			.description('bring back users, links, settings and quotas from a backup, into an empty database of either kind')
			.argument('<file>', 'the ZIP that backup wrote')
			.option('--write-config <path>', 'also write the configuration file that the backup holds')
			.option('--relink', 'bind temporary links to the files that were copied back, where the bytes are the same'),
	);
	documented(command, [
		'restore /backup/stowage-2031-02-03.zip --data-dir /var/lib/stowage',
		'restore /backup/stowage-2031-02-03.zip --database-url mysql://stowage:secret@127.0.0.1/stowage',
		'restore /backup/stowage-2031-02-03.zip --relink',
	]);
	return command.action(async (file: string, { relink, writeConfig }: { relink?: boolean; writeConfig?: string }) => {
		const source = new NamedFile(path.resolve(file), async () => openBackupFile(path.resolve(file)));
		const opened = () => openBackup(source.opened as number, source.file);
		if (relink) {
			await withApp(command, [source], async (services) => {
				const backup = await opened();
				await relinkFrom(backup, services).finally(() => backup.close());
			});
			return;
		}
		const written = path.resolve(writeConfig ?? '');
		const target = new NamedFile(written, (byRoot) => createFile(written, byRoot));
		try {
			const config = await enter(command, writeConfig === undefined ? [source] : [source, target]);
			const backup = await opened();
			const tables = await withProgress({}, (progress) => restore(backup, config, target.opened, progress)).finally(
				() => backup.close(),
			);
			const detail = `the backup of ${backup.manifest.createdAt}`;
			await recordOrder(config, administrator(), { action: 'restore', detail });
			printLine(
				`Restored ${tables.get('users')?.count ?? 0} users and ${tables.get('temp_links')?.count ?? 0} temporary links of ${backup.manifest.createdAt}.`,
			);
			printLine('Copy the files back now, then run the same command with --relink so that temporary links hold.');
		} finally {
			await target.opened?.close();
		}
	});
}

async function relinkFrom(backup: Backup, services: Services): Promise<void> {
	const { bound, held, differs, unknown } = await services.audit.recorded(
		{ action: 'relinkLinks' },
		() => withProgress({}, (progress) => relinkAll(backup, services, progress)),
		(counts) => (counts.bound === 0 ? undefined : { entries: counts.bound }),
	);
	printLine(`Bound ${bound} temporary links again; ${held} held already, ${unknown} are not those of the backup.`);
	for (const each of differs) printError(`Not bound, since the file is missing or has other bytes: ${each}`);
}
