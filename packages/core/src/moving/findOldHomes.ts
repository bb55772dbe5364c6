import type { HomeStore, UserStore } from '@stowage/plugin-api';
import { homeRoot, isFailure, parsePath, type StoragePath } from '@stowage/rules';
import type { Roots } from '../trees/roots/Roots.js';

/** A folder with the name of a home, on another root than the home. */
export interface OldHome {
	username: string;
	/** The name of the root that it is on. */
	root: string;
	path: StoragePath;
}

interface Dependencies {
	roots: Pick<Roots, 'all' | 'first'>;
	homes: Pick<HomeStore, 'list'>;
	users: Pick<UserStore, 'list'>;
}

/** The former trees of homes on roots that they have left. Roots that are not available are skipped. */
export async function findOldHomes({ roots, homes, users }: Dependencies): Promise<OldHome[]> {
	const mounts = roots.all();
	if (mounts.length === 1) return [];
	const usernames = new Set((await users.list()).map(({ username }) => username));
	const places = new Map<string, string>();
	for (const { storage } of mounts)
		for (const name of await homes.list(storage.rootId)) places.set(name, storage.rootId);
	const found: OldHome[] = [];
	for (const { name: root, storage } of mounts) {
		try {
			for await (const batch of storage.list(parsePath('users'))) {
				for (const { name } of batch) {
					const place = places.get(name) ?? roots.first.storage.rootId;
					if (place !== storage.rootId && usernames.has(name))
						found.push({ username: name, root, path: homeRoot(name) });
				}
			}
		} catch (error) {
			if (!isFailure(error, 'notFound') && !isFailure(error, 'unavailable')) throw error;
		}
	}
	return found;
}
