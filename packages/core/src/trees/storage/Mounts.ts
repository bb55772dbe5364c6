import type { NamingOptions, StorageProvider } from '@stowage/plugin-api';
import { hasReplace } from '@stowage/plugin-api';
import {
	anonymousOwner,
	Failure,
	isFailure,
	parentPath,
	parsePath,
	pathSegments,
	type StoragePath,
	undefinedIf,
} from '@stowage/rules';

/** The calls on items that every storage has, of one root or of a home on it. */
export type ItemStorage = Pick<
	StorageProvider,
	'list' | 'count' | 'stat' | 'open' | 'makeDirectory' | 'remove' | 'removeEmptyFolder' | 'findPublished'
>;

/** A storage root with its place among the others. */
export interface Mount {
	/** The name the administrator gave it. */
	readonly name: string;
	/**
	 * The prefix of the ids of its items and staged files, so that no two roots have an id in common. Empty for the
	 * first root, whose ids are older than other roots.
	 */
	readonly idPrefix: string;
	readonly storage: StorageProvider;
}

/** The storage roots. */
export interface Mounts {
	/** The root of the public trees without a user, and of homes without a record. */
	readonly default: Mount;
	all(): readonly Mount[];
	/** On which of them each home lies. */
	readonly homes: Homes;
}

/** Knows on which root each home lies. */
export interface Homes {
	mountOf(username: string): Mount | Promise<Mount>;
	/** Names of the homes on a root, also while it is not available. */
	on(mount: Mount): Promise<readonly string[]>;
	/** Records the root of a home that is being created, unless it is known. */
	assign(username: string): Promise<void>;
	/** Records that a home lies on the root of another one, whose name it will get. Does nothing if that one no longer exists. */
	assignOfRename(username: string, newName: string): Promise<void>;
	/**
	 * Runs `change`, which changes a home. Throws `locked` while the home is frozen, as it moves to another root; a move
	 * waits for changes that began before.
	 */
	changing<T>(username: string, change: () => Promise<T>): Promise<T>;
	/** Throws `locked` as soon as this process knows that a home is frozen: for long work that began before. */
	assertUnfrozen(username: string): void;
}

/** The folder of all homes, which are on several roots. */
export const homesFolder = parsePath('users');

/** The owner of the home that a path is in, or is. */
export function homeAt(path: StoragePath): string | undefined {
	const [first, home] = pathSegments(path);
	return first === homesFolder && home !== anonymousOwner ? home : undefined;
}

/** The root that a home lies on now; of `undefined` the one with all that no user has. */
export function mountOf(mounts: Mounts, home: string | undefined): Mount | Promise<Mount> {
	return home === undefined ? mounts.default : mounts.homes.mountOf(home);
}

/** Runs a change on the root that a home lies on: the home is not moved meanwhile. Throws `locked` while it is. */
export function changeHome<T>(
	mounts: Mounts,
	home: string | undefined,
	change: (mount: Mount) => Promise<T>,
): Promise<T> {
	if (home === undefined) return change(mounts.default);
	return mounts.homes.changing(home, async () => change(await mounts.homes.mountOf(home)));
}

export async function canReplaceOn({ storage }: Pick<Mount, 'storage'>, path: StoragePath): Promise<boolean> {
	return hasReplace(storage) && (await storage.canReplace(path));
}

/** Refuses early what the root itself would refuse, before bytes are copied between roots. */
export async function assertReplaceable(
	mount: Pick<Mount, 'storage'>,
	path: StoragePath,
	{ onConflict = 'fail' }: NamingOptions = {},
): Promise<void> {
	if (onConflict === 'fail') return;
	if (!(await canReplaceOn(mount, path)))
		throw new Failure('invalid', 'Files can’t be replaced in one step on this disk.');
	const item = await undefinedIf(mount.storage.stat(path), 'notFound');
	// Of a folder that is missing it says that.
	if (item === undefined) await mount.storage.stat(parentPath(path));
	if (item?.version !== onConflict.replace) throw new Failure('preconditionFailed', 'The file has changed.');
}

export function ignoreMissing(error: unknown): void {
	if (!isFailure(error, 'notFound')) throw error;
}
