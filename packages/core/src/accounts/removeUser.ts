import type { NamingOptions, UserRecord, UserStore } from '@stowage/plugin-api';
import { candidateNames, Failure, homeRoot, isFailure, joinPath, type StoragePath, undefinedIf } from '@stowage/rules';
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
	const isCopy = async (of: string) => {
		const trees = [
			{ storage, root: home },
			{ storage, root: joinPath(target, of) },
		] as const;
		return (await new HomeComparison(...trees, signal, () => {}).compare()).isSame;
	};
	const earlier = await findCopy(storage, target, name, isCopy);
	if (earlier !== undefined) {
		await storage.remove(home);
		return earlier;
	}
	const copy = (path: StoragePath, options: NamingOptions) => storage.copy(home, path, options);
	const made = await withFreeName(target, name, 'directory', copy);
	if (!(await isCopy(made.name))) {
		throw new Failure(
			'conflict',
			`Another program changed something in ${home} while it was copied to ${joinPath(target, made.name)}. Both are kept: run the command again once that has ended, and remove what was copied first.`,
		);
	}
	await storage.remove(home);
	return made.name;
}

/**
 * The copy of a call that was interrupted before it removed the original: the last folder of those names, if it has all
 * files and nothing else.
 */
async function findCopy(
	storage: MountedStorage,
	target: StoragePath,
	name: string,
	isCopy: (of: string) => Promise<boolean>,
): Promise<string | undefined> {
	let last: string | undefined;
	for (const candidate of candidateNames(name, 'directory')) {
		const found = await undefinedIf(storage.stat(joinPath(target, candidate)), 'notFound');
		if (found === undefined) break;
		last = found.type === 'directory' ? candidate : undefined;
	}
	if (last === undefined) return undefined;
	try {
		return (await isCopy(last)) ? last : undefined;
	} catch (error) {
		// Somebody has put other files of the same sizes and times there.
		if (isFailure(error, 'conflict')) return undefined;
		throw error;
	}
}
