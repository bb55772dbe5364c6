import type { Database } from '@stowage/database';
import type { StorageProvider } from '@stowage/plugin-api';
import { Failure, isFailure, joinPath, plural, type StoragePath, undefinedIf } from '@stowage/rules';
import { shellCommand } from '../../shellCommand.js';
import type { Mount } from '../storage/Mounts.js';
import { withPrefix } from '../storage/rootIds.js';
import { unrecordedOn } from '../trash/recording/UnrecordedItems.js';
import { hasHome } from './HomeMounts.js';
import { unownedFolders } from './RootOpener.js';

/** The references that keep a root from being removed. */
export type RemovalStores = Pick<Database, 'homes' | 'users' | 'uploads' | 'trash'>;

/** Uploads stay on the root that they began on, also when the home has left it. */
export async function assertNothingStaged(
	{ uploads }: Pick<RemovalStores, 'uploads'>,
	name: string,
	{ idPrefix }: Mount,
): Promise<void> {
	const count = await uploads.countStaged(withPrefix('', idPrefix));
	if (count === 0) return;
	throw new Failure(
		'conflict',
		`There ${count === 1 ? 'is' : 'are'} ${plural(count, 'unfinished upload')} on ${name}. Wait until ${count === 1 ? 'it is' : 'they are'} finished or expired (uploads.expireAfter), or end ${count === 1 ? 'it' : 'them'}: ${shellCommand`stowage upload remove --root ${name}`}`,
	);
}

/** What is in the trash of a root stays there when its homes have left, and after their users. */
export async function assertNoTrash(
	{ trash }: Pick<RemovalStores, 'trash'>,
	name: string,
	{ storage }: Mount,
): Promise<void> {
	// A root that is away keeps to itself what was deleted there last.
	const arrived = await undefinedIf(unrecordedOn(storage), 'unavailable');
	const [first = arrived?.items[0]?.record] = await trash.list({ order: 'oldest', limit: 1, rootId: storage.rootId });
	if (first === undefined) return;
	const [what, command] =
		first.kind === 'item' ? ['something in the trash of', 'trash'] : ['a version of a file on', 'versions'];
	throw new Failure(
		'conflict',
		`There is ${what} ${name}, such as ${first.path} of ${first.ownerName}. To remove it for good: ${shellCommand`stowage ${command} purge --root ${name}`}`,
	);
}

/** Homes of accounts that were removed or renamed, whose folders no longer exist. */
export async function unassignRemovedHomes({ homes, users }: RemovalStores, { storage }: Mount): Promise<void> {
	try {
		for (const username of await homes.list(storage.rootId)) {
			const isOurs = (await users.find(username)) !== undefined || (await hasHome(storage, username));
			if (!isOurs) await homes.unassign(username, storage.rootId);
		}
	} catch (error) {
		// The content of an unavailable root is unknown: its homes count.
		if (!isFailure(error, 'unavailable')) throw error;
	}
}

/** Throws `conflict` while there are public files of no user on a root. */
export async function assertNoPublicFiles(storage: StorageProvider, name: string): Promise<void> {
	for (const path of unownedFolders) {
		if (await containsFiles(storage, path)) {
			throw new Failure(
				'conflict',
				`There are files of no user on ${name}: move what lies in ${path} to the new root first.`,
			);
		}
	}
}

/** Whether a folder or one below contains any file. */
async function containsFiles(storage: StorageProvider, path: StoragePath): Promise<boolean> {
	try {
		for await (const batch of storage.list(path)) {
			for (const { name, type } of batch) {
				if (type === 'file' || (await containsFiles(storage, joinPath(path, name)))) return true;
			}
		}
		return false;
	} catch (error) {
		if (isFailure(error, 'notFound')) return false;
		throw error;
	}
}
