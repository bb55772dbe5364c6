import type { NamingOptions, UserRecord, UserStore } from '@stowage/plugin-api';
import { Failure, homeRoot, isFailure, joinPath, type StoragePath } from '@stowage/rules';
import { makeHome } from '../files/homes.js';
import { underFreeName } from '../files/writing/publish.js';
import { HomeComparison } from '../storage/compareHomes.js';
import type { MountedStorage } from '../storage/MountedStorage.js';
import { measureHome } from '../storage/walkHome.js';

/** What to do with the files of a removed account. */
export type FilesFate = { kind: 'keep' } | { kind: 'delete' } | { kind: 'move'; to: UserRecord };

/**
 * Removes an account, its files first: after an interruption the same call continues. The user can't be signed in meanwhile and upload more files. Resolves to the name of the
 * folder that the files were moved to, if they were.
 */
export async function removeUser(
	user: UserRecord,
	fate: FilesFate,
	{ users, storage }: { users: UserStore; storage: MountedStorage },
): Promise<string | undefined> {
	if (fate.kind === 'move' && fate.to.id === user.id)
		throw new Failure('invalid', 'The files of a user who goes can only be moved to another one.');
	await storage.assertNotMoving(user.username);
	if (fate.kind !== 'keep') await users.setDisabled(user.id, true);
	const folder = await handleFiles(user, fate, storage);
	await users.remove(user.id);
	return folder;
}

async function handleFiles(user: UserRecord, fate: FilesFate, storage: MountedStorage): Promise<string | undefined> {
	if (fate.kind === 'keep') return undefined;
	const home = homeRoot(user.username);
	try {
		if (fate.kind === 'delete') await storage.remove(home);
		else {
			await makeHome(storage, fate.to.username);
			const target = homeRoot(fate.to.username);
			const [own, theirs] = [await storage.mountAt(home), await storage.mountAt(target)];
			const bringHome = own === theirs ? bringByRename : bringAcross;
			return await bringHome(storage, home, target, `Files of ${user.username}`);
		}
	} catch (error) {
		// It was never created, or the files were moved before the command was interrupted.
		if (!isFailure(error, 'notFound')) throw error;
	}
	return undefined;
}

async function bringByRename(storage: MountedStorage, home: StoragePath, target: StoragePath, name: string) {
	const move = (path: StoragePath, options: NamingOptions) => storage.move(home, path, options);
	return (await underFreeName(target, name, 'directory', move)).name;
}

/** Moves files to another disk. If anything can't be copied, or was not copied exactly, the original stays. */
async function bringAcross(storage: MountedStorage, home: StoragePath, target: StoragePath, name: string) {
	const { signal } = new AbortController();
	// Throws for items that a copy would leave out.
	await measureHome((await storage.mountAt(home)).storage, home, signal);
	const copy = (path: StoragePath, options: NamingOptions) => storage.copy(home, path, options);
	const made = await underFreeName(target, name, 'directory', copy);
	const copied = joinPath(target, made.name);
	const trees = [
		{ storage, root: home },
		{ storage, root: copied },
	] as const;
	const { isSame } = await new HomeComparison(...trees, signal, () => {}).compare();
	if (!isSame) {
		throw new Failure(
			'conflict',
			`Another program changed something in ${home} while it was copied to ${copied}. Both are kept: run the command again once that has ended, and remove what was copied first.`,
		);
	}
	await storage.remove(home);
	return made.name;
}
