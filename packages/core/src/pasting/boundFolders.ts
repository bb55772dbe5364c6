import type { ItemRef } from '@stowage/plugin-api';
import { parentPath, type StoragePath, signedIn, type Viewer } from '@stowage/rules';
import { pathNow } from '../members/payer.js';
import { notSharedAnyMore, type SharedFolders } from '../members/SharedFolders.js';
import { notFound } from '../trees/Tree.js';
import type { PasteInput, PasteStep } from './pasteInput.js';

type Folders = Pick<SharedFolders, 'joined'>;

/** The input with the shared folders that its paths mean now, so that it means no others later, also when it is retried. */
export async function boundToFolders(folders: Folders, viewer: Viewer, input: PasteInput): Promise<PasteInput> {
	const { from, to, items, directory } = input;
	const paths = [...(from === 'shared' ? items.map(({ path }) => path) : []), ...(to === 'shared' ? [directory] : [])];
	if (paths.length === 0) return input;
	const names = new Set(paths.map(folderName));
	const joined = await folders.joined(signedIn(viewer).id);
	const meant = joined.filter(({ name }) => names.has(name));
	return { ...input, folders: meant.map(({ name, folder }) => ({ name, id: folder.id })) };
}

/**
 * The step in the folders that its paths meant when the job was asked for, whatever they are called by now. Throws
 * `notFound` for one that is not shared with the viewer any more.
 */
export async function stepInFolders(
	folders: Folders,
	viewer: Viewer,
	{ folders: bound }: Pick<PasteInput, 'folders'>,
	{ from, to }: PasteStep,
): Promise<PasteStep> {
	const located = async (ref: ItemRef): Promise<ItemRef> => {
		// A job that an earlier version stored has only the names.
		if (ref.area !== 'shared' || bound === undefined) return ref;
		const name = folderName(ref.path);
		const folderId = bound.find((each) => each.name === name)?.id;
		if (folderId === undefined) throw notFound();
		const path = await pathNow(folders, viewer, { folderId, path: ref.path });
		if (path === undefined) throw notSharedAnyMore();
		return { ...ref, path, folderId };
	};
	// A path in the list of shared folders is in none of them, and refused as such.
	return { from: await located(from), to: parentPath(to.path) === '' ? to : await located(to) };
}

/** The first name of a path, which may have a thousand more. */
function folderName(path: StoragePath): string | undefined {
	return path.split('/', 1)[0];
}
