import type { StoragePath, Viewer } from '@stowage/rules';

/**
 * A component that stores items by their place in the storage, and so must be called back with each change of them.
 * Errors of the work are passed on.
 */
export interface ItemTracker {
	/** Runs `move`, which moves the viewer's own item, and awaits `before` with each target path before it is tried. */
	moving<T>(
		viewer: Viewer,
		from: StoragePath,
		move: (before: (to: StoragePath) => Promise<void>) => Promise<T>,
	): Promise<T>;
	/** Runs `replace`, which replaces a file of the viewer's own, and binds what belonged to it to the new one. */
	replacing<T>(viewer: Viewer, replace: () => Promise<T>): Promise<T>;
	/** Runs `remove`, which removes the viewer's own item. */
	removing(viewer: Viewer, at: StoragePath, remove: () => Promise<void>): Promise<void>;
}
