import type { Files, ItemRef, NamingOptions, StorageItem, StorageProvider, UserStore } from '@stowage/plugin-api';
import {
	anonymousOwner,
	assertAllowed,
	baseName,
	browseDenial,
	copyDenial,
	copyToDenial,
	createFolderDenial,
	deleteDenial,
	type Entry,
	Failure,
	isFailure,
	isValidUsername,
	joinPath,
	moveDenial,
	normalizeName,
	type Owner,
	parentPath,
	parsePath,
	pathSegments,
	readDenial,
	renameDenial,
	type StoragePath,
	trimName,
	uploadDenial,
	type Viewer,
} from '@stowage/rules';
import type { Config } from '../config/schema.js';
import type { Log } from '../log.js';
import type { Quotas, Reservation } from '../quotas/createQuotas.js';
import { ensureFolder, removeCreatedFolders, retryOnRemovedItems } from '../storage/folders.js';
import { availableSpace, createSpaceGuard, type SpaceGuard } from '../storage/freeSpace.js';
import type { MountedStorage } from '../storage/MountedStorage.js';
import { homesOnDisk, makeHome } from './homes.js';
import type { ItemWatcher } from './itemWatcher.js';
import { notThere, ownPlace, type Place, privatePlace, publicPlace, readPlace, treeOf } from './places.js';
import { countedRow, entryIn, listMerged, listPlace } from './reading/listFolder.js';
import { searchPlaces } from './reading/searchFolder.js';
import { surveyPlace, walkedItem } from './reading/surveyPlace.js';
import type { FolderFeeds } from './watching/FolderFeeds.js';
import { watchPlaces } from './watching/watchPlaces.js';
import { lendStaged } from './writing/lendStaged.js';
import {
	findPublished,
	namedCopy,
	type PublishedNames,
	publishAll,
	publishOnce,
	withFreeName,
} from './writing/publish.js';

