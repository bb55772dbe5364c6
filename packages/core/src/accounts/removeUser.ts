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
	formatListSize,
	homeRoot,
	isFailure,
	joinPath,
	parentPath,
	type StoragePath,
	undefinedIf,
} from '@stowage/rules';
import type { Config } from '../config/schema.js';
import { HomeComparison } from '../trees/across/compareHomes.js';
import { copiesFolder, newTree } from '../trees/across/copies.js';
import { removeUnchanged } from '../trees/across/removeUnchanged.js';
import { measureHome } from '../trees/across/walkHome.js';
import { withFreeName } from '../trees/freeName.js';
import { assertUsable } from '../trees/roots/assertUsable.js';
import { availableSpace } from '../trees/space/freeSpace.js';
import { ensureFolder, makeHome } from '../trees/storage/folders.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import type { TrashBin } from '../trees/trash/TrashBin.js';

/**
 * What to do with the files of a removed account. Where they are not deleted, what is in the trash stays there until
 * it expires, unless that is purged.
 */
export type FilesAction =
	| { kind: 'delete' }
	| ({ purgesTrash?: boolean } & ({ kind: 'keep' } | { kind: 'move'; to: UserRecord }));

interface Dependencies {
	users: UserStore;
	storage: MountedStorage;
	trash: Pick<TrashBin, 'purge'>;
	config: Pick<Config, 'uploads'>;
}

/** Whether anything may have left the home. */
interface Progress {
	hasTaken: boolean;
}

/**
 * Removes an account, its files first: after an interruption the same call continues. The user can't be signed in meanwhile and upload
 * more files. What fails leaves the account as it was for as long as the whole home is there. Resolves to the name of the folder that the
 * files were moved to, if they were.
 */
export async function removeUser(
	user: UserRecord,
	filesAction: FilesAction,
	{ users, storage, trash, config }: Dependencies,
): Promise<string | undefined> {
	if (filesAction.kind === 'move' && filesAction.to.id === user.id)
		throw new Failure('invalid', 'The files of a user who goes can only be moved to another one.');
	const remove = async () => {
		if (filesAction.kind === 'delete' || filesAction.purgesTrash) await trash.purge({ ownerId: user.id });
		await users.remove(user.id);
	};
	if (filesAction.kind === 'keep') {
		await remove();
		return undefined;
	}
	await assertRemovable(user, filesAction, storage, config);
	const wasDisabled = (await users.get(user.id))?.isDisabled === true;
	await users.setDisabled(user.id, true);
	const progress: Progress = { hasTaken: false };
	try {
		const folder = await handleFiles(user, filesAction, storage, progress);
		progress.hasTaken = true;
		await remove();
		return folder;
	} catch (error) {
		if (wasDisabled) throw error;
		// What is asked here may fail for the same reason.
		const isEnabled = await enableIfWhole(user, { users, storage }, progress).catch(() => false);
		if (!isFailure(error)) throw error;
		const then = isEnabled
			? `${user.username} can sign in again.`
			: `${user.username} stays disabled, since part of the files may be gone already: run the command again.`;
		throw new Failure(error.kind, `${error.message} ${then}`, { cause: error });
	}
}

/** Throws what the removal is known to end with, before anything is changed. */
async function assertRemovable(
	user: UserRecord,
	filesAction: Exclude<FilesAction, { kind: 'keep' }>,
	storage: MountedStorage,
	{ uploads }: Pick<Config, 'uploads'>,
): Promise<void> {
	const home = homeRoot(user.username);
	const source = await storage.homeOf(home).mount();
	await assertUsable(source);
	if (filesAction.kind === 'delete') return storage.homeOf(home).assertUnmounted(home);
	const { username } = filesAction.to;
	const target = await storage.home(username).mount();
	if (target === source) return;
	await assertUsable(target);
	await storage.homeOf(home).assertUnmounted(home);
	// Throws for items that a copy would leave out.
	const { bytes } = await measureHome(source.storage, home, new AbortController().signal);
	// A copy that is there already may be the whole.
	const copy = joinPath(homeRoot(username), folderFor(user));
	if ((await undefinedIf(storage.stat(copy), 'notFound')) !== undefined) return;
	const available = Math.max(0, await availableSpace(target.storage, uploads));
	if (bytes <= available) return;
	throw new Failure(
		'storageFull',
		`The home of ${user.username} has ${formatListSize(bytes)}, and on ${target.name} there is room for ${formatListSize(available)}.`,
	);
}

/** Whether the account can be used again, for its home is whole. */
async function enableIfWhole(
	user: UserRecord,
	{ users, storage }: Pick<Dependencies, 'users' | 'storage'>,
	{ hasTaken }: Progress,
): Promise<boolean> {
	if (hasTaken) return false;
	await storage.stat(homeRoot(user.username));
	await users.setDisabled(user.id, false);
	return true;
}

const folderFor = ({ username }: UserRecord) => `Files of ${username}`;

async function handleFiles(
	user: UserRecord,
	filesAction: Exclude<FilesAction, { kind: 'keep' }>,
	storage: MountedStorage,
	progress: Progress,
): Promise<string | undefined> {
	const home = homeRoot(user.username);
	try {
		if (filesAction.kind === 'delete') {
			progress.hasTaken = true;
			await storage.remove(home);
		} else {
			await makeHome(storage.home(filesAction.to.username), filesAction.to.username);
			const target = homeRoot(filesAction.to.username);
			const [own, other] = [await storage.homeOf(home).mount(), await storage.homeOf(target).mount()];
			const moveHome = own === other ? moveByRename : moveAcross;
			return await moveHome(storage, home, target, folderFor(user), progress);
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
async function moveAcross(
	storage: MountedStorage,
	home: StoragePath,
	target: StoragePath,
	name: string,
	progress: Progress,
): Promise<string> {
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
		progress.hasTaken = kept !== baseName(home);
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
