import type { Entry } from '@stowage/rules';
import { keyOf } from '../list/rows.js';

export interface ListingPatch {
	removed?: readonly Entry[];
	added?: readonly Entry[];
}

/** The entries after a change that the server has confirmed, until the folder itself is read again. */
export function patchEntries<E extends Entry>(entries: readonly E[], { removed = [], added = [] }: ListingPatch): E[] {
	const gone = new Set([...removed, ...added].map(keyOf));
	return [...entries.filter((entry) => !gone.has(keyOf(entry))), ...(added as readonly E[])];
}
