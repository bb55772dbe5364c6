import { createHash } from 'node:crypto';
import type { LiveProcess } from '@stowage/plugin-api';
import { settingNames } from '../config/leaves.js';
import { settingOf } from '../config/reload.js';
import type { Config } from '../config/schema.js';

/** Clocks may differ by so much without harm. */
export const maxNodeClockMs = 2000;

/** Settings that users notice, so that they should be the same wherever a request arrives. */
const noticed = [
	'basePath',
	'publicUrl',
	'registration',
	'visitors',
	'publicListing',
	'uploads',
	'quotas',
	'trash',
	'versions',
	'shares',
	'downloads.maxZipEntries',
	'externalViewers',
	'storage',
	'auth',
	'plugins',
];

/** The settings that users notice as short digests, so that secrets among them stay here. */
export function digestsOf(config: Config): Record<string, string> {
	const names = settingNames.filter((name) =>
		noticed.some((prefix) => name === prefix || name.startsWith(`${prefix}.`)),
	);
	return Object.fromEntries(
		names.map((name) => {
			const value = name === 'plugins' ? [...config.plugins.keys()].sort() : settingOf(config, name);
			return [
				name,
				createHash('sha256')
					.update(JSON.stringify(value ?? null))
					.digest('base64url')
					.slice(0, 12),
			];
		}),
	);
}

/** Sentences about nodes whose clocks are wrong. */
export function clockFaults(live: readonly LiveProcess[]): string[] {
	const faults = live.flatMap(({ node, clockOffset, ageMs }) => {
		if (clockOffset !== 0)
			return [`The clock of node ${node} and that of its database differ: the node's is ${spanOf(clockOffset)}.`];
		// What it wrote will be written, by the database that was asked.
		return ageMs < -maxNodeClockMs
			? [`The clock of the database of node ${node} is ahead of that of another node's.`]
			: [];
	});
	return [...new Set(faults)];
}

function spanOf(offset: number): string {
	return `${Math.round(Math.abs(offset) / 1000)} s ${offset > 0 ? 'ahead' : 'behind'}`;
}

/** Sentences about settings that users notice and that differ between nodes. */
export function differingSettings(live: readonly LiveProcess[]): string[] {
	// Commands have none.
	const [first, ...others] = live.filter(({ settings }) => Object.keys(settings).length > 0);
	if (first === undefined) return [];
	// One of another version may have other settings.
	const names = Object.keys(first.settings).filter((name) => others.every(({ settings }) => name in settings));
	return names.flatMap((name) => {
		const other = others.find(({ settings }) => settings[name] !== first.settings[name]);
		return other === undefined
			? []
			: [`The setting ${name} differs between node ${first.node} and node ${other.node}.`];
	});
}
