import type { StoragePath } from '../names/paths.js';
import type { User } from './areas.js';

/** What whoever has the address of a share may do: look at its items and download them, send files into its folder, or both. */
export const shareModes = ['view', 'upload', 'both'] as const;
export type ShareMode = (typeof shareModes)[number];

/** How a share stands: only an active one answers. */
export const shareStates = ['active', 'paused', 'expired', 'used', 'gone'] as const;
export type ShareState = (typeof shareStates)[number];

export const maxSharedItems = 1_000;
export const shareTextLength = { title: 200, message: 5_000 } as const;

/** An item of a share as its guests see it. */
export interface SharedItem {
	/** Among the items of its share, which may lie in several folders, no other has this name. */
	name: string;
	type: 'file' | 'directory';
	/** Relative to the home of the owner. */
	path: StoragePath;
	/** The storage's id of the item: no other item of that path is meant. */
	itemId: string;
}

/**
 * A caller who has the address of a share, and its password where it has one. The share is the guest's private area: the contents of the one
 * folder that is shared, or the items beside each other. It can be read, and nothing else.
 */
export interface Guest {
	kind: 'guest';
	/** The id of the share, which opens nothing. */
	share: string;
	owner: User;
	root: { kind: 'folder'; folder: SharedItem } | { kind: 'items'; items: readonly SharedItem[] };
}
