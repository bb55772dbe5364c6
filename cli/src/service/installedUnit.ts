import { readdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { shellCommand } from '@stowage/core';
import { defaultConfig, defaultUser, sandboxDropIn, unitName } from './unit.js';
import { isWithin } from './unitFolders.js';

/** The unit that systemd would start, with its drop-ins. */
export interface InstalledUnit {
	file: string;
	/** The user that the service runs as. */
	user: string;
	/** Its group, if it is not the user's own one, and those beside it: names or numbers. */
	group: string | undefined;
	supplementaryGroups: string[];
	/** The umask in octal digits, such as 0027. */
	umask: string | undefined;
	/** The configuration file that its program is given. */
	config: string | undefined;
	/** With what 'stowage service install' wrote it, and may write it again; undefined for a unit of anybody else. */
	installedWith: InstalledWith | undefined;
	/** Whether an administrator wrote it where that command writes its own. */
	isOfAdministrator: boolean;
	/** The folder in the unit that permits writing to this one; undefined if none does. */
	writableFolderOf(folder: string): Promise<string | undefined>;
}

/** The options of 'stowage service install' that are no matter of the configuration. */
export interface InstalledWith {
	user: string;
	config: string;
	isSandboxed: boolean;
}

/** The command that writes the unit again, with the same options. */
export function installCommand({ user, config, isSandboxed }: InstalledWith): string {
	return [
		'sudo stowage service install',
		...(user === defaultUser ? [] : [shellCommand`--user ${user}`]),
		...(config === defaultConfig ? [] : [shellCommand`--config ${config}`]),
		...(isSandboxed ? ['--sandbox'] : []),
	].join(' ');
}

/** Where systemd searches for units; the first one is used. */
const folders = ['etc/systemd', 'run/systemd', 'usr/local/lib/systemd', 'usr/lib/systemd', 'lib/systemd'].map(
	(folder) => `${folder}/system`,
);

/** The unit below `root`, which is this machine's by default; undefined if none is installed. */
export async function installedUnit(root = '/'): Promise<InstalledUnit | undefined> {
	const texts = await Promise.all(folders.map((folder) => read(path.join(root, folder, unitName))));
	const at = texts.findIndex((text) => text !== undefined);
	if (at === -1) return undefined;
	const text = texts[at] as string;
	const values = parseService([text, ...(await dropIns(root))]);
	const own = parseService([text]);
	const config = configOf(own);
	const isWrittenByCommand = at === 0 && text.startsWith(writtenByUs);
	const dropIn = isWrittenByCommand ? await read(path.join(root, folders[0] as string, sandboxDropIn)) : undefined;
	const given = (name: string) => values.get(name)?.flat() ?? [];
	const words = (name: string) => given(name).map(unquoted);
	const last = (name: string) => words(name).at(-1);
	const isStrict = last('ProtectSystem') === 'strict';
	const hidesHomes = ['yes', 'true', '1', 'on', 'tmpfs'].includes(last('ProtectHome') ?? '');
	const bound = given('BindPaths').map((word) =>
		unquoted(/^[-+]*["']/.test(word) ? word : (word.split(':')[0] as string)),
	);
	const named = [...words('ReadWritePaths'), ...bound].map((word) => word.replace(/^[-+]+/, ''));
	const made = [
		...words('StateDirectory').map((name) => `/var/lib/${name}`),
		...words('RuntimeDirectory').map((name) => `/run/${name}`),
	];
	return {
		file: path.join('/', folders[at] as string, unitName),
		user: last('User') ?? 'root',
		group: last('Group'),
		supplementaryGroups: words('SupplementaryGroups'),
		umask: umaskOf(last('UMask')),
		config,
		installedWith:
			isWrittenByCommand && config !== undefined
				? {
						config,
						user: own.get('User')?.flat().map(unquoted).at(-1) ?? defaultUser,
						isSandboxed: dropIn?.startsWith(writtenByUs) === true,
					}
				: undefined,
		isOfAdministrator: at === 0 && text !== '' && !isWrittenByCommand,
		async writableFolderOf(folder) {
			const isHome = ['/home', '/root', '/run/user'].some((home) => isWithin(folder, home));
			const allowed = isHome && hidesHomes ? bound.map((word) => word.replace(/^[-+]+/, '')) : [...named, ...made];
			if (!isStrict && !(isHome && hidesHomes)) return '/';
			const wanted = [folder, await resolved(folder)];
			for (const each of allowed) {
				const real = await resolved(each);
				if (wanted.some((one) => isWithin(one, each) || isWithin(one, real))) return each;
			}
			return undefined;
		},
	};
}

/** What files that the command has written begin with. */
const writtenByUs = '# Written by Stowage';

function configOf(values: ReadonlyMap<string, string[][]>): string | undefined {
	const words = (values.get('ExecStart')?.at(-1) ?? []).map((word) => unquoted(word).replaceAll('$$', () => '$'));
	const at = words.indexOf('--config');
	return at === -1 ? undefined : words[at + 1];
}

function umaskOf(text = ''): string | undefined {
	return /^[0-7]{1,4}$/.test(text) ? text : undefined;
}

/** A drop-in hides those of its name in later folders. */
async function dropIns(root: string): Promise<string[]> {
	const files = new Map<string, string>();
	for (const folder of folders) {
		const at = path.join(root, folder, `${unitName}.d`);
		const names = await readdir(at).catch(() => []);
		for (const name of names) if (name.endsWith('.conf') && !files.has(name)) files.set(name, path.join(at, name));
	}
	const sorted = [...files.keys()].sort().map((name) => files.get(name) as string);
	return (await Promise.all(sorted.map(read))).filter((text) => text !== undefined);
}

/** The lines of all `[Service]` sections: for each name its values, as words with their quotes; an empty value resets those before it. */
function parseService(texts: readonly string[]): Map<string, string[][]> {
	const values = new Map<string, string[][]>();
	for (const text of texts) {
		let section = '';
		for (const line of text.replaceAll(/\\\n/g, ' ').split('\n')) {
			section = /^\[(.*)\]\s*$/.exec(line)?.[1] ?? section;
			const at = line.indexOf('=');
			const name = line.slice(0, Math.max(0, at)).trim();
			if (section !== 'Service' || !/^[A-Za-z]+$/.test(name)) continue;
			const value = line.slice(at + 1).trim();
			const known = values.get(name) ?? [];
			if (value === '') known.length = 0;
			else known.push(wordsOf(value));
			values.set(name, known);
		}
	}
	return values;
}

function wordsOf(value: string): string[] {
	return [...value.matchAll(/[-+]*"[^"]*"|[-+]*'[^']*'|\S+/g)].map(([word]) => word);
}

function unquoted(word: string): string {
	return word.replaceAll(/["']/g, '').replaceAll('%%', '%');
}

/**
 * The text of a file; undefined if it is missing or unreadable: units are searched in several folders, and findings about them are advice
 * only.
 */
function read(file: string): Promise<string | undefined> {
	return readFile(file, 'utf8').catch(() => undefined);
}

function resolved(folder: string): Promise<string> {
	return realpath(folder).catch(() => folder);
}
