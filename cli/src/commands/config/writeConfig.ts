import { randomBytes } from 'node:crypto';
import { link, open, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { loadConfig, readConfigBytes } from '@stowage/core';
import { publishFile } from '../../backup/publishFile.js';
import { explained } from '../../backup/writeDurably.js';
import { defaultPlugins } from '../../commandLine/settings.js';
import { accountOf } from '../../privileges/accounts.js';
import { installedUnit } from '../../service/installedUnit.js';

/** A configuration file that exists. */
export interface PresentConfig {
	/** Its own path, if the name is that of a link. */
	file: string;
	text: string;
	access: Access;
}

interface Access {
	mode: number;
	/** Left out for a file of the user who writes it. */
	owner?: { uid: number; gid: number };
}

/** Undefined where there is none. Throws a Failure for one that can't be read. */
export async function presentConfig(name: string): Promise<PresentConfig | undefined> {
	try {
		const file = await realpath(name);
		const { mode, uid, gid } = await stat(file);
		return { file, text: readConfigBytes(file).toString(), access: { mode: mode & 0o777, owner: { uid, gid } } };
	} catch (cause) {
		if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
		throw explained(cause, name);
	}
}

/**
 * Writes a configuration file completely or not at all, once the server's parser accepts it. In place of a present one it has its owner
 * and mode, and that one is kept beside it. A new one of root's is readable to the group of the service. Resolves to the name of the old
 * one. Throws ConfigError, or as `NewFile.write`.
 */
export async function writeConfig(name: string, text: string, present?: PresentConfig): Promise<string | undefined> {
	const file = present?.file ?? name;
	const temporary = `${file}.${randomBytes(6).toString('hex')}.partial`;
	try {
		await create(temporary, text, present?.access ?? (await accessOfNew()));
		loadConfig({ flags: { '--config': temporary }, defaultPlugins });
		if (present === undefined) {
			await publishFile(temporary, file);
			return undefined;
		}
		const kept = await keep(file);
		await rename(temporary, file);
		return kept;
	} catch (cause) {
		throw explained(cause, file);
	} finally {
		await rm(temporary, { force: true });
	}
}

async function create(file: string, text: string, { mode, owner }: Access): Promise<void> {
	const handle = await open(file, 'wx', 0o600);
	try {
		await handle.writeFile(text);
		const { uid, gid } = await handle.stat();
		if (owner !== undefined && (owner.uid !== uid || owner.gid !== gid)) await handle.chown(owner.uid, owner.gid);
		await handle.chmod(mode);
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/** It may contain the password of the database, so it is closed to all others. */
async function accessOfNew(): Promise<Access> {
	const isRoot = process.geteuid?.() === 0;
	const service = isRoot ? await accountOf((await installedUnit())?.user ?? 'stowage') : undefined;
	return service === undefined ? { mode: 0o600 } : { mode: 0o640, owner: { uid: 0, gid: service.gid } };
}

/** Gives a file a further name beside its own, which stays when that is replaced. */
async function keep(file: string): Promise<string> {
	for (let count = 1; ; count++) {
		const kept = `${file}.old${count === 1 ? '' : `-${count}`}`;
		try {
			await link(file, kept);
			return path.resolve(kept);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		}
	}
}
