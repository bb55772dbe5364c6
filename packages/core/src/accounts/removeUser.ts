import {
	assertUnmounted,
	hasFolderTimes,
	type NamingOptions,
	type StorageProvider,
	type UserRecord,
	type UserStore,
} from '@stowage/plugin-api';
import {
	baseName,
	candidateNames,
	Failure,
	homeRoot,
	isFailure,
	joinPath,
	parentPath,
	type StoragePath,
	undefinedIf,
} from '@stowage/rules';
import { HomeComparison } from '../trees/across/compareHomes.js';
import { copiesFolder, newTree } from '../trees/across/copies.js';
import { removeUnchanged } from '../trees/across/removeUnchanged.js';
import { measureHome } from '../trees/across/walkHome.js';
import { withFreeName } from '../trees/freeName.js';
import { ensureFolder } from '../trees/storage/folders.js';
import { makeHome } from '../trees/storage/homes.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import type { TrashBin } from '../trees/trash/TrashBin.js';

/**
 * What to do with the files of a removed account. Where they are not deleted, what is in the trash stays there until
 * it expires, unless that is purged.
 */
export type FilesAction =
	| { kind: 'delete' }
	| ({ purgesTrash?: boolean } & ({ kind: 'keep' } | { kind: 'move'; to: UserRecord }));

/**
 * Removes an account, its files first: after an interruption the same call continues. The user can't be signed in meanwhile and upload
 * more files. Resolves to the name of the folder that the files were moved to, if they were.
 */
export async function removeUser(
	user: UserRecord,
	filesAction: FilesAction,
	{ users, storage, trash }: { users: UserStore; storage: MountedStorage; trash: Pick<TrashBin, 'purge'> },
): Promise<string | undefined> {
	if (filesAction.kind === 'move' && filesAction.to.id === user.id)
		throw new Failure('invalid', 'The files of a user who goes can only be moved to another one.');
	await storage.homes.assertNotMoving(user.username);
	const home = homeRoot(user.username);
	if (filesAction.kind === 'delete') await storage.homeOf(home).assertUnmounted(home);
	if (filesAction.kind !== 'keep') await users.setDisabled(user.id, true);
	const folder = await handleFiles(user, filesAction, storage);
	if (filesAction.kind === 'delete' || filesAction.purgesTrash) await trash.purge({ ownerId: user.id });
	await users.remove(user.id);
	return folder;
}

async function handleFiles(
	user: UserRecord,
	filesAction: FilesAction,
	storage: MountedStorage,
): Promise<string | undefined> {
	if (filesAction.kind === 'keep') return undefined;
	const home = homeRoot(user.username);
	try {
		if (filesAction.kind === 'delete') await storage.remove(home);
		else {
			await makeHome(storage.home(filesAction.to.username), filesAction.to.username);
			const target = homeRoot(filesAction.to.username);
			const [own, other] = [await storage.homeOf(home).mount(), await storage.homeOf(target).mount()];
			const moveHome = own === other ? moveByRename : moveAcross;
			return await moveHome(storage, home, target, `Files of ${user.username}`);
		}
	} catch (error) {
		// It was never created, or the files were moved before the command was interrupted.
		if (!isFailure(error, 'notFound')) throw error;
	}
	return undefined;
}

async function moveByRename(storage: MountedStorage, home: StoragePath, target: StoragePath, name: string) {
	const move = (path: StoragePath, options: NamingOptions) => storage.move(home, path, options);
	return (await withFreeName(target, name, 'directory', move)).name;
}

/**
 * Moves files to another disk. If anything can't be copied, was not copied exactly or is changed until the original is
 * removed, that stays.
 */
async function moveAcross(storage: MountedStorage, home: StoragePath, target: StoragePath, name: string) {
	const { signal } = new AbortController();
	const source = (await storage.homeOf(home).mount()).storage;
	await assertUnmounted(source, home);
	// Throws for items that a copy would leave out.
	await measureHome(source, home, signal);
	/** What the home contained as the copy was found to have the same; undefined where it has not. */
	const digestOfCopied = async (of: string): Promise<string | undefined> => {
		const copy = { storage, root: joinPath(target, of) };
		const { isSame, digest } = await new HomeComparison(
			{ storage: source, root: home },
			copy,
			signal,
			() => {},
		).compare();
		return isSame ? digest : undefined;
	};
	const earlier = await findCopy(storage, target, name, digestOfCopied);
	const copy = (path: StoragePath, options: NamingOptions) => storage.copy(home, path, options);
	const of = earlier?.name ?? (await withFreeName(target, name, 'directory', copy)).name;
	const digest = earlier?.digest ?? (await digestOfCopied(of));
	const kept = digest === undefined ? baseName(home) : await removeCopied(source, home, digest);
	if (kept !== undefined) {
		throw new Failure(
			'conflict',
			`Another program changed something in ${joinPath(parentPath(home), kept)} while it was copied to ${joinPath(target, of)}. Both are kept: run the command again once that has ended, and remove what was copied first.`,
		);
	}
	return of;
}

/** Removes a home that was copied; resolves to its name if it was changed since, and is kept. */
async function removeCopied(storage: StorageProvider, home: StoragePath, digest: string): Promise<string | undefined> {
	const away = newTree();
	await ensureFolder(storage, copiesFolder);
	// A copy that looks old is swept.
	if (hasFolderTimes(storage)) await storage.setFolderTime(home, Date.now());
	await storage.move(home, away);
	return removeUnchanged({ storage, path: home, away, digest, onStuck: () => {} });
}

/**
 * The copy of a call that was interrupted before it removed the original: the last folder of those names, if it has all
 * files and nothing else.
 */
async function findCopy(
	storage: MountedStorage,
	target: StoragePath,
	name: string,
	digestOfCopied: (of: string) => Promise<string | undefined>,
): Promise<{ name: string; digest: string } | undefined> {
	let last: string | undefined;
	for (const candidate of candidateNames(name, 'directory')) {
		const found = await undefinedIf(storage.stat(joinPath(target, candidate)), 'notFound');
		if (found === undefined) break;
		last = found.type === 'directory' ? candidate : undefined;
	}
	if (last === undefined) return undefined;
	try {
		const digest = await digestOfCopied(last);
		return digest === undefined ? undefined : { name: last, digest };
	} catch (error) {
		// Somebody has put other files of the same sizes and times there.
		if (isFailure(error, 'conflict')) return undefined;
		throw error;
	}
}
