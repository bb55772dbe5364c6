import type { FileVersion, ItemRef, OpenFile, StorageItem, TrashSelection } from '@stowage/plugin-api';
import {
	assertAllowed,
	deleteDenial,
	type Entry,
	Failure,
	homeRoot,
	relativePath,
	replaceDenial,
	signedIn,
	type User,
	type Viewer,
} from '@stowage/rules';
import type { OwnTree } from '../trees/OwnTree.js';
import { notFound, type Place, placeIn } from '../trees/Tree.js';
import type { PurgedOfOwner } from '../trees/trash/purging/TrashPurge.js';
import { trashedPath } from '../trees/trash/trashPaths.js';
import { entryAt } from './entries.js';
import type { FileParts } from './FileParts.js';
import { replaceItem } from './placing/replaceItem.js';
import { withCurrentName } from './trash.js';

/** The former contents of a user's own files. */
export interface FileVersions {
	/** How long a version is kept, in milliseconds; 0 where none are. */
	readonly keepFor: number;
	/** The versions of a file, the newest first. Throws `notFound` for anything but a file. */
	list(viewer: Viewer, file: ItemRef): Promise<FileVersion[]>;
	/** Opens a version of this very file; the caller closes it. Throws `notFound`. */
	open(viewer: Viewer, file: ItemRef, id: string): Promise<{ entry: Entry; file: OpenFile }>;
	/**
	 * Gives the file the content of a version again; what it had becomes a version. Throws `notFound`, and
	 * `preconditionFailed` where the file is replaced meanwhile.
	 */
	restore(viewer: Viewer, file: ItemRef, id: string): Promise<Entry>;
	/** Removes a version for good. Throws `notFound`. */
	purge(viewer: Viewer, id: string): Promise<void>;
	/** For the administrator: removes all selected versions for good. Resolves to how many were whose. */
	purgeAny(selection: Omit<TrashSelection, 'kind'>): Promise<PurgedOfOwner[]>;
}

export function createFileVersions(parts: FileParts): FileVersions {
	const { trash, versions } = parts;
	const find = async (viewer: Viewer, ref: ItemRef, id: string): Promise<Found & { version: FileVersion }> => {
		const found = await findFile(parts, viewer, ref);
		const { user, place, item } = found;
		const all = await versions.list(user.id, relativePath(place.storagePath, homeRoot(user.username)), item);
		const version = all.find((each) => each.id === id);
		if (version === undefined) throw noSuchVersion();
		return { ...found, version };
	};
	return {
		get keepFor() {
			return versions.keepFor;
		},

		async list(viewer, ref) {
			assertAllowed(deleteDenial(viewer, ref));
			const { user, place, item } = await findFile(parts, viewer, ref);
			const found = await versions.list(user.id, relativePath(place.storagePath, homeRoot(user.username)), item);
			return found.map((version) => withCurrentName(version, user));
		},

		async open(viewer, ref, id) {
			assertAllowed(deleteDenial(viewer, ref));
			const { place, item, version } = await find(viewer, ref, id);
			const { size, mtime } = version;
			const file = await versions.open(version);
			if (file === undefined) throw noSuchVersion();
			return { entry: { ...entryAt(place, item), size: size.bytes, mtime }, file };
		},

		async restore(viewer, ref, id) {
			assertAllowed(replaceDenial(viewer, ref));
			const { user, tree, place, item } = await find(viewer, ref, id);
			const { storage } = tree;
			const isMeant = (record: { kind: string; ownerId: string }) =>
				record.kind === 'version' && record.ownerId === user.id;
			const restored = await trash.moves.take(id, isMeant, async (record) => {
				// It may still be on the disk that the home has left.
				await trash.moveTo(record, await storage.mount());
				const commit: Parameters<typeof replaceItem>[5] = (options) =>
					storage.moveFrom(storage, trashedPath(id), place.storagePath, options);
				const writtenBy = record.kind === 'version' ? record.writtenBy : undefined;
				return replaceItem(parts, tree, place.storagePath, item, { kind: 'restored', writtenBy }, commit);
			});
			if (restored === undefined) throw noSuchVersion();
			tree.notifyChange(place.storagePath);
			return entryAt(place, restored);
		},

		async purge(viewer, id) {
			const selection = { kind: 'version', ids: [id], ownerId: signedIn(viewer).id } as const;
			if ((await trash.purge(selection)) === 0) throw noSuchVersion();
		},

		purgeAny: (selection) => trash.purgeOfEach({ ...selection, kind: 'version' }),
	};
}

interface Found {
	user: User;
	tree: OwnTree;
	place: Place;
	item: StorageItem;
}

/** A file of the viewer's own. */
async function findFile({ trees }: FileParts, viewer: Viewer, { area, path }: ItemRef): Promise<Found> {
	const user = signedIn(viewer);
	const tree = trees.own(viewer, area);
	const place = placeIn(tree, path);
	const item = await tree.storage.stat(place.storagePath);
	if (item.type !== 'file') throw notFound();
	return { user, tree, place, item };
}

const noSuchVersion = () => new Failure('notFound', 'There is no such version of this file any more.');
