import { randomBytes } from 'node:crypto';
import { link, open, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { loadConfig, readConfigAt } from '@stowage/core';
import { publishFile } from '../../backup/publishFile.js';
import { explained } from '../../backup/writeDurably.js';
import { defaultPlugins } from '../../commandLine/settings.js';
import { accountOf } from '../../privileges/accounts.js';
import { holdFolderOf } from '../../privileges/heldFolder.js';
import { installedUnit } from '../../service/installedUnit.js';

/** Where a configuration file is, or will be. */
export interface ConfigPlace {
	/** The path that is shown to people, with all links followed. */
	file: string;
	/** The path of that file, or of another one beside it. Root's goes through a descriptor: nobody can lead it elsewhere. */
	at(suffix?: string): string;
	close(): Promise<void>;
}

/** A configuration file that exists. */
export interface PresentConfig {
	text: string;
	access: Access;
}

interface Access {
	mode: number;
	/** Left out for a file of the user who writes it. */
	owner?: { uid: number; gid: number };
}

/** Links on the way, and in the place of the file, are followed, by root only its own. Throws ConfigError for those, and a Failure. */
export async function configPlace(name: string): Promise<ConfigPlace> {
	try {
		if (process.geteuid?.() !== 0 || process.platform !== 'linux') {
			const file = await realpath(name).catch((error: NodeJS.ErrnoException) => {
				if (error.code === 'ENOENT') return name;
				throw error;
			});
			return { file, at: (suffix = '') => file + suffix, close: async () => undefined };
		}
		const { folder, name: own } = await holdFolderOf(name, { remedy: 'name the file itself' });
		return {
			file: path.join(folder.path, own),
			at: (suffix = '') => folder.at(own + suffix),
			close: () => folder.handle.close(),
		};
	} catch (cause) {
		throw explained(cause, name);
	}
}

/** The file that is there, or undefined. Throws ConfigError for what is no file or too large, and a Failure for what can't be read. */
export async function presentConfig({ file, at }: ConfigPlace): Promise<PresentConfig | undefined> {
	try {
		const { bytes, stat } = readConfigAt(at(), file);
		const { mode, uid, gid } = stat;
		return { text: bytes.toString(), access: { mode: mode & 0o777, owner: { uid, gid } } };
	} catch (cause) {
		if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
		throw explained(cause, file);
	}
}

/**
 * Writes a configuration file completely or not at all, once the server's parser accepts it. In place of a present one it has its owner
 * and mode, and that one is kept beside it. A new one of root's is readable to the group of the service. Resolves to the name of the old
 * one. Throws ConfigError, or as `NewFile.write`.
 */
export async function writeConfig(
	{ file, at }: ConfigPlace,
	text: string,
	present?: PresentConfig,
): Promise<string | undefined> {
	const suffix = `.${randomBytes(6).toString('hex')}.partial`;
	const temporary = at(suffix);
	try {
		await create(temporary, text, present?.access ?? (await accessOfNew()));
		loadConfig({ flags: { '--config': file + suffix }, defaultPlugins });
		if (present === undefined) {
			await publishFile(temporary, at());
			return undefined;
		}
		const kept = await keep(at);
		await rename(temporary, at());
		return file + kept;
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

/** The access of a new configuration file, which is closed to all others, since it may contain the password of the database. */
async function accessOfNew(): Promise<Access> {
	const isRoot = process.geteuid?.() === 0;
	const service = isRoot ? await accountOf((await installedUnit())?.user ?? 'stowage') : undefined;
	return service === undefined ? { mode: 0o600 } : { mode: 0o640, owner: { uid: 0, gid: service.gid } };
}

/** Gives the file a further name beside its own, which stays when that is replaced. Resolves to what that ends with. */
async function keep(at: ConfigPlace['at']): Promise<string> {
	for (let count = 1; ; count++) {
		const suffix = `.old${count === 1 ? '' : `-${count}`}`;
		try {
			await link(at(), at(suffix));
			return suffix;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		}
	}
}
