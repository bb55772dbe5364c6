import { isDeepStrictEqual } from 'node:util';
import { settingNames } from './leaves.js';
import type { Config } from './schema.js';

/**
 * Groups of settings, and settings, that are read each time they are needed. All others are built into parts of the server when it
 * starts.
 */
export const liveSettings: readonly string[] = [
	'registration',
	'registrationsPerHour',
	'visitors',
	'drainDelay',
	'maxConnectionsPerAddress',
	'uploads',
	'quotas',
	'trash',
	'versions',
	'shares',
	'downloads.maxZipEntries',
	'search.exclude',
	'search.checkEvery',
	'jobs.run',
	'externalViewers',
	'umask',
	'audit',
	'log.level',
];

/** The names of settings that have another value than before. */
export interface Reloaded {
	/** Settings that apply from now on. */
	applied: readonly string[];
	/** Settings that apply after a restart, and keep their value until then. */
	needRestart: readonly string[];
}

/** Applies the values of another configuration to the one in force, for settings that can change while the server runs. */
export function reloadConfig(inForce: Config, next: Config): Reloaded {
	const changed = settingNames.filter((name) => !isDeepStrictEqual(settingOf(inForce, name), settingOf(next, name)));
	if (!isDeepStrictEqual(inForce.disabledPlugins, next.disabledPlugins) && !changed.includes('plugins'))
		changed.push('plugins');
	const applied = changed.filter((name) =>
		liveSettings.some((prefix) => name === prefix || name.startsWith(`${prefix}.`)),
	);
	for (const name of applied) setValue(inForce, name, settingOf(next, name));
	return { applied, needRestart: changed.filter((name) => !applied.includes(name)) };
}

type Tree = Record<string, unknown>;

/** The value of a setting by its dotted name. */
export function settingOf(config: Config, name: string): unknown {
	return name.split('.').reduce<unknown>((node, key) => (node as Tree)[key], config);
}

function setValue(config: Config, name: string, value: unknown): void {
	const at = name.lastIndexOf('.');
	const group = at === -1 ? config : settingOf(config, name.slice(0, at));
	(group as unknown as Tree)[name.slice(at + 1)] = value;
}
