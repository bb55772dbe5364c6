import { checkConfig } from '@stowage/core';
import { Command } from 'commander';
import { configOf, printableConfig, withSettings } from '../settings.js';

export function configCommand(): Command {
	const print = withSettings(new Command('print').description('print the configuration in force as YAML'));
	print.action(() => {
		process.stdout.write(printableConfig(configOf(print)));
	});
	const check = withSettings(new Command('check').description('check the configuration and say what is wrong with it'));
	check.action(async () => {
		const config = configOf(check);
		await checkConfig(config);
		for (const warning of config.warnings) console.error(warning);
		console.log('The configuration is valid.');
	});
	return new Command('config').description('show or check the configuration').addCommand(print).addCommand(check);
}
