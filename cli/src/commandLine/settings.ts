import { type Config, durationText, flagOf, loadConfig, settingNames, withoutSecrets } from '@stowage/core';
import type { Command } from 'commander';
import { parse, stringify } from 'yaml';

/** Enabled unless the configuration says `false`. */
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

/** The configuration from the flags of this command, the environment and the file; its umask applies from now on. Throws ConfigError. */
export function configOf(command: Command): Config {
	const flags: Record<string, string> = {};
	const known = new Set(['--config', ...settingNames.map(flagOf)]);
	for (const option of command.options) {
		const value: unknown = command.getOptionValue(option.attributeName());
		if (typeof value === 'string' && option.long && known.has(option.long)) flags[option.long] = value;
	}
	const config = loadConfig({ flags, env: process.env, defaultPlugins });
	applyUmask(config.umask);
	return config;
}

/** The settings that the process was started with, once others apply. */
let startedWith: string | undefined;

function applyUmask(umask: string): void {
	const wanted = umask === '' ? startedWith : umask;
	if (wanted === undefined) return;
	const previous = process.umask(wanted);
	startedWith ??= previous.toString(8);
}

/** As they could be written to a file, without secrets. */
export function printableConfig(config: Config): string {
	const top = new Set(settingNames.map((name) => name.split('.')[0] as string));
	const shown: Record<string, unknown> = Object.fromEntries(
		Object.entries(config).filter(([name, value]) => top.has(name) && value !== undefined),
	);
	shown.uploads = { ...config.uploads, expireAfter: durationText(config.uploads.expireAfter) };
	shown.audit = { ...config.audit, keepFor: durationText(config.audit.keepFor) };
	shown.plugins = Object.fromEntries([
		...config.plugins,
		...config.disabledPlugins.map((name) => [name, false] as const),
	]);
	return stringify(withoutSecrets(shown));
}

/** Whether a setting was given to this command as a flag. */
export function isSetBy(command: Command, name: string): boolean {
	return command.getOptionValueSource(attributeOf(command, name)) === 'cli';
}

function attributeOf(command: Command, name: string): string {
	return command.options.find(({ long }) => long === flagOf(name))?.attributeName() ?? name;
}

/** A configuration file with the given settings, and all others as comments with their defaults. */
export function commentedConfig(config: Config, given: readonly string[]): string {
	const lines = [
		'# Settings of Stowage. What is a comment has its default; config/default.yaml and docs/operations.md explain each.',
	];
	const shown = parse(printableConfig(config)) as Record<string, unknown>;
	for (const [name, value] of Object.entries(shown)) {
		const inner = given.filter((each) => each === name || each.startsWith(`${name}.`));
		const text = stringify({ [name]: value }).trimEnd();
		if (inner.includes(name)) lines.push('', stringify({ [name]: raw(config, name) }).trimEnd());
		else if (inner.length > 0 && typeof value === 'object' && value !== null)
			lines.push('', ...groupLines(name, value as Record<string, unknown>, inner));
		else lines.push('', text.replaceAll(/^/gm, '# '));
	}
	return `${lines.join('\n')}\n`;
}

/** Given values are written, also those that would not be shown. */
function raw(config: Config, name: string): unknown {
	return (config as unknown as Record<string, unknown>)[name];
}

function groupLines(name: string, group: Record<string, unknown>, given: readonly string[]): string[] {
	const inner = Object.entries(group).flatMap(([key, value]) =>
		stringify({ [key]: value })
			.trimEnd()
			.split('\n')
			.map((line) => (given.includes(`${name}.${key}`) ? `  ${line}` : `  # ${line}`)),
	);
	return [`${name}:`, ...inner];
}
