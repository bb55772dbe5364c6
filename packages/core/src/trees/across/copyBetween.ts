import type { CopyOptions, CopyStaging, StorageItem } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import type { MountedStaging } from '../storage/MountedStaging.js';
import { ignoreMissing, type Mount } from '../storage/Mounts.js';
import { prefixed, prefixOf, withoutPrefix, withPrefix } from '../storage/rootIds.js';
import { copyAcross } from './copyAcross.js';

/** A path on a root. */
interface MountedPath {
	mount: Mount;
	path: StoragePath;
}

interface Options extends CopyOptions {
	staging: MountedStaging;
	/** Throws `locked` while the home of the copy is frozen. */
	assertUnfrozen(): void;
}

/**
 * Copies within a root or to another one. It may take hours, for which no home stays frozen: it is interrupted, and a
 * staged one continues afterwards.
 */
export async function copyBetween(
	from: MountedPath,
	to: MountedPath,
	{ staged, staging, assertUnfrozen, ...options }: Options,
): Promise<StorageItem> {
	const target = to.mount;
	const targetOptions: CopyOptions = {
		...options,
		async beforeItem(item) {
			assertUnfrozen();
			await options.beforeItem?.(item);
		},
		async beforeBytes(bytes) {
			assertUnfrozen();
			await options.beforeBytes?.(bytes);
		},
		...(staged && { staged: await stagedOn(target, staged, staging) }),
	};
	const made =
		from.mount === target
			? target.storage.copy(from.path, to.path, targetOptions)
			: copyAcross(from.mount.storage, from.path, target.storage, to.path, targetOptions);
	return prefixed(await made, target.idPrefix);
}

/** The staged copy as its root has it. One that was begun on the root on which the home lay before begins again. */
async function stagedOn({ idPrefix }: Mount, staged: CopyStaging, staging: MountedStaging): Promise<CopyStaging> {
	const isHere = staged.id !== undefined && prefixOf(staged.id) === idPrefix;
	if (staged.id !== undefined && !isHere) await staging.discardCopy(staged.id).catch(ignoreMissing);
	return {
		id: isHere && staged.id !== undefined ? withoutPrefix(staged.id, idPrefix) : undefined,
		name: staged.name,
		onBegin: (id) => staged.onBegin(withPrefix(id, idPrefix)),
	};
}
