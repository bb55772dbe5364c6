import type { RootRecord } from '@stowage/plugin-api';
import type { Mount } from '../storage/Mounts.js';

/** A mount with its location; null for the configured one. */
export interface OpenMount extends Mount {
	readonly location: string | null;
}

export function mountWithId(mounts: readonly OpenMount[], rootId: string | undefined): OpenMount | undefined {
	return mounts.find(({ storage }) => storage.rootId === rootId);
}

/** The root of new homes: the one that is recorded as such, or the first. */
export function defaultOf(records: readonly RootRecord[], mounts: readonly OpenMount[]): OpenMount {
	const rootId = records.find(({ isDefault }) => isDefault)?.rootId;
	return mountWithId(mounts, rootId) ?? (mounts[0] as OpenMount);
}

export async function closeAll(mounts: readonly Mount[]): Promise<void> {
	await Promise.all(mounts.map(({ storage }) => storage.close()));
}

/** The `mounts` whose storage is in none of `others`. */
export function missingFrom(mounts: readonly Mount[], others: readonly Mount[]): Mount[] {
	return mounts.filter(({ storage }) => !others.some((other) => other.storage === storage));
}
