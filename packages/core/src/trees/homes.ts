import type { StorageProvider } from '@stowage/plugin-api';
import { homeRoot, isFailure, parsePath, publicRoot } from '@stowage/rules';
import { ensureFolder } from './folders.js';
import type { MountedStorage } from './MountedStorage.js';

/** Names of the homes on disk, including those without a user. */
export async function homesOnDisk(storage: StorageProvider): Promise<string[]> {
	const names: string[] = [];
	try {
		for await (const batch of storage.list(parsePath('users'))) names.push(...batch.map(({ name }) => name));
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
	return names;
}

/** Creates the missing folders of a user's home, among them its public tree. */
export async function makeHome(storage: MountedStorage, username: string): Promise<void> {
	await storage.mounts.assignHome(username);
	await ensureFolder(storage, homeRoot(username));
	await ensureFolder(storage, publicRoot(username));
}
