import type { UserRecord, UserStore } from '@stowage/plugin-api';
import { Failure, homeRoot, isFailure } from '@stowage/rules';
import { makeHome } from '../files/homes.js';
import { underFreeName } from '../files/writing/publish.js';
import type { MountedStorage } from '../storage/MountedStorage.js';

/** What becomes of the files of somebody whose account goes. */
export type FilesFate = { kind: 'keep' } | { kind: 'delete' } | { kind: 'move'; to: UserRecord };

/**
 * Removes an account, its files before it: cut off in between, the same call goes on. Nobody can be signed in meanwhile and bring further files. Resolves to the name of the
 * folder that the files lie in now, where they were moved.
 */
export async function removeUser(
	user: UserRecord,
	fate: FilesFate,
	{ users, storage }: { users: UserStore; storage: MountedStorage },
): Promise<string | undefined> {
	if (fate.kind === 'move' && fate.to.id === user.id)
		throw new Failure('invalid', 'The files of a user who goes can only be moved to another one.');
	await storage.assertAtRest(user.username);
	if (fate.kind !== 'keep') await users.setDisabled(user.id, true);
	const folder = await settleFiles(user, fate, storage);
	await users.remove(user.id);
	return folder;
}

async function settleFiles(user: UserRecord, fate: FilesFate, storage: MountedStorage): Promise<string | undefined> {
	if (fate.kind === 'keep') return undefined;
	const home = homeRoot(user.username);
	try {
		if (fate.kind === 'delete') await storage.remove(home);
		else {
			await makeHome(storage, fate.to.username);
			const target = homeRoot(fate.to.username);
			const isOnOneDisk = (await storage.mountAt(home)) === (await storage.mountAt(target));
			const bring = (path: typeof home, options: object) =>
				isOnOneDisk ? storage.move(home, path, options) : storage.copy(home, path, options);
			const { name } = await underFreeName(target, `Files of ${user.username}`, 'directory', bring);
			if (!isOnOneDisk) await storage.remove(home);
			return name;
		}
	} catch (error) {
		// It was never made, or the files were settled before the command was cut off.
		if (!isFailure(error, 'notFound')) throw error;
	}
	return undefined;
}