/** Implements `Files` of plugin-api over all storage roots. The rules are checked before the disk is accessed. */
export function createFiles(
	storage: () => MountedStorage,
	{ publicListing, uploads }: Pick<Config, 'publicListing' | 'uploads'>,
	log: Log,
	watcher: ItemWatcher,
	quotas: Quotas,
	temporaryFolder: string,
	users: Pick<UserStore, 'get'>,
	feeds: FolderFeeds,
	names: PublishedNames,
): Files {
	const guards = new WeakMap<StorageProvider, SpaceGuard>();
	/** Each disk keeps a part of its own free. */
	const spaceFor = async (viewer: Viewer): Promise<SpaceGuard> => {
		const { storage: disk } = await storage().mountAt(treeOf(viewer));
		// It asks the disk itself: the home by which the disk was found may lie on another one later.
		const guard = guards.get(disk) ?? createSpaceGuard(() => availableSpace(disk, uploads));
		guards.set(disk, guard);
		return guard;
	};

	const visibleTrees = async (viewer: Viewer): Promise<Owner[]> => {
		const own = viewer.kind === 'user' ? [viewer.username] : [];
		const others = publicListing === 'everyone' ? (await homesOnDisk(storage())).filter(isValidUsername) : [];
		return [...new Set<Owner>([...own, null, anonymousOwner, ...others])];
	};

	/** The places that a listing of the folder shows. */
	const shownPlaces = async (viewer: Viewer, { area, path }: ItemRef): Promise<Place[]> => {
		assertAllowed(browseDenial(viewer, area));
		if (area === 'private') return [privatePlace(viewer, path)];
		return (await visibleTrees(viewer)).map((owner) => publicPlace(owner, path));
	};

	const place = async (viewer: Viewer, ref: ItemRef): Promise<Place> => {
		assertAllowed(readDenial(viewer, ref, publicListing));
		return readPlace(storage(), viewer, ref, () => visibleTrees(viewer));
	};

	/** Throws `conflict` if the user was renamed, disabled or removed during the request: nothing may be written under the old name any more. */
	const assertStillThere = async (viewer: Viewer): Promise<void> => {
		if (viewer.kind === 'anonymous') return;
		const user = await users.get(viewer.id);
		if (user?.username !== viewer.username || user.isDisabled)
			throw new Failure('conflict', 'The account was changed meanwhile. Please sign in again.');
	};

	/** Creates the missing folders of the viewer's home. */
	const makeOwnHome = async (viewer: Viewer): Promise<void> => {
		await assertStillThere(viewer);
		await makeHome(storage(), viewer.kind === 'user' ? viewer.username : anonymousOwner);
	};

	/** Runs `work`, which writes into the viewer's tree. The tree is created first if it is missing. */
	const inTree = async <T>(viewer: Viewer, write: () => Promise<T>): Promise<T> => {
		try {
			return await write();
		} catch (error) {
			if (!isFailure(error, 'notFound')) throw error;
			await makeOwnHome(viewer);
			return write();
		}
	};

	const assertFolder = async ({ at }: Place): Promise<void> => {
		const found = await storage().stat(at);
		if (found.type !== 'directory') throw new Failure('notFound', 'There is no such folder.');
	};

	const moveItem = async (
		viewer: Viewer,
		from: StoragePath,
		to: StoragePath,
		options: NamingOptions = {},
	): Promise<StorageItem> => {
		const moved = await watcher.moving(viewer, from, (before) =>
			storage().move(from, to, { ...options, beforeNaming: (name) => before(joinPath(parentPath(to), name)) }),
		);
		feeds.publish(from);
		return moved;
	};

	const files: Files = {
		async *list(viewer, folder, onMissing) {
			const places = await shownPlaces(viewer, folder);
			const [own] = places;
			if (folder.area === 'public' || own === undefined) return yield* listMerged(storage(), places, onMissing);
			if (folder.path === '') await inTree(viewer, () => assertFolder(own));
			yield* listPlace(storage(), own);
		},

		async search(viewer, folder, term, signal) {
			return searchPlaces(storage(), await shownPlaces(viewer, folder), term, signal);
		},

		async watch(viewer, folder, onChange) {
			const places = await shownPlaces(viewer, folder);
			if (folder.area === 'private') {
				await inTree(viewer, () => Promise.all(places.map(assertFolder)));
			} else if (folder.path !== '') {
				await Promise.any(places.map(assertFolder)).catch((error: AggregateError) => {
					throw error.errors.find((each) => !isFailure(each, 'notFound')) ?? notThere();
				});
			}
			const treesAt = folder.area === 'public' && publicListing === 'everyone' ? parsePath('users') : undefined;
			return watchPlaces(storage(), feeds, () => shownPlaces(viewer, folder), treesAt, onChange);
		},

		async find(viewer, ref) {
			const found = await place(viewer, ref);
			return entryOf(found, await storage().stat(found.at));
		},

		async open(viewer, ref) {
			const found = await place(viewer, ref);
			const file = await storage().open(found.at);
			return { entry: entryOf(found, file.item), file };
		},

		async *stat(viewer, area, items, signal) {
			let trees: Promise<Owner[]> | undefined;
			const visible = () => {
				trees ??= visibleTrees(viewer);
				return trees;
			};
			for (const { path, owner } of items) {
				signal?.throwIfAborted();
				const ref: ItemRef = { area, path, ...(owner === undefined ? {} : { owner }) };
				assertAllowed(readDenial(viewer, ref, publicListing));
				if (path === '') throw notThere();
				const found = await readPlace(storage(), viewer, ref, visible);
				yield walkedItem(found, await storage().stat(found.at));
			}
		},

		async *survey(viewer, folder) {
			yield* surveyPlace(storage(), await place(viewer, folder));
		},

		async createFolder(viewer, folder, name) {
			assertAllowed(createFolderDenial(viewer, folder));
			if (trimName(name) === '') throw new Failure('invalidName', 'Please enter a folder name');
			const parent = ownPlace(viewer, folder);
			const at = joinPath(parent.at, normalizeName(name));
			const made = await quotas.adding(viewer, async ({ add }) => {
				await add({ bytes: 0, entries: 1 });
				return inTree(viewer, () => storage().makeDirectory(at)).catch((error: unknown) => {
					if (!isFailure(error, 'notFound')) throw error;
					throw new Failure('notFound', `There is no such folder: ${folder.path}`, { cause: error });
				});
			});
			feeds.publish(at);
			return entryIn(parent, made, 0);
		},

		async rename(viewer, item, newName) {
			assertAllowed(renameDenial(viewer, item));
			const from = ownPlace(viewer, item);
			const name = newName === baseName(item.path) ? newName : normalizeName(newName);
			// A rename to the same name changes nothing and is a success, if there is such a thing at all.
			if (name === baseName(item.path)) return rowOf(from, await storage().stat(from.at));
			const renamed = await moveItem(viewer, from.at, joinPath(parentPath(from.at), name));
			return rowOf(from, renamed);
		},

		async move(viewer, item, toPath) {
			assertAllowed(moveDenial(viewer, item, { area: item.area, path: toPath }));
			const target = { area: item.area, path: normalTarget(item.path, toPath) };
			const from = ownPlace(viewer, item);
			return arrive(viewer, from, ownPlace(viewer, target), (path, options) =>
				moveItem(viewer, from.at, path, options),
			);
		},

		async copy(viewer, item, to, options = {}) {
			assertAllowed(copyDenial(viewer, item));
			const from = await place(viewer, item);
			// Only now is the owner of an item known that was named without one.
			assertAllowed(copyToDenial(viewer, from, to));
			const target = { ...to, path: normalTarget(item.path, to.path) };
			const asker = (await spaceFor(viewer)).beginGrants();
			const staged = options.staged && (await namedCopy(names, options.staged));
			try {
				return await arrive(viewer, from, ownPlace(viewer, target), (path, naming, take) =>
					storage().copy(from.at, path, {
						...options,
						...naming,
						staged,
						beforeNaming: staged && ((name) => staged.recordName(name, baseName(path))),
						async beforeItem(item) {
							await take({ bytes: item.size, entries: 1 });
							await options.beforeItem?.(item);
						},
						beforeBytes: asker.reserve,
					}),
				);
			} finally {
				asker.end();
			}
		},

		discardCopy: (id) => storage().discardCopy(id),

		async remove(viewer, item) {
			assertAllowed(deleteDenial(viewer, item));
			const { at } = ownPlace(viewer, item);
			await quotas.removing(
				viewer,
				() => storage().stat(at),
				() => watcher.removing(viewer, at, () => storage().remove(at)),
			);
			feeds.publish(at);
		},

		async stage(viewer, id) {
			const space = await spaceFor(viewer);
			if (id === undefined) await space.assertSpace();
			return space.guarded(await storage().stage(id, treeOf(viewer)));
		},

		async lend(viewer, staged, use) {
			const reservation = await quotas.reserve(viewer);
			try {
				const space = await spaceFor(viewer);
				const direct = await storage().stage(staged.id);
				const reserve = (bytes: number) => reservation.add({ bytes, entries: 0 });
				return await lendStaged({ direct, guarded: staged, space, reserve, temporaryFolder }, use);
			} finally {
				// The publishing call checks it again.
				reservation.release();
			}
		},

		async assertUpload(viewer, folder) {
			assertAllowed(uploadDenial(viewer, folder));
			await inTree(viewer, () => assertFolder(ownPlace(viewer, folder)));
		},

		async publish(viewer, folder, requests, options) {
			await assertStillThere(viewer);
			await files.assertUpload(viewer, folder);
			const parent = ownPlace(viewer, folder);
			const staged = requests.map((request) => request.staged);
			const all = () => publishAll(storage(), parent.at, requests, log, options && { ...options, names });
			const items = await quotas.publishing(viewer, staged, all);
			for (const { name } of items) feeds.publish(joinPath(parent.at, name));
			return items.map((item) => entryIn(parent, item));
		},

		async publishOnce(viewer, folder, arrival) {
			await assertStillThere(viewer);
			await files.assertUpload(viewer, folder);
			const parent = ownPlace(viewer, folder);
			const publish = async () => [await publishOnce(storage(), names, parent.at, arrival)];
			const [item] = (await quotas.publishing(viewer, [arrival.staged], publish)) as [StorageItem];
			feeds.publish(joinPath(parent.at, item.name));
			return entryIn(parent, item);
		},

		async findPublished(viewer, folder, stagedId, name) {
			const parent = ownPlace(viewer, folder);
			const item = await findPublished(storage(), names, parent.at, stagedId, name);
			return item && entryIn(parent, item);
		},
	};

	/** Moves or copies `from` to the wished path or the next free name beside it. The parents are created only once the source is known to exist. */
	async function arrive(
		viewer: Viewer,
		from: Place,
		to: Place,
		bring: (path: StoragePath, options: NamingOptions, take: Reservation['add']) => Promise<StorageItem>,
	): Promise<Entry> {
		const source = () => storage().stat(from.at);
		const item = await retryOnRemovedItems(source, ({ type }) =>
			quotas.adding(viewer, async ({ add }) => {
				await makeOwnHome(viewer);
				const made = await ensureFolder(storage(), parentPath(to.at), pathSegments(from.path));
				try {
					await add({ bytes: 0, entries: made.length });
					const place = (path: StoragePath, options: NamingOptions) => bring(path, options, add);
					return await withFreeName(parentPath(to.at), baseName(to.at), type, place);
				} catch (error) {
					await removeCreatedFolders(storage(), made);
					throw error;
				}
			}),
		);
		feeds.publish(to.at);
		return rowOf(to, item);
	}

	/** The row of the item at a place, or of one beside it under another name. */
	function rowOf(at: Place, item: StorageItem): Promise<Entry> {
		if (at.path === '') throw notThere();
		return countedRow(storage(), parentOf(at), item);
	}

	return files;
}

/** The name at the end of a path from a client is validated, unless the item has it already. */
function normalTarget(from: StoragePath, to: StoragePath): StoragePath {
	return baseName(from) === baseName(to) ? to : joinPath(parentPath(to), normalizeName(baseName(to)));
}

function parentOf({ area, owner, path, at }: Place): Place {
	return { area, owner, path: parentPath(path), at: parentPath(at) };
}

function entryOf(place: Place, item: StorageItem): Entry {
	if (place.path === '') throw notThere();
	return entryIn(parentOf(place), item);
}
