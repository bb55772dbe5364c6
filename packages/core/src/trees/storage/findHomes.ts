import { foldUsername, isFailure } from '@stowage/rules';
import { homesFolder, type Mount, type Mounts } from './Mounts.js';

export interface FoundHomes {
	/** Each with the name that it has on its root. */
	homes: readonly { name: string; mount: Mount }[];
	/** The roots that could not be looked at, each with the reason: of their homes only those are found that the database knows. */
	away: ReadonlyMap<Mount, Error>;
}

/**
 * The homes of a name, in whichever case, on all roots: also one that no account has, wherever the database would look for it. What else
 * lies in the place of a home counts as well.
 */
export async function findHomes(mounts: Mounts, username: string): Promise<FoundHomes> {
	const folded = foldUsername(username);
	const homes: { name: string; mount: Mount }[] = [];
	const away = new Map<Mount, Error>();
	const add = (mount: Mount, names: readonly string[]) => {
		for (const name of names) if (foldUsername(name) === folded) homes.push({ name, mount });
	};
	for (const mount of mounts.all()) {
		try {
			for await (const batch of mount.storage.list(homesFolder)) {
				add(
					mount,
					batch.map(({ name }) => name),
				);
			}
		} catch (error) {
			if (isFailure(error, 'notFound')) continue;
			if (!isFailure(error, 'unavailable')) throw error;
			away.set(mount, error);
			add(mount, await mounts.homes.on(mount));
		}
	}
	return { homes, away };
}
