import { type Config, durationText, flagOf, loadConfig, settingNames, withoutSecrets } from '@stowage/core';
import type { Command } from 'commander';
import { stringify } from 'yaml';

/** On unless the configuration says `false`. */
export const defaultPlugins = [
	'@stowage/storage-local',
	'@stowage/auth-password',
	'@stowage/zip',
	'@stowage/preview',
	'@stowage/handbrake',
];

/** Gives a command one flag for each setting, and `--config`. */
export function withSettings(command: Command): Command {
	command.option('--config <file>', 'the configuration file (YAML); also STOWAGE_CONFIG');
	for (const name of settingNames) command.option(`${flagOf(name)} <value>`, `the setting ${name}`);
	return command;
}

/** The configuration that the flags of this command, the environment and the file make together. Throws ConfigError. */
export function configOf(command: Command): Config {
	const flags: Record<string, string> = {};
	const known = new Set(['--config', ...settingNames.map(flagOf)]);
	for (const option of command.options) {
		const value: unknown = command.getOptionValue(option.attributeName());
		if (typeof value === 'string' && option.long && known.has(option.long)) flags[option.long] = value;
	}
	return loadConfig({ flags, env: process.env, defaultPlugins });
}

/** As it could stand in a file, without what is secret. */
export function printableConfig(config: Config): string {
	const top = new Set(settingNames.map((name) => name.split('.')[0] as string));
	const shown: Record<string, unknown> = Object.fromEntries(
		Object.entries(config).filter(([name, value]) => top.has(name) && value !== undefined),
	);
	shown.uploads = { ...config.uploads, expireAfter: durationText(config.uploads.expireAfter) };
	shown.plugins = Object.fromEntries([
		...config.plugins,
		...config.disabledPlugins.map((name) => [name, false] as const),
	]);
	return stringify(withoutSecrets(shown));
}
