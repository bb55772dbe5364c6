import { Failure } from '@stowage/rules';
import { shellCommand } from '../shellCommand.js';
import type { FoundHomes } from '../trees/storage/findHomes.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import type { Mount } from '../trees/storage/Mounts.js';

/** Where the home of a new account shall lie. */
export interface NewHome {
	/** The home is there already, without an account. */
	adoptsHome?: boolean;
	/** The name of its root. If left out, it is the default one, or that on which the home to be adopted lies. */
	root?: string;
}

/**
 * The root for the home of a new account, which its row says from the first moment: a home of that name that a disk has which is away now
 * is not taken for it later. Throws `taken` where there is a home of that name already that is not to be adopted, and `unavailable` where
 * nobody can see whether there is.
 */
export async function rootOfNewHome(
	storage: MountedStorage,
	username: string,
	{ adoptsHome = false, root }: NewHome,
	taken: Failure,
): Promise<Mount> {
	const named = storage.mounts().find(({ name }) => name === root);
	if (root !== undefined && named === undefined) throw new Failure('notFound', `There is no storage root ${root}.`);
	const mount = named ?? storage.defaultMount;
	const found = await storage.findHomes(username);
	if (adoptsHome) return rootOfAdopted(found, username, named);
	// A home without a user contains somebody's files: a new account of its name would get them.
	if (found.homes.length > 0) throw taken;
	const reason = found.away.get(mount);
	if (reason !== undefined) throw reason;
	return mount;
}

/** The one root that has the home. */
function rootOfAdopted({ homes, away }: FoundHomes, username: string, named: Mount | undefined): Mount {
	const possible = homes.filter(({ mount }) => named === undefined || mount === named);
	const [mount, other] = possible.filter(({ name }) => name === username).map((home) => home.mount);
	if (mount === undefined) throw nothingToAdopt(possible[0]?.name, [...away.keys()], username, named);
	if (other === undefined) return mount;
	throw new Failure(
		'conflict',
		`There are homes of ${username} on ${mount.name} and on ${other.name}. Say which: ${shellCommand`stowage user add --adopt-home --root ${mount.name} ${username}`}`,
	);
}

function nothingToAdopt(
	similar: string | undefined,
	away: readonly Mount[],
	username: string,
	named: Mount | undefined,
): Failure {
	if (similar !== undefined)
		return new Failure('conflict', `The home on disk is called ${similar}, and not ${username}: give that name.`);
	const hidden = away.filter((mount) => named === undefined || mount === named).map(({ name }) => name);
	if (hidden.length > 0) {
		return new Failure(
			'unavailable',
			`There is no home of ${username} on a storage root that can be used right now. Not to be seen: what is on ${hidden.join(', ')}.`,
		);
	}
	const where = named === undefined ? 'any storage root' : named.name;
	return new Failure(
		'notFound',
		`There is no home of ${username} on ${where}. Without --adopt-home the account gets a new one.`,
	);
}
