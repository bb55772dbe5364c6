import type { NamingOptions, StorageProvider } from '@stowage/plugin-api';
import { hasReplace } from '@stowage/plugin-api';
import { anonymousOwner, Failure, isFailure, parsePath, pathSegments, type StoragePath } from '@stowage/rules';

/** A storage root with its place among the others. */
export interface Mount {
	/** The name the administrator gave it. */
	readonly name: string;
	/** Of the ids of its items and staged files, so that no two roots have an id in common. Empty for the first root, whose ids are older than other roots. */
	readonly idPrefix: string;
	readonly storage: StorageProvider;
}

/** Maps homes to roots. */
export interface Mounts {
	/** The root of the public trees without a user, and of homes without a record. */
	readonly default: Mount;
	all(): readonly Mount[];
	ofHome(username: string): Mount | Promise<Mount>;
	/** Records the root of a home that is being created, unless it is known. */
	assignHome(username: string): Promise<void>;
	/** Records that a home lies on the root of another one, whose name it will get. Does nothing if that one no longer exists. */
	assignHomeOfRename(username: string, newName: string): Promise<void>;
	/** Runs `work`, which changes a home. Throws `locked` while the home is frozen, as it moves to another root; a move waits for changes that began before. */
	changing<T>(username: string, work: () => Promise<T>): Promise<T>;
	/** Throws `locked` as soon as this process knows that a home is frozen: for long work that began before. */
	assertChangeable(username: string): void;
	/** Throws `conflict` while a home is being moved to another root. */
	assertNotMoving(username: string): Promise<void>;
	/** Names of the homes on a root, also while it is not available. */
	homesOn(mount: Mount): Promise<readonly string[]>;
}

/** The folder of all homes, which are on several roots. */
export const homesFolder = parsePath('users');

/** The owner of the home that a path is in, or is. */
export function homeAt(path: StoragePath): string | undefined {
	const [first, home] = pathSegments(path);
	return first === homesFolder && home !== anonymousOwner ? home : undefined;
}

/** The root that contains the path. */
export function mountAt(mounts: Mounts, path: StoragePath): Mount | Promise<Mount> {
	const home = homeAt(path);
	return home === undefined ? mounts.default : mounts.ofHome(home);
}

/** Runs work that depends on the root of a home and on the ids of its items: it is not moved meanwhile. Throws `locked` while it is. */
export function changingAt<T>(mounts: Mounts, path: StoragePath, work: () => Promise<T>): Promise<T> {
	const home = homeAt(path);
	return home === undefined ? work() : mounts.changing(home, work);
}

export async function canReplaceAt(mounts: Mounts, path: StoragePath): Promise<boolean> {
	const { storage } = await mountAt(mounts, path);
	return hasReplace(storage) && (await storage.canReplace(path));
}

/** Refuses early what the root itself would refuse, before bytes are copied between roots. */
export async function assertReplaceable(
	mounts: Mounts,
	path: StoragePath,
	{ onConflict = 'fail' }: NamingOptions = {},
): Promise<void> {
	if (onConflict === 'fail') return;
	if (!(await canReplaceAt(mounts, path)))
		throw new Failure('invalid', 'Files can’t be replaced in one step on this disk.');
	const { storage } = await mountAt(mounts, path);
	const found = await storage.stat(path).catch(ignoreMissing);
	if (found !== undefined && found.version !== onConflict.replace)
		throw new Failure('preconditionFailed', 'The file has changed.');
}

export function ignoreMissing(error: unknown): void {
	if (!isFailure(error, 'notFound')) throw error;
}
