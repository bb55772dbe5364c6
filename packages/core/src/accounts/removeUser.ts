import type { NamingOptions, UserRecord, UserStore } from '@stowage/plugin-api';
import { Failure, homeRoot, isFailure, joinPath, type StoragePath } from '@stowage/rules';
import { HomeComparison } from '../trees/across/compareHomes.js';
import { measureHome } from '../trees/across/walkHome.js';
import { withFreeName } from '../trees/freeName.js';
import { makeHome } from '../trees/storage/homes.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import type { TrashBin } from '../trees/trash/TrashBin.js';

/**
 * What to do with the files of a removed account. Where they are not deleted, what is in the trash stays there until
 * it expires, unless that is purged.
 */
export type FilesAction =
	| { kind: 'delete' }
	| ({ purgesTrash?: boolean } & ({ kind: 'keep' } | { kind: 'move'; to: UserRecord }));

/**
 * Removes an account, its files first: after an interruption the same call continues. The user can't be signed in meanwhile and upload
 * more files. Resolves to the name of the folder that the files were moved to, if they were.
 */
export async function removeUser(
	user: UserRecord,
	filesAction: FilesAction,
	{ users, storage, trash }: { users: UserStore; storage: MountedStorage; trash: Pick<TrashBin, 'purge'> },
): Promise<string | undefined> {
	if (filesAction.kind === 'move' && filesAction.to.id === user.id)
		throw new Failure('invalid', 'The files of a user who goes can only be moved to another one.');
	await storage.homes.assertNotMoving(user.username);
	if (filesAction.kind !== 'keep') await users.setDisabled(user.id, true);
	const folder = await handleFiles(user, filesAction, storage);
	if (filesAction.kind === 'delete' || filesAction.purgesTrash) await trash.purge({ ownerId: user.id });
	await users.remove(user.id);
	return folder;
}

async function handleFiles(
	user: UserRecord,
	filesAction: FilesAction,
	storage: MountedStorage,
): Promise<string | undefined> {
	if (filesAction.kind === 'keep') return undefined;
	const home = homeRoot(user.username);
	try {
		if (filesAction.kind === 'delete') await storage.remove(home);
		else {
			await makeHome(storage.home(filesAction.to.username), filesAction.to.username);
			const target = homeRoot(filesAction.to.username);
			const [own, other] = [await storage.homeOf(home).mount(), await storage.homeOf(target).mount()];
			const moveHome = own === other ? moveByRename : moveAcross;
			return await moveHome(storage, home, target, `Files of ${user.username}`);
		}
	} catch (error) {
		// It was never created, or the files were moved before the command was interrupted.
		if (!isFailure(error, 'notFound')) throw error;
	}
	return undefined;
}

async function moveByRename(storage: MountedStorage, home: StoragePath, target: StoragePath, name: string) {
	const move = (path: StoragePath, options: NamingOptions) => storage.move(home, path, options);
	return (await withFreeName(target, name, 'directory', move)).name;
}

/** Moves files to another disk. If anything can't be copied, or was not copied exactly, the original stays. */
async function moveAcross(storage: MountedStorage, home: StoragePath, target: StoragePath, name: string) {
	const { signal } = new AbortController();
	// Throws for items that a copy would leave out.
	await measureHome((await storage.homeOf(home).mount()).storage, home, signal);
	const copy = (path: StoragePath, options: NamingOptions) => storage.copy(home, path, options);
	const made = await withFreeName(target, name, 'directory', copy);
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
