import { type Area, anonymousOwner, type Entry } from '@stowage/rules';

/** The entries of a folder by their names. */
export type TakenNames = ReadonlyMap<string, Entry>;

const cache = new WeakMap<readonly Entry[], { username: string | undefined; names: TakenNames }>();

/**
 * The names that an item of this user can't get, with what has them; without a user those that a visitor's can't get. A folder of the
 * public area shows those of several users' trees, of which only the own one counts.
 */
export function takenNames(entries: readonly Entry[], area: Area, username: string | undefined): TakenNames {
	const cached = cache.get(entries);
	if (cached && cached.username === username) return cached.names;
	const owner = username ?? anonymousOwner;
	const own = area !== 'public' ? entries : entries.filter((entry) => entry.owner === owner);
	const names = new Map(own.map((entry) => [entry.name, entry]));
	cache.set(entries, { username, names });
	return names;
}
