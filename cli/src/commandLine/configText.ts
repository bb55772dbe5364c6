import { type Config, durationNames, flagOf, settingNames } from '@stowage/core';
import { parse, parseDocument, stringify } from 'yaml';
import { durationSetting, printableConfig } from './settings.js';

const explanations: Readonly<Record<string, string>> = {
	dataDir: 'The folder for all that the server keeps: its database, its keys and the files.',
	publicUrl: 'The address by which people reach the server. With https the cookie is Secure.',
	registration: 'open: everybody may sign up. closed: accounts are made by `stowage user add`.',
	visitors:
		'What people without an account may do in the public area. upload: upload, browse and download. read: browse and download. off: nothing.',
};

/** A configuration file with the given settings, and all others as comments with their defaults. */
export function newConfigText(config: Config, given: readonly string[]): string {
	const lines = [
		'# Settings of Stowage. What is a comment has its default; config/default.yaml and docs/operations.md explain each.',
	];
	const shown = parse(printableConfig(config)) as Record<string, unknown>;
	for (const [name, value] of Object.entries(shown)) {
		const inner = given.filter((each) => each === name || each.startsWith(`${name}.`));
		const text = stringify({ [name]: value }).trimEnd();
		lines.push('', ...(explanations[name] === undefined ? [] : [`# ${explanations[name]}`]));
		if (inner.includes(name)) lines.push(stringify({ [name]: raw(config, name) }).trimEnd());
		else if (inner.length > 0 && typeof value === 'object' && value !== null)
			lines.push(...groupLines(name, value as Record<string, unknown>, inner));
		else lines.push(text.replaceAll(/^/gm, '# '));
	}
	return `${lines.join('\n')}\n`;
}

/** The value of a setting as it is written in a file, also one that is a secret. */
function raw(config: Config, name: string): unknown {
	const value = (config as unknown as Record<string, unknown>)[name];
	return durationNames.includes(name) ? durationSetting(value as number) : value;
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

/** The text of a valid configuration file with other values of the settings that these flags name. All else stays, comments too. */
export function changedConfigText(text: string, flags: Readonly<Record<string, string>>): string {
	const document = parseDocument(text);
	for (const name of settingNames) {
		const value = flags[flagOf(name)];
		if (value !== undefined) document.setIn(name.split('.'), value);
	}
	return document.toString({ lineWidth: 0 });
}

/** Whether a configuration file only names the data folder, as the one that comes with a package or with `service install` does. */
export function isAsShipped(text: string): boolean {
	let settings: unknown;
	try {
		settings = parse(text, { logLevel: 'error' });
	} catch {
		return false;
	}
	if (settings === null) return true;
	return typeof settings === 'object' && Object.keys(settings).every((name) => name === 'dataDir');
}
