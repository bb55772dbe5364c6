import type { StoragePath, Viewer } from '@stowage/rules';

/** Whoever remembers items by where they lie in the storage, and so must hear of what their owner does to them. Both calls throw what the work throws. */
export interface ItemWatcher {
	/** Runs `move`, which takes the viewer's own item from a path to another, each time after it has awaited `before` with that one. */
	moving<T>(
		viewer: Viewer,
		from: StoragePath,
		move: (before: (to: StoragePath) => Promise<void>) => Promise<T>,
	): Promise<T>;
	/** Runs `remove`, which removes the viewer's own item. */
	removing(viewer: Viewer, at: StoragePath, remove: () => Promise<void>): Promise<void>;
}
