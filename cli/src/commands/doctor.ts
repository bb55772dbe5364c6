import { type Config, isStartupMistake } from '@stowage/core';
import { Command } from 'commander';
import { documented } from '../commandLine/documented.js';
import { enter } from '../commandLine/enter.js';
import { configFileOf, withSettings } from '../commandLine/settings.js';
import { checkConfiguration, checkFirstSteps, checkProxy, checkStrangers } from '../doctor/configuration.js';
import { checkDatabaseOf } from '../doctor/database.js';
import { checkDataFolder, checkUser } from '../doctor/dataFolder.js';
import { type Finding, fault, reasonOf } from '../doctor/findings.js';
import { checkPrograms } from '../doctor/programs.js';
import { checkService } from '../doctor/service.js';
import { checkStorage } from '../doctor/storage.js';
import { ExitCode } from '../terminal/explain.js';
import { printList } from '../terminal/output.js';

/** Checks the installation. */
export function doctorCommand(): Command {
	const command = withSettings(
		new Command('doctor')
			.description(
				'look at configuration, permissions, database, storage, programs, clock and proxy, and say how to mend what is wrong',
			)
			.option('--json', 'as JSON'),
	);
	documented(
		command,
		['doctor', 'doctor --config /etc/stowage/stowage.yaml --json'],
		'Exit codes: 0 all is well, 1 there are warnings, 2 there are errors.',
	);
	return command.action(async ({ json }: { json?: boolean }) => {
		const findings = await examine(command);
		printList(findings, {
			json,
			columns: [{ title: 'STATE' }, { title: 'WHAT' }, { title: 'SAYS', fit: 'wrap' }, { title: 'MEND', fit: 'wrap' }],
			row: ({ state, what, says, mend }) => [state, what, says, ...(mend ? [mend] : [])],
		});
		const worst = Math.max(...findings.map(({ state }) => ['ok', 'warn', 'error'].indexOf(state)));
		if (worst > 0) throw new ExitCode(worst);
	});
}

async function examine(command: Command): Promise<Finding[]> {
	let config: Config;
	try {
		config = await enter(command);
	} catch (error) {
		if (!isStartupMistake(error)) throw error;
		return [fault('configuration', reasonOf(error), 'Correct the setting: docs/operations.md, config/default.yaml.')];
	}
	const configuration = await checkConfiguration(config);
	const { findings: database, isUsable } = await checkDatabaseOf(config);
	const canStart = isUsable && configuration.every(({ state }) => state !== 'error');
	return [
		...configuration,
		...(await checkFirstSteps(configFileOf(command))),
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
