import { type Entry, isFailure, type LetterFilter, type SortMode, sortEntries } from '@stowage/rules';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { NetworkFailure } from '../../../api/client/client.js';
import { useFolderEvents } from '../../../api/events/useFolderEvents.js';
import { listingQuery } from '../../../api/listings/listingQuery.js';
import { filterByLetter, type Rows, rowsOf } from '../list/rows.js';
import type { BrowserLocation } from '../location/location.js';
import { type ListingPatch, patchEntries } from './listingPatch.js';

/** How often a server that does not answer is asked again, in milliseconds. */
const reconnectInterval = 4000;

export interface Listing {
	/** Undefined while they are loading, or if they can't be shown. */
	rows: Rows | undefined;
	error: Error | null;
	/** The list on screen could not be read again, since nobody answers. */
	isCutOff: boolean;
	isTruncated: boolean;
	refresh: () => Promise<unknown>;
	patch: (patch: ListingPatch) => void;
}

/** The rows of a folder or a search, in order and filtered. They follow what happens to the folder. */
export function useListing(location: BrowserLocation, letter: LetterFilter, isSignedIn: boolean | undefined): Listing {
	const { area, directory, search, sort } = location;
	const queryClient = useQueryClient();
	const query = listingQuery(area, directory, search, isSignedIn ?? false);
	const { data, error, refetch } = useQuery({
		...query,
		enabled: isSignedIn !== undefined,
		refetchOnWindowFocus: true,
		// However fresh: nobody knows what was missed.
		refetchOnReconnect: 'always',
		// A hundred thousand entries are compared in vain: whatever has changed, the rows are made anew.
		structuralSharing: false,
		refetchInterval: ({ state }) => (state.error instanceof NetworkFailure ? reconnectInterval : false),
	});
	useFolderEvents(area, directory, isSignedIn);

	const entries = data?.entries;
	const sorted = useMemo(() => entries && sortedEntries(entries, sort), [entries, sort]);
	const rows = useMemo(
		() => sorted && rowsOf(filterByLetter(sorted, letter), directory !== ''),
		[sorted, letter, directory],
	);

	const key = JSON.stringify(query.queryKey);
	const patch = useCallback(
		(change: ListingPatch) => {
			queryClient.setQueryData<typeof data>(
				JSON.parse(key),
				(old) => old && { ...old, entries: patchEntries(old.entries, change) },
			);
		},
		[queryClient, key],
	);
	return {
		// A folder that has gone is not shown any longer; one that can't be asked for is.
		rows: error && !isFailure(error, 'unavailable') ? undefined : rows,
		error: error && (rows === undefined || !isFailure(error, 'unavailable')) ? error : null,
		isCutOff: rows !== undefined && error instanceof NetworkFailure,
		isTruncated: data?.truncated ?? false,
		refresh: refetch,
		patch,
	};
}

/** Orders of the entries that were shown before, so that going back to one costs nothing. They go with the entries. */
const orders = new WeakMap<readonly Entry[], Map<SortMode, Entry[]>>();

function sortedEntries(entries: readonly Entry[], sort: SortMode): Entry[] {
	const known = orders.get(entries) ?? new Map<SortMode, Entry[]>();
	orders.set(entries, known);
	const sorted = known.get(sort) ?? sortEntries(entries, sort);
	known.set(sort, sorted);
	return sorted;
}
