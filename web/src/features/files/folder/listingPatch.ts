import type { Entry } from '@stowage/rules';
import { keyOf } from '../list/rows.js';

export interface ListingPatch {
	removed?: readonly Pick<Entry, 'path' | 'owner' | 'role'>[];
	added?: readonly Entry[];
}

/** Applies a change that the server has confirmed, until the folder is fetched again. */
export function patchEntries<E extends Entry>(entries: readonly E[], { removed = [], added = [] }: ListingPatch): E[] {
	const changed = new Set([...removed, ...added].map(keyOf));
	return [...entries.filter((entry) => !changed.has(keyOf(entry))), ...(added as readonly E[])];
}
