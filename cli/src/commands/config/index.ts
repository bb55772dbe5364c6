import { checkConfig } from '@stowage/core';
import { Command } from 'commander';
import { checkFirstRoot } from '../../commandLine/firstRoot.js';
import { withHelp } from '../../commandLine/help.js';
import { loadConfigAsOwner } from '../../commandLine/loadConfigAsOwner.js';
import { configOf, printableConfig, withSettings } from '../../commandLine/settings.js';
import { printError, printLine, printText } from '../../terminal/output.js';
import { initCommand } from './init.js';

export function configCommand(): Command {
	const print = withSettings(new Command('print').description('print the configuration in force as YAML'));
	withHelp(print, ['config print', 'config print --config /etc/stowage/stowage.yaml']);
	print.action(() => {
		printText(printableConfig(configOf(print)));
	});
	const check = withSettings(new Command('check').description('check the configuration and say what is wrong with it'));
	withHelp(check, ['config check --config /etc/stowage/stowage.yaml']);
	check.action(async () => {
		// Plugins are loaded, from a folder that need not be root's.
		const config = await loadConfigAsOwner(check);
		await checkConfig(config);
		await checkFirstRoot(config);
		for (const warning of config.warnings) printError(warning);
		printLine('The configuration is valid.');
	});
	return new Command('config')
		.description('make, show or check the configuration')
		.addCommand(initCommand())
		.addCommand(print)
		.addCommand(check);
}
