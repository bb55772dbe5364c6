import type { StorageProvider } from '@stowage/plugin-api';
import { homeRoot, isFailure, parsePath, publicRoot } from '@stowage/rules';
import { ensureFolder } from './folders.js';
import type { HomeStorage } from './HomeStorage.js';

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

/** Creates the missing folders of the home of a user, or of the visitors, among them its public tree. */
export async function makeHome(home: HomeStorage, name: string): Promise<void> {
	await home.assign();
	await ensureFolder(home, homeRoot(name));
	await ensureFolder(home, publicRoot(name));
}
