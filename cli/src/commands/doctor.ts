import { type Config, isStartupMistake } from '@stowage/core';
import { Command } from 'commander';
import { withHelp } from '../commandLine/help.js';
import { loadConfigAsOwner } from '../commandLine/loadConfigAsOwner.js';
import { configFileOf, withSettings } from '../commandLine/settings.js';
import { checkConfiguration, checkFirstSteps, checkProxy, checkStrangers } from '../doctor/configuration.js';
import { checkDatabaseOf } from '../doctor/database.js';
import { checkDataFolder, checkUser } from '../doctor/dataFolder.js';
import { checkFiles, type FilesScope } from '../doctor/files.js';
import { type Finding, fault, reasonOf } from '../doctor/findings.js';
import { checkPrograms } from '../doctor/programs.js';
import { checkService } from '../doctor/service.js';
import { checkStorage } from '../doctor/storage.js';
import { ExitCode } from '../terminal/explain.js';
import { printEach, printList, printRows } from '../terminal/output.js';

interface DoctorOptions extends FilesScope {
	json?: boolean;
	files?: boolean;
}

/** Checks the installation. */
export function doctorCommand(): Command {
	const command = withSettings(
		new Command('doctor')
			.description(
				'look at configuration, permissions, database, storage, programs, clock and proxy, and say how to correct what is wrong',
			)
			.option(
				'--files',
				'examine the files instead: name what the server can’t read, change or show, and how to correct it',
			)
			.option('--user <name>', 'with --files: only the home of this account')
			.option('--root <name>', 'with --files: only this storage root')
			.option('--all', 'with --files: name all, also if there are many of a kind')
			.option('--json', 'as JSON'),
	);
	withHelp(
		command,
		['doctor', 'doctor --config /etc/stowage/stowage.yaml --json', 'doctor --files', 'doctor --files --user ada --all'],
		'Exit codes: 0 all is well, 1 there are warnings, 2 there are errors.',
	);
	return command.action(async ({ json, files, ...scope }: DoctorOptions) => {
		if (files) return examineFiles(command, scope, json);
		const findings = await examine(command);
		await printList(findings, {
			json,
			columns: [
				{ title: 'STATE' },
				{ title: 'WHAT' },
				{ title: 'MESSAGE', fit: 'wrap' },
				{ title: 'REMEDY', fit: 'wrap' },
			],
			row,
		});
		endWith(Math.max(...findings.map(levelOf)));
	});
}

const row = ({ state, what, message, remedy }: Finding) => [state, what, message, ...(remedy ? [remedy] : [])];

const levelOf = ({ state }: Finding) => ['ok', 'warn', 'error'].indexOf(state);

function endWith(worst: number): void {
	if (worst > 0) throw new ExitCode(worst);
}

/** Prints findings as they are made: there may be millions of files. */
async function examineFiles(command: Command, scope: FilesScope, json: boolean | undefined): Promise<void> {
	let worst = 0;
	const judged = async function* () {
		for await (const finding of findingsOfFiles(command, scope)) {
			worst = Math.max(worst, levelOf(finding));
			yield finding;
		}
	};
	if (json) await printEach(judged(), { json, columns: [], row });
	// A table would cut the commands into pieces that nobody can copy.
	else for await (const finding of judged()) printRows([row(finding)]);
	endWith(worst);
}

async function* findingsOfFiles(command: Command, scope: FilesScope): AsyncGenerator<Finding> {
	const config = await configOf(command);
	if ('state' in config) return yield config;
	const { findings, isUsable } = await checkDatabaseOf(config);
	if (isUsable) yield* checkFiles(config, scope);
	else yield* findings.filter(({ state }) => state !== 'ok');
}

/** The configuration, or what is wrong with it. */
async function configOf(command: Command): Promise<Config | Finding> {
	try {
		return await loadConfigAsOwner(command);
	} catch (error) {
		if (!isStartupMistake(error)) throw error;
		return fault('configuration', reasonOf(error), 'Correct the setting: docs/operations.md, config/default.yaml.');
	}
}

async function examine(command: Command): Promise<Finding[]> {
	const config = await configOf(command);
	if ('state' in config) return [config];
	const configuration = await checkConfiguration(config);
	const { findings: database, isUsable } = await checkDatabaseOf(config);
	const canStart = isUsable && configuration.every(({ state }) => state !== 'error');
	return [
		...configuration,
		...checkFirstSteps(configFileOf(command)),
		...checkUser(),
		...(await checkDataFolder(config)),
		...database,
		...(canStart ? await checkStorage(config) : []),
		...(await checkService(config)),
		...(await checkPrograms(config)),
		...checkProxy(config),
		...checkStrangers(config),
	];
}
