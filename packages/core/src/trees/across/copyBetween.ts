import type { CopyOptions, CopyStaging, StorageItem, StorageProvider } from '@stowage/plugin-api';
import { Failure, type StoragePath, undefinedIf } from '@stowage/rules';
import type { MountedStaging } from '../storage/MountedStaging.js';
import { ignoreMissing, type Mount } from '../storage/Mounts.js';
import { prefixed, prefixOf, withoutPrefix, withPrefix } from '../storage/rootIds.js';
import { copyAcross, findCopyAcross } from './copyAcross.js';

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

/** The item at `to`, if it is this staged copy, published there by a call that was interrupted. Nothing is copied. */
export async function findCopyBetween(
	from: MountedPath,
	to: MountedPath,
	{ id, name }: Pick<CopyStaging, 'id' | 'name'>,
): Promise<StorageItem | undefined> {
	const { storage, idPrefix } = to.mount;
	// What was begun on the root on which the home lay before was not published on this one.
	if (id === undefined || prefixOf(id) !== idPrefix) return undefined;
	const own = withoutPrefix(id, idPrefix);
	const found = await (from.mount === to.mount
		? findCopyWithin(storage, from.path, to.path, { id: own, name })
		: findCopyAcross(storage, own, to.path, name));
	return found && prefixed(found, idPrefix);
}

/** A storage looks for a published copy first, and then refuses to replace a version that no file has. */
function findCopyWithin(
	storage: StorageProvider,
	from: StoragePath,
	to: StoragePath,
	staged: Pick<CopyStaging, 'id' | 'name'>,
): Promise<StorageItem | undefined> {
	const copied = storage.copy(from, to, {
		staged: { ...staged, onBegin: async () => {} },
		onConflict: { replace: '' },
		async beforeItem() {
			throw new Failure('preconditionFailed', 'No copy was published there.');
		},
	});
	return undefinedIf(copied, 'preconditionFailed', 'invalid');
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
