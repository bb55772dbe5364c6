import { type Config, checkConfig, durationText, settingNames, withoutSecrets } from '@stowage/core';
import { Command } from 'commander';
import { stringify } from 'yaml';
import { configOf, withSettings } from '../settings.js';

export function configCommand(): Command {
	const print = withSettings(new Command('print').description('print the configuration in force as YAML'));
	print.action(() => {
		process.stdout.write(stringify(printable(configOf(print))));
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

/** As it could stand in a file, without what is secret. */
function printable(config: Config): Record<string, unknown> {
	const top = new Set(settingNames.map((name) => name.split('.')[0] as string));
	const shown: Record<string, unknown> = Object.fromEntries(
		Object.entries(config).filter(([name, value]) => top.has(name) && value !== undefined),
	);
	shown.uploads = { ...config.uploads, expireAfter: durationText(config.uploads.expireAfter) };
	shown.plugins = Object.fromEntries([
		...config.plugins,
		...config.disabledPlugins.map((name) => [name, false] as const),
	]);
	return withoutSecrets(shown) as Record<string, unknown>;
}
