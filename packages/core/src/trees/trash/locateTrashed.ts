import type { StorageItem, TrashRecord } from '@stowage/plugin-api';
import { isFailure, undefinedIf } from '@stowage/rules';
import type { Mount } from '../storage/Mounts.js';
import type { TrashParts } from './trashParts.js';
import { trashedPath } from './trashPaths.js';

/** Where an item of the trash was found. */
interface Located {
	mount: Mount;
	item: StorageItem;
}

/**
 * Where an item is in the trash: on the root that its row names, or on the one to which its home was just moved. Throws
 * `unavailable`.
 */
export async function locateTrashed(
	{ storage, store }: Pick<TrashParts, 'storage' | 'store'>,
	{ id, rootId }: Pick<TrashRecord, 'id' | 'rootId'>,
): Promise<Located | undefined> {
	const mounts = storage().mounts();
	const isNamed = (mount: Mount) => mount.storage.rootId === rootId;
	let away: unknown;
	for (const mount of [...mounts.filter(isNamed), ...mounts.filter((each) => !isNamed(each))]) {
		try {
			const item = await undefinedIf(mount.storage.stat(trashedPath(id)), 'notFound');
			if (item === undefined) continue;
			if (!isNamed(mount)) await store.setRoot(id, mount.storage.rootId);
			return { mount, item };
		} catch (error) {
			if (!isFailure(error, 'unavailable')) throw error;
			away ??= error;
		}
	}
	if (away !== undefined) throw away;
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
