import type { CopyStaging, PublishOptions, PublishRequest, StorageItem, TakenItem } from '@stowage/plugin-api';
import { Failure, isFailure, joinPath, type StoragePath, TriedNames } from '@stowage/rules';
import { identityOf } from '../../trees/identity.js';
import type { OwnTree } from '../../trees/OwnTree.js';
import type { ItemStorage } from '../../trees/storage/Mounts.js';
import { childOf, type Place } from '../../trees/Tree.js';
import type { FileParts, PublishedNames } from '../FileParts.js';
import { moveMeantToTrash, purgeMoved } from '../moveToTrash.js';
import { createFileVersions } from '../versions.js';
import { assertPlaceable, placeItem } from './placeItem.js';
import { beforeNamingInOrder } from './replaceItem.js';

/** Publishes a file that an interrupted call may have published already: then that entry is returned. Discards nothing. */
export async function publishFileOnce(
	parts: FileParts,
	tree: OwnTree,
	folder: Place,
	request: PublishRequest,
): Promise<StorageItem> {
	const { names } = parts;
	try {
		return await publishAs(parts, tree, folder, request, { names });
	} catch (error) {
		const found = isFailure(error, 'notFound')
			? await findPublishedFile(tree.storage, names, folder.storagePath, request.staged.id, request.name)
			: undefined;
		if (found === undefined) throw error;
		return found;
	}
}

/** The entry that a staged file with this wished name was published as, by this or another process. */
export async function findPublishedFile(
	storage: ItemStorage,
	names: PublishedNames,
	folder: StoragePath,
	stagedId: string,
	requestedName: string,
): Promise<StorageItem | undefined> {
	const recorded = await names.find(stagedId);
	const found = recorded === undefined ? undefined : await storage.findPublished(stagedId, joinPath(folder, recorded));
	// A later attempt may have found the wished name free again.
	return found ?? storage.findPublished(stagedId, joinPath(folder, requestedName));
}

/** A copy that may be continued; it records which other name than the wished one it is about to get. */
export async function namedCopy(
	names: PublishedNames,
	staging: CopyStaging,
): Promise<CopyStaging & { recordName(name: string, wished: string): Promise<void> }> {
	const { id } = staging;
	const copy = {
		id,
		name: id === undefined ? undefined : await names.find(id),
		async onBegin(begun: string) {
			copy.id = begun;
			copy.name = undefined;
			await staging.onBegin(begun);
		},
		async recordName(name: string, wished: string) {
			if (copy.id === undefined || name === wished) return;
			await names.set(copy.id, name);
			copy.name = name;
		},
	};
	return copy;
}

function publishAs(
	parts: FileParts,
	tree: OwnTree,
	folder: Place,
	{ staged, name, mtime, onConflict, onReplaced }: PublishRequest,
	{ names, tried }: { names?: PublishedNames | undefined; tried?: TriedNames },
): Promise<StorageItem> {
	const beforeNaming = names && (async (next: string) => void (next !== name && (await names.set(staged.id, next))));
	const options = mtime === undefined ? {} : { mtime };
	const findPlaced = (path: StoragePath) => tree.storage.findPublished(staged.id, path);
	return placeItem(
		parts,
		tree,
		{ folder, name, type: 'file', content: { kind: 'written' }, onConflict, onReplaced, findPlaced, tried },
		async (path, naming) => {
			await tree.assertMayStill(path);
			return staged.commit(path, {
				...options,
				...naming,
				beforeNaming: beforeNamingInOrder(beforeNaming, naming.beforeNaming),
			});
		},
	);
}

/**
 * Publishes all or none: if one fails, those before it are removed again, what they have replaced is put back, and the
 * rest is discarded, unless `mayRollBack` forbids it. Where no versions are kept, what has replaced a file stays. So
 * those that replace nothing come first, after all has been checked that can be known.
 */
export async function publishAll(
	parts: FileParts,
	tree: OwnTree,
	folder: Place,
	requests: readonly PublishRequest[],
	options?: PublishOptions,
): Promise<StorageItem[]> {
	const { log } = parts;
	const names = options && parts.names;
	const published = new Map<PublishRequest, StorageItem>();
	const replaced = new Map<PublishRequest, StorageItem>();
	const tried = new TriedNames();
	let refused = requests[0];
	try {
		for (const request of await replacingLast(tree, folder, requests)) {
			refused = request;
			const onReplaced = (former: StorageItem) => {
				replaced.set(request, former);
				request.onReplaced?.(former);
			};
			const item = await publishAs(parts, tree, folder, { ...request, onReplaced }, { names, tried });
			published.set(request, item);
		}
		return requests.map((request) => published.get(request) as StorageItem);
	} catch (error) {
		if (refused !== undefined && (await options?.mayRollBack(refused)) === false) throw error;
		const undone = await Promise.allSettled([
			...[...published].map(([request, item]) => {
				const former = replaced.get(request);
				if (former !== undefined) return putBack(parts, tree, folder, item, former);
				return removePublished(parts, tree, childOf(folder, item.name), item);
			}),
			...requests.map(({ staged }) => staged.discard()),
		]);
		// The caller gets the original error, not one of the cleanup.
		for (const each of undone)
			if (each.status === 'rejected') log.error({ err: each.reason }, 'a refused upload could not be rolled back');
		throw error;
	}
}

/** The order in which they are published. Throws for those that can't be, and for two that would replace each other. */
async function replacingLast(
	tree: OwnTree,
	folder: Place,
	requests: readonly PublishRequest[],
): Promise<readonly PublishRequest[]> {
	if (requests.length < 2) return requests;
	const names = new Set<string>();
	const adding: PublishRequest[] = [];
	const replacing: PublishRequest[] = [];
	for (const request of requests) {
		const { name, onConflict } = request;
		if (onConflict?.kind === 'replace' && names.has(name))
			throw new Failure('invalid', `Two files of one upload can’t both replace ${name}.`);
		names.add(name);
		const isReplacing = await assertPlaceable(tree, folder, request);
		(isReplacing ? replacing : adding).push(request);
	}
	return [...adding, ...replacing];
}

/**
 * Puts back what a file has replaced, if that was kept as a version and nobody has replaced the file since, and
 * removes the file for good.
 */
async function putBack(
	parts: FileParts,
	tree: OwnTree,
	folder: Place,
	item: StorageItem,
	former: StorageItem,
): Promise<void> {
	await tree.quota.stayed(item);
	const { viewer, area } = tree;
	const versions = createFileVersions(parts);
	const ref = { area, path: joinPath(folder.path, item.name) };
	const newest = async () => (await versions.list(viewer, ref))[0];
	const kept = await newest();
	if (kept?.replacedId !== identityOf(former)) return;
	await versions.restore(viewer, ref, kept.id);
	const refused = await newest();
	if (refused?.replacedId === identityOf(item)) await versions.purge(viewer, refused.id);
}

/** Removes a file for good, unless it was replaced by another one since, or written to. */
async function removePublished(parts: FileParts, tree: OwnTree, place: Place, published: StorageItem): Promise<void> {
	const { id, version } = published;
	try {
		const isMeant = async ({ item }: TakenItem) => item.id === id && item.version === version;
		const moved = await moveMeantToTrash(parts, tree, place, isMeant, { isForGood: true });
		// It is counted as removed, and was not counted before.
		if (tree.viewer.kind === 'user') await tree.quota.stayed(published);
		await purgeMoved(parts, tree, moved);
	} catch (error) {
		if (!isFailure(error, 'notFound') && !isFailure(error, 'preconditionFailed')) throw error;
	}
}
