import {
	baseName,
	Failure,
	homeRoot,
	invalidNameMessage,
	isFailure,
	normalizeName,
	pathsTo,
	publicRoot,
	type StoragePath,
	undefinedIf,
} from '@stowage/rules';
import type { ItemStorage } from './Mounts.js';

type FolderStorage = Pick<ItemStorage, 'makeDirectory' | 'removeEmptyFolder' | 'stat'>;

/**
 * Creates a folder with its missing parents, or none of them. An existing one is fine, a file in the way is
 * `alreadyExists`. Names in `knownNames` may be given though the rule for names forbids them, since existing items
 * have them. Resolves to the created ones, outermost first.
 */
export async function ensureFolder(
	storage: FolderStorage,
	path: StoragePath,
	knownNames: readonly string[] = [],
): Promise<StoragePath[]> {
	const made = new Set<StoragePath>();
	const known = new Set(knownNames);
	try {
		const nothing = async () => {};
		await retryOnRemovedItems(nothing, async () => {
			for (const folder of pathsTo(path)) if (await makeIfMissing(storage, folder, known)) made.add(folder);
		});
		return [...made];
	} catch (error) {
		await removeCreatedFolders(storage, [...made]);
		throw error;
	}
}

/** Creates the missing folders of the home of a user, or of the visitors, among them its public tree. */
export async function makeHome(home: FolderStorage & { assign(): Promise<void> }, name: string): Promise<void> {
	await home.assign();
	await ensureFolder(home, homeRoot(name));
	await ensureFolder(home, publicRoot(name));
}

/** The number of attempts, as others may remove a folder between two of our calls. */
const maxTries = 10;

/**
 * Runs `work` on the result of `readState`, and again with a new one if an item that was found or created before was
 * moved or removed meanwhile. Errors of `readState` itself are thrown.
 */
export async function retryOnRemovedItems<Seen, T>(
	readState: () => Promise<Seen>,
	work: (seen: Seen) => Promise<T>,
): Promise<T> {
	for (let tries = 1; ; tries++) {
		const seen = await readState();
		try {
			return await work(seen);
		} catch (error) {
			if (!isFailure(error, 'notFound') || tries === maxTries) throw error;
		}
	}
}

async function makeIfMissing(
	storage: FolderStorage,
	folder: StoragePath,
	knownNames: ReadonlySet<string>,
): Promise<boolean> {
	const name = baseName(folder);
	for (let tries = 1; ; tries++) {
		try {
			// An existing item may have any name; a new one must have a valid name.
			if (!knownNames.has(name) && normalizeName(name) !== name) throw new Failure('invalidName', invalidNameMessage);
			await storage.makeDirectory(folder);
			return true;
		} catch (error) {
			if (!isFailure(error, 'alreadyExists') && !isFailure(error, 'invalidName')) throw error;
			const type = (await undefinedIf(storage.stat(folder), 'notFound'))?.type;
			if (type === 'directory') return false;
			// It existed a moment ago. If this persists it is something that can't be shown, such as a symbolic link.
			const isGone = isFailure(error, 'alreadyExists') && type === undefined;
			if (!isGone || tries === maxTries) throw error;
		}
	}
}

/** Removes folders that were created for an item that failed, unless they are used by now. */
export async function removeCreatedFolders(storage: FolderStorage, folders: readonly StoragePath[]): Promise<void> {
	for (const folder of folders.toReversed()) {
		try {
			await storage.removeEmptyFolder(folder);
		} catch (error) {
			// The parents contain this one. An empty folder that stays is no reason to hide the actual error.
			if (isFailure(error)) return;
			throw error;
		}
	}
}
