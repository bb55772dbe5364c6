import { type Entry, isFailure, type LetterFilter, type SortMode, sortEntries } from '@stowage/rules';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { NetworkFailure } from '../../../api/client/client.js';
import { useFolderEvents } from '../../../api/events/useFolderEvents.js';
import { listingQuery } from '../../../api/listings/listingQuery.js';
import { filterByLetter, type Rows, rowsOf } from '../list/rows.js';
import type { BrowserLocation } from '../location/location.js';
import { type ListingPatch, patchEntries } from './listingPatch.js';

/** How often the listing is fetched while the server does not respond. */
const reconnectIntervalMs = 4000;

export interface Listing {
	/** Undefined while they are loading, or if they can't be shown. */
	rows: Rows | undefined;
	error: Error | null;
	/** The list on screen could not be refreshed, since the server does not respond. */
	isCutOff: boolean;
	isTruncated: boolean;
	refresh: () => Promise<unknown>;
	patch: (patch: ListingPatch) => void;
}

/** The rows of a folder or a search, sorted and filtered. They are refreshed when the folder changes. */
export function useListing(location: BrowserLocation, letter: LetterFilter, isSignedIn: boolean | undefined): Listing {
	const { area, directory, search, sort } = location;
	const queryClient = useQueryClient();
	const query = listingQuery(area, directory, search, isSignedIn ?? false);
	const { data, error, refetch } = useQuery({
		...query,
		enabled: isSignedIn !== undefined,
		refetchOnWindowFocus: true,
		// However fresh, since change events may have been missed.
		refetchOnReconnect: 'always',
		// Comparing a hundred thousand entries would be in vain: the rows are rebuilt after any change.
		structuralSharing: false,
		refetchInterval: ({ state }) => (state.error instanceof NetworkFailure ? reconnectIntervalMs : false),
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
		// While the server is unavailable the last rows stay; after any other error, such as a removed folder, they do not.
		rows: error && !isFailure(error, 'unavailable') ? undefined : rows,
		error: error && (rows === undefined || !isFailure(error, 'unavailable')) ? error : null,
		isCutOff: rows !== undefined && error instanceof NetworkFailure,
		isTruncated: data?.truncated ?? false,
		refresh: refetch,
		patch,
	};
}

/** Caches the sorted entries for each sort mode, as long as the entries exist. */
const sortCache = new WeakMap<readonly Entry[], Map<SortMode, Entry[]>>();

function sortedEntries(entries: readonly Entry[], sort: SortMode): Entry[] {
	const cached = sortCache.get(entries) ?? new Map<SortMode, Entry[]>();
	sortCache.set(entries, cached);
	const sorted = cached.get(sort) ?? sortEntries(entries, sort);
	cached.set(sort, sorted);
	return sorted;
}
