import path from 'node:path';
import { Readable } from 'node:stream';
import { checkConfig, settingNames } from '@stowage/core';
import { Command } from 'commander';
import { writeDurably } from '../backup/writeDurably.js';
import { documented } from '../commandLine/documented.js';
import { enter } from '../commandLine/enter.js';
import { commentedConfig, configOf, isSetBy, printableConfig, withSettings } from '../commandLine/settings.js';
import { printError, printLine, printText } from '../terminal/output.js';

export function configCommand(): Command {
	const print = withSettings(new Command('print').description('print the configuration in force as YAML'));
	documented(print, ['config print', 'config print --config /etc/stowage/stowage.yaml']);
	print.action(() => {
		printText(printableConfig(configOf(print)));
	});
	const check = withSettings(new Command('check').description('check the configuration and say what is wrong with it'));
	documented(check, ['config check --config /etc/stowage/stowage.yaml']);
	check.action(async () => {
		// Plugins are loaded, from a folder that need not be root's.
		const config = await enter(check);
		await checkConfig(config);
		for (const warning of config.warnings) printError(warning);
		printLine('The configuration is valid.');
	});
	const init = withSettings(
		new Command('init')
			.description('write a configuration file with the settings that are given, and all others as comments')
			.argument('<file>'),
	);
	documented(init, [
		'config init /etc/stowage/stowage.yaml --data-dir /var/lib/stowage --public-url https://files.example.org',
	]);
	init.action(async (file: string) => {
		const config = configOf(init);
		const given = settingNames.filter((name) => isSetBy(init, name));
		await writeDurably(path.resolve(file), Readable.from([commentedConfig(config, given)]));
		printLine(`Wrote ${file}. Look at it with: stowage config check --config ${file}`);
	});
	return new Command('config')
		.description('make, show or check the configuration')
		.addCommand(init)
		.addCommand(print)
		.addCommand(check);
}
