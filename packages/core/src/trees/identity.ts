import type { StorageItem } from '@stowage/plugin-api';

/**
 * Identifies an item for as long as it exists, wherever it is moved. If the storage reuses ids, size and modified time
 * are part of it, which both stay when it is moved: there what is bound to an item ends when that is changed, rather
 * than go over to another one.
 */
export function identityOf({ id, mayReuseId, size, mtime }: StorageItem): string {
	return mayReuseId ? `${id} ${size} ${mtime}` : id;
}

/** Tells whose a content is, whatever name the file has by now; never which content, as it stays where a program sets the time back. */
export const contentOf = (item: StorageItem) =>
	item.contentVersion === undefined ? versionOf(item) : `${identityOf(item)} ${item.contentVersion}`;

/** Identifies an item with its content. */
export const versionOf = (item: StorageItem) => `${identityOf(item)} ${item.version}`;
