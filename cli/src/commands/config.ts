import { type Config, settingNames } from '@stowage/core';
import { Command } from 'commander';
import { stringify } from 'yaml';
import { configOf, withSettings } from '../settings.js';

export function configCommand(): Command {
	const print = withSettings(new Command('print').description('print the configuration in force as YAML'));
	print.action(() => {
		process.stdout.write(stringify(printable(configOf(print))));
	});
	const check = withSettings(new Command('check').description('check the configuration and say what is wrong with it'));
	check.action(() => {
		configOf(check);
		console.log('The configuration is valid.');
	});
	return new Command('config').description('show or check the configuration').addCommand(print).addCommand(check);
}

/** As it could stand in a file, without what is secret. */
function printable(config: Config): Record<string, unknown> {
	const top = new Set(settingNames.map((name) => name.split('.')[0] as string));
	const shown: Record<string, unknown> = Object.fromEntries(
		Object.entries(config).filter(([name, value]) => top.has(name) && value !== undefined),
	);
	if (shown.sessionKey !== undefined) shown.sessionKey = '(set)';
	shown.databaseUrl = withoutPassword(config.databaseUrl);
	shown.plugins = Object.fromEntries(config.plugins);
	return shown;
}

/** Up to the last `@`: a password may hold one itself. */
function withoutPassword(databaseUrl: string): string {
	return databaseUrl.replace(/^(mysql:\/\/[^:@/]*):.*@/, '$1:***@');
}
