import type { StorageEntry, StorageProvider } from '@stowage/plugin-api';
import { anonymousOwner, isFailure } from '@stowage/rules';
import { homesFolder, type Mount, type Mounts, mountOf } from './Mounts.js';

/** The homes of all roots as rows, those of an unavailable root as empty ones: their owners still exist. */
export async function* listHomes(mounts: Mounts): AsyncGenerator<StorageEntry[]> {
	const all = mounts.all();
	for (const mount of all) {
		try {
			for await (const batch of mount.storage.list(homesFolder)) yield await homesUsedOn(mounts, mount, batch);
		} catch (error) {
			if (isFailure(error, 'notFound') && all.length > 1) continue;
			if (!isFailure(error, 'unavailable') || all.length === 1) throw error;
			yield (await mounts.homes.on(mount)).map((name) => ({ name, type: 'directory', size: 0, mtime: 0 }));
		}
	}
}

/** The homes on a root, without the former trees of homes that are on other roots. */
async function homesUsedOn(mounts: Mounts, mount: Mount, homes: StorageEntry[]): Promise<StorageEntry[]> {
	if (mounts.all().length === 1) return homes;
	const used = await Promise.all(homes.map(({ name }) => mountOf(mounts, name === anonymousOwner ? undefined : name)));
	return homes.filter((_, index) => used[index] === mount);
}

/** Names of the homes on disk, including those without a user. */
export async function homesOnDisk(storage: StorageProvider): Promise<string[]> {
	const names: string[] = [];
	try {
		for await (const batch of storage.list(homesFolder)) names.push(...batch.map(({ name }) => name));
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
	return names;
}
