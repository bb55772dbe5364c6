import type { StoragePath } from '@stowage/rules';
import type { StorageProvider } from './storage.js';

/** Something that is followed until it is closed. */
export interface Watch {
	/** Nothing is told after this. May be called again. */
	close(): void;
}

/** What somebody who follows a folder is told. */
export interface FolderListener {
	/** Rows of the folder have changed, or may have. */
	onChange(): void;
	/** The folder is no longer at its path, or can't be followed any longer: nothing more is told. */
	onEnd(): void;
}

/** A storage that tells of changes as they happen, whoever makes them. */
export interface WatchingStorage extends StorageProvider {
	/**
	 * Follows the rows of one folder; when it resolves, no later change is missed. Throws `notFound`. Resolves to nothing where changes are not told as they
	 * happen (files that come over a network, a limit of the system that is reached): then look at the folder now and then.
	 */
	watch(path: StoragePath, listener: FolderListener): Promise<Watch | undefined>;
}

/** Whether a storage has this ability. */
export function hasWatch(storage: StorageProvider): storage is WatchingStorage {
	return 'watch' in storage && typeof storage.watch === 'function';
}
