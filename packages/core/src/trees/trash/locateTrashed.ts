import type { StorageItem, TrashRecord } from '@stowage/plugin-api';
import { isFailure, joinPath, type StoragePath, undefinedIf } from '@stowage/rules';
import type { Mount } from '../storage/Mounts.js';
import { unrecordedName } from './recording/unrecordedNames.js';
import type { TrashParts } from './trashParts.js';
import { trashedPath, unrecordedFolder } from './trashPaths.js';

/** Where an item of the trash was found. */
interface Located {
	mount: Mount;
	item: StorageItem;
	/** Its path on that root. Where the disk had no room for its note yet, the path by which it has arrived. */
	path: StoragePath;
}

/**
 * Where an item is in the trash: on the root that its row names, or on the one to which its home was just moved, which
 * the row names from then on. Throws `unavailable`.
 */
export async function locateTrashed(
	{ storage, store }: Pick<TrashParts, 'storage' | 'store'>,
	record: TrashRecord,
): Promise<Located | undefined> {
	const { id, rootId } = record;
	const mounts = storage().mounts();
	const isNamed = (mount: Mount) => mount.storage.rootId === rootId;
	let away: unknown;
	for (const mount of [...mounts.filter(isNamed), ...mounts.filter((each) => !isNamed(each))]) {
		try {
			const found = await findOn(mount, record);
			if (found === undefined) continue;
			if (!isNamed(mount)) await store.setRoot(id, mount.storage.rootId);
			return { mount, ...found };
		} catch (error) {
			if (!isFailure(error, 'unavailable')) throw error;
			away ??= error;
		}
	}
	if (away !== undefined) throw away;
	return undefined;
}

async function findOn({ storage }: Mount, record: TrashRecord): Promise<Omit<Located, 'mount'> | undefined> {
	const paths = [trashedPath(record.id)];
	const arrived = record.kind === 'item' ? unrecordedName(record) : undefined;
	// It may get its own name between the two.
	if (arrived !== undefined) paths.push(joinPath(unrecordedFolder, arrived), trashedPath(record.id));
	for (const path of paths) {
		const item = await undefinedIf(storage.stat(path), 'notFound', 'invalidName');
		if (item !== undefined) return { path, item };
	}
	return undefined;
}

/** Whether an item is in the trash of a root that is there. */
export async function isTrashed(parts: Pick<TrashParts, 'storage' | 'store'>, record: TrashRecord): Promise<boolean> {
	try {
		return (await locateTrashed(parts, record)) !== undefined;
	} catch (error) {
		if (isFailure(error, 'unavailable')) return false;
		throw error;
	}
}
