import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createApp } from '@stowage/core';
import { Command } from 'commander';
import { type Backup, openBackup } from '../backup/readBackup.js';
import { relinkAll, restore } from '../backup/restore.js';
import { writeBackup } from '../backup/writeBackup.js';
import { appCommand } from '../commandLine/appCommand.js';
import { documented } from '../commandLine/documented.js';
import { configOf, printableConfig, withSettings } from '../commandLine/settings.js';
import { printJson } from '../terminal/output.js';
import { withProgress } from '../terminal/Progress.js';

/** One file of all that the server remembers, made while it runs. */
export function backupCommand(): Command {
	const command = appCommand<{ hashes?: boolean; json?: boolean; config?: string }>({
		usage: 'backup <file>',
		description:
			'write one ZIP of the database, the key and the configuration while the server runs; the files themselves are copied by other means',
		examples: ['backup /backup/stowage-2031-02-03.zip', 'backup /backup/today.zip --hashes'],
		async run(services, [file = ''], { hashes, json, config }) {
			const from = config ?? process.env.STOWAGE_CONFIG;
			const options = {
				hashesAll: hashes === true,
				configuration: from === undefined || from === '' ? undefined : await readFile(from),
				settings: printableConfig(services.config),
			};
			const manifest = await withProgress({ json }, (progress) =>
				writeBackup(services, path.resolve(file), options, progress),
			);
			if (json) printJson(manifest);
			else console.log(`Wrote ${file}. It holds secrets: keep it where only you can read it.`);
		},
	});
	return command
		.option('--hashes', 'with the SHA-256 of every file, not only of those that temporary links lead to')
		.option('--json', 'print its manifest');
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
		const backup = await openBackup(path.resolve(file));
		try {
			if (relink) return await relinkFrom(backup, command);
			const target = writeConfig === undefined ? undefined : path.resolve(writeConfig);
			const config = configOf(command);
			const written = await withProgress({}, (progress) => restore(backup, config, target, progress));
			console.log(
				`Restored ${written.get('users')?.count ?? 0} users and ${written.get('temp_links')?.count ?? 0} temporary links of ${backup.manifest.createdAt}.`,
			);
			console.log('Copy the files back now, then run the same command with --relink so that temporary links hold.');
		} finally {
			backup.close();
		}
	});
}

async function relinkFrom(backup: Backup, command: Command): Promise<void> {
	const app = await createApp(configOf(command), { serves: false });
	try {
		const { bound, held, differs, unknown } = await withProgress({}, (progress) =>
			relinkAll(backup, app.services, progress),
		);
		console.log(`Bound ${bound} temporary links again; ${held} held already, ${unknown} are not those of the backup.`);
		for (const each of differs) console.error(`Not bound, since the file is missing or has other bytes: ${each}`);
	} finally {
		await app.stop();
	}
}
