import { type Config, ConfigError, whyOthersMayWrite } from '@stowage/core';
import type { Command } from 'commander';
import { becomeOwner } from '../privileges/becomeOwner.js';
import { isInReach, ownerOf } from '../privileges/ownerOf.js';
import { objectionToPlaces } from '../privileges/placesOfRoot.js';
import { installedUnit } from '../service/installedUnit.js';
import { configFileOf, configOf } from './settings.js';

/**
 * The umask of a service without a UMask= of its own: commands create files that other accounts can't read, whatever
 * the shell's umask.
 */
const usualUmask = '027';

/** A file that a command line names, outside of the data folder. */
export class NamedFile<Opened = unknown> {
	readonly file: string;
	readonly #open: (byRoot: boolean) => Promise<Opened>;
	/** What the opening resolved to; undefined before it. */
	opened: Opened | undefined;

	/** `byRoot` if the process can do nothing in the folder of the file afterwards. */
	constructor(file: string, open: (byRoot: boolean) => Promise<Opened>) {
		this.file = file;
		this.#open = open;
	}

	async open(byRoot: boolean): Promise<void> {
		this.opened = await this.#open(byRoot);
	}
}

/**
 * The configuration of a command that works on the data folder. Root has read it and then becomes the owner of that folder, before
 * anything in there is opened: an account that was taken over could otherwise have root write wherever it leads it. The named files are
 * opened before that, unless the owner could exchange them. What the command makes has the modes of the service. Throws ConfigError.
 */
export async function loadConfigAsOwner(command: Command, files: readonly NamedFile[] = []): Promise<Config> {
	const { config, objection } = await examinedConfig(command);
	if (config.umask === '' && !process.env.UMASK) process.umask((await installedUnit())?.umask ?? usualUmask);
	await dropRootPrivileges(config, files, objection);
	return config;
}

/**
 * The configuration of a command, and why it must not stay root by it. The file is examined before it is read: what root alone may write
 * by then stays so. Throws ConfigError for the configuration.
 */
export async function examinedConfig(command: Command): Promise<{ config: Config; objection: string | undefined }> {
	const objection = await objectionOf(command);
	return { config: configOf(command), objection };
}

/** The configuration of a server that runs, read again. Throws ConfigError, also where it runs as root and others may write the file. */
export async function configAgain(command: Command): Promise<Config> {
	const objection = await objectionOf(command);
	if (objection !== undefined) throw new ConfigError(objection);
	return configOf(command);
}

/** Why root must not go by the configuration file. Undefined for anybody else. */
async function objectionOf(command: Command): Promise<string | undefined> {
	const file = configFileOf(command);
	return file === undefined || process.geteuid?.() !== 0 ? undefined : objectionTo(file);
}

/**
 * Becomes the owner of the data folder if this is root, and opens the files before or after that. Throws ConfigError where it would stay
 * root and there is an objection to that, or others may exchange the data folder or the database.
 */
export async function dropRootPrivileges(
	config: Pick<Config, 'dataDir' | 'databaseUrl'>,
	files: readonly NamedFile[] = [],
	objection: string | undefined = undefined,
): Promise<void> {
	const isRoot = process.geteuid?.() === 0;
	const owner = isRoot ? await ownerOf(config.dataDir) : undefined;
	if (isRoot && owner === undefined) {
		const reason = objection ?? (await objectionToPlaces(config));
		if (reason !== undefined) throw new ConfigError(reason);
	}
	const later: NamedFile[] = [];
	for (const each of files) {
		if (owner === undefined || (await isInReach(each.file, owner))) later.push(each);
		else await each.open(true);
	}
	if (owner !== undefined) becomeOwner(owner);
	for (const each of later) await each.open(false);
}

/** Whether a shell passes this file by a descriptor, which is its own. Other files of these folders may be anybody's. */
export function isPassedByShell(file: string): boolean {
	const own = file.replace(`/proc/${process.pid}/`, '/proc/self/');
	return /^\/(dev\/stdin|dev\/fd\/\d+|proc\/self\/fd\/\d+)$/.test(own);
}

/** Whoever writes the configuration chooses what is loaded and run. */
async function objectionTo(configFile: string): Promise<string | undefined> {
	if (isPassedByShell(configFile)) return undefined;
	const reason = await whyOthersMayWrite(configFile, { orReadOnly: true });
	if (reason === undefined) return undefined;
	return `Root does not work by the configuration file ${configFile}, for ${reason}: whoever can write it decides what root runs. Give it and the folders above it to root (chown root, chmod go-w), mount it read-only, or give the data folder to the user of the server, whom root becomes then.`;
}
