import { type Entry, insertEntries, type SortMode } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { listingQuery } from '../../../api/listings/listingQuery.js';
import { ordersOf, sortedEntries } from '../../../api/listings/sortedEntries.js';
import { useFileSource } from '../../../api/sources/FileSource.js';
import { keyOf } from '../list/rows.js';
import type { FolderLocation } from '../location/location.js';

export interface ListingPatch {
	removed?: readonly Pick<Entry, 'path' | 'owner' | 'role'>[];
	added?: readonly Entry[];
}

/** Shows changes of a folder that the server has confirmed, before it is fetched again. */
export function useListingPatch(location: FolderLocation): (patch: ListingPatch) => void {
	const source = useFileSource();
	const queryClient = useQueryClient();
	return useCallback(
		(patch) => {
			const { queryKey } = listingQuery(source, location.directory, location);
			queryClient.setQueryData(queryKey, (old) => old && { ...old, entries: patchEntries(old.entries, patch) });
		},
		[queryClient, location, source],
	);
}

/**
 * Applies a change that the server has confirmed, until the folder is fetched again. The orders in which the entries were shown are kept:
 * sorting a hundred thousand of them anew would stop the page.
 */
export function patchEntries<E extends Entry>(entries: E[], { removed = [], added = [] }: ListingPatch): E[] {
	const changed = new Set([...removed, ...added].map(keyOf));
	const gone = new Set(entries.filter((entry) => changed.has(keyOf(entry))));
	if (gone.size === 0 && added.length === 0) return entries;
	const patch = (order: readonly E[], mode: SortMode) => {
		const left = order.filter((entry) => !gone.has(entry));
		return insertEntries(left, added as readonly E[], mode);
	};
	const patched = patch(sortedEntries(entries, 'name'), 'name');
	for (const [mode, order] of ordersOf(entries))
		ordersOf(patched).set(mode, mode === 'name' ? patched : patch(order, mode));
	return patched;
}
