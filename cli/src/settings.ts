import { type Config, flagOf, loadConfig, settingNames } from '@stowage/core';
import type { Command } from 'commander';

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
