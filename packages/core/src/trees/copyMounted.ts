import type { CopyOptions, CopyStaging, StorageItem } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import { copyAcross } from './copyAcross.js';
import type { MountedStaging } from './MountedStaging.js';
import { homeAt, ignoreMissing, type Mount, type Mounts, mountAt } from './Mounts.js';
import { prefixed, prefixOf, withoutPrefix, withPrefix } from './rootIds.js';

/** Copies within a root or to another one. It may take hours, for which no home stays frozen: it is interrupted, and a staged one continues afterwards. */
export async function copyMounted(
	mounts: Mounts,
	staging: MountedStaging,
	from: StoragePath,
	to: StoragePath,
	{ staged, ...options }: CopyOptions,
): Promise<StorageItem> {
	const [source, target] = await Promise.all([mountAt(mounts, from), mountAt(mounts, to)]);
	const home = homeAt(to);
	const assertChangeable = () => {
		if (home !== undefined) mounts.assertChangeable(home);
	};
	const targetOptions: CopyOptions = {
		...options,
		async beforeItem(item) {
			assertChangeable();
			await options.beforeItem?.(item);
		},
		async beforeBytes(bytes) {
			assertChangeable();
			await options.beforeBytes?.(bytes);
		},
		...(staged && { staged: await stagedOn(target, staged, staging) }),
	};
	const made =
		source === target
			? source.storage.copy(from, to, targetOptions)
			: copyAcross(source.storage, from, target.storage, to, targetOptions);
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
