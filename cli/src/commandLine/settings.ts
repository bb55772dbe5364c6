import path from 'node:path';
import {
	type Config,
	durationNames,
	durationText,
	flagOf,
	loadConfig,
	settingNames,
	withoutSecrets,
} from '@stowage/core';
import { type Command, Help, Option } from 'commander';
import { stringify } from 'yaml';

/** Enabled unless the configuration says `false`. */
export const defaultPlugins = [
	'@stowage/storage-local',
	'@stowage/auth-password',
	'@stowage/zip',
	'@stowage/preview',
	'@stowage/handbrake',
];

/** The options that are settings. */
const settingOptions = new WeakSet<Option>();

/**
 * Gives a command one flag for each setting, and `--config`; not for the settings without meaning to it, whose names it uses otherwise.
 * Its help lists them with `--settings` only: there are far more of them than of its own options.
 */
export function withSettings(command: Command, without: readonly string[] = []): Command {
	command.option('--config <file>', 'the configuration file (YAML); also STOWAGE_CONFIG');
	for (const name of settingNames) {
		if (without.includes(name)) continue;
		const option = new Option(`${flagOf(name)} <value>`, `the setting ${name}`);
		settingOptions.add(option);
		command.addOption(option);
	}
	let showsAll = false;
	command.option('--settings', 'with --help: list the settings too, each of which is an option');
	command.on('option:settings', () => {
		showsAll = true;
		command.help();
	});
	return command.configureHelp({
		formatHelp(_command, help) {
			// In the help alone: a mistyped setting is still answered with the nearest one.
			const visibleOptions: Help['visibleOptions'] = (of) =>
				help.visibleOptions(of).filter((option) => showsAll || !settingOptions.has(option));
			const own: Help = Object.assign(Object.create(help), { visibleOptions });
			return Help.prototype.formatHelp.call(own, command, own);
		},
	});
}

/** The configuration from the flags of this command, the environment and the file; its umask applies from now on. Throws ConfigError. */
export function configOf(command: Command): Config {
	const config = loadConfig({ flags: flagsOf(command), env: process.env, defaultPlugins });
	applyUmask(config.umask);
	return config;
}

/** What was given to this command: flags of settings, and `--config`, with their values. */
export function flagsOf(command: Command): Record<string, string> {
	const flags: Record<string, string> = {};
	const known = new Set(['--config', ...settingNames.map(flagOf)]);
	for (const option of command.options) {
		const value: unknown = command.getOptionValue(option.attributeName());
		if (typeof value === 'string' && option.long && known.has(option.long)) flags[option.long] = value;
	}
	return flags;
}

/** The configuration file of this command; undefined if none is named. */
export function configFileOf(command: Command): string | undefined {
	const file: unknown = command.getOptionValue('config') ?? process.env.STOWAGE_CONFIG;
	return typeof file === 'string' && file !== '' ? path.resolve(file) : undefined;
}

/** The settings that the process was started with, once others apply. */
let startedWith: string | undefined;

function applyUmask(umask: string): void {
	const wanted = umask === '' ? startedWith : umask;
	if (wanted === undefined) return;
	const previous = process.umask(wanted);
	startedWith ??= previous.toString(8);
}

/** A time span as it is written in a file. */
export function durationSetting(milliseconds: number): string | 0 {
	return milliseconds === 0 ? 0 : durationText(milliseconds);
}

/** A configuration, or a group of it, with its time spans as they are written in a file. */
function withDurationTexts(group: object, prefix: string): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(group).map(([key, value]) => {
			const name = `${prefix}${key}`;
			if (durationNames.includes(name)) return [key, durationSetting(value)];
			const isGroup = durationNames.some((each) => each.startsWith(`${name}.`));
			return [key, isGroup ? withDurationTexts(value, `${name}.`) : value];
		}),
	);
}

/** The settings as they could be written to a file, without secrets. */
export function printableConfig(config: Config): string {
	const top = new Set(settingNames.map((name) => name.split('.')[0] as string));
	const shown: Record<string, unknown> = Object.fromEntries(
		Object.entries(withDurationTexts(config, '')).filter(([name, value]) => top.has(name) && value !== undefined),
	);
	shown.plugins = Object.fromEntries([
		...config.plugins,
		...config.disabledPlugins.map((name) => [name, false] as const),
	]);
	return stringify(withoutSecrets(shown));
}
