import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import {
	type Config,
	linkOfOthersIn,
	type Objection,
	socketPathOf,
	undefinedIfGone,
	whyOthersMayAdd,
	whyOthersMayReplace,
	whyOthersMayReplaceOrMake,
	whyOthersOwn,
} from '@stowage/core';
import { isWithin } from '../service/unitFolders.js';

// Where a command or server stays root, whoever may exchange what it opens by its path leads root elsewhere, or reads what root writes.

/**
 * Why a process must not stay root on the data folder and the database of its configuration. Undefined where nothing speaks against it.
 */
export async function objectionToPlaces({
	dataDir,
	databaseUrl,
}: Pick<Config, 'dataDir' | 'databaseUrl'>): Promise<string | undefined> {
	return (await objectionToDataFolder(dataDir)) ?? (await objectionToDatabase(databaseUrl, dataDir));
}

/**
 * Whoever may exchange the data folder while root works there chooses by links in another one where root writes, and so does whoever has
 * put a link into one that is open to others.
 */
async function objectionToDataFolder(dataDir: string): Promise<string | undefined> {
	const link = await linkOfOthersIn(dataDir);
	if (link !== undefined)
		return `Root does not work on the data folder ${dataDir}, for others may write to it, and ${link} is a link of one of them: remove it, and close the folder (chmod go-w), or give it to the user of the server, whom root becomes then.`;
	const objection = await whyOthersMayReplaceOrMake(dataDir);
	if (objection === undefined) return undefined;
	const { reason, remedy } = objection;
	return `Root does not work on the data folder ${dataDir}, for ${reason}: who may do that can put another folder in its place meanwhile, with links by which root would write anywhere. Name another folder, give this one to the user of the server, whom root becomes then, or ${remedy}.`;
}

/** What SQLite keeps beside a database: it takes over what lies there. */
const endings = ['', '-journal', '-wal', '-shm'];

/**
 * Why root must not open a database that is a file: it, or what SQLite keeps beside it, is of somebody else, or could be. The data folder
 * was examined before, and may be open to others, as one of a shared disk is: in there a database has only to be root's.
 */
export async function objectionToDatabase(databaseUrl: string, dataDir: string): Promise<string | undefined> {
	if (!databaseUrl.startsWith('sqlite:')) return undefined;
	const file = path.resolve(databaseUrl.slice('sqlite:'.length));
	const objection = await whyOthersHave(file, [dataDir, await realpath(dataDir).catch(() => dataDir)]);
	if (objection === undefined) return undefined;
	const { reason, remedy } = objection;
	return `Root does not work on the database ${file}, for ${reason}: who may do that can read or change all that is in it, or lead root elsewhere by a link. Name another folder, give the data folder to the user of the server, whom root becomes then, or ${remedy}.`;
}

/** `dataFolders` are the names of the data folder: the one of the configuration, and where that leads. */
async function whyOthersHave(file: string, dataFolders: readonly string[]): Promise<Objection | undefined> {
	const objection = await whyOthersHaveFolder(path.dirname(file), dataFolders);
	if (objection !== undefined) return objection;
	for (const ending of endings) {
		const own = await whyOthersOwn(`${file}${ending}`);
		if (own !== undefined) return own;
	}
	const found = await undefinedIfGone(lstat(file));
	// SQLite works in the folder to which a link leads. One that leads nowhere it refuses.
	const real = found?.isSymbolicLink() ? await undefinedIfGone(realpath(file)) : undefined;
	return real === undefined ? undefined : whyOthersHave(real, dataFolders);
}

async function whyOthersHaveFolder(folder: string, dataFolders: readonly string[]): Promise<Objection | undefined> {
	const top = dataFolders.find((each) => isWithin(folder, each));
	if (top === undefined) return whyOthersMayAdd(folder);
	const below = path.relative(top, folder).split(path.sep);
	let at = top;
	for (const [index, name] of below.entries()) {
		if (name === '') continue;
		at = path.join(at, name);
		const own = await whyOthersOwn(at);
		if (own !== undefined) return own;
		// Where a link of root's leads is examined as itself.
		if ((await undefinedIfGone(lstat(at)))?.isSymbolicLink()) {
			const real = await realpath(at).catch(() => at);
			return real === at
				? whyOthersMayAdd(folder)
				: whyOthersHaveFolder(path.join(real, ...below.slice(index + 1)), dataFolders);
		}
	}
	return undefined;
}

/** Why root must not make the socket of the configuration: somebody else may put another folder in the place of the one it lies in. */
export async function objectionToSocket(config: Pick<Config, 'listen'>): Promise<string | undefined> {
	const socket = socketPathOf(config);
	const objection = socket === undefined ? undefined : await whyOthersMayReplace(path.dirname(path.resolve(socket)));
	if (objection === undefined) return undefined;
	const { reason, remedy } = objection;
	return `Root does not listen at the socket ${socket}, for ${reason}: who may do that can lead root elsewhere by a link. Name another one in listen, give the data folder to the user of the server, whom root becomes then, or ${remedy}.`;
}
