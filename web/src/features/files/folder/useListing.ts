import type { LetterFilter, MemberRole } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { NetworkFailure } from '../../../api/client/client.js';
import { isTransient } from '../../../api/client/retries.js';
import { firstEntriesQuery, listingQuery } from '../../../api/listings/listingQuery.js';
import { isSearch } from '../../../api/listings/search.js';
import { sortedEntries } from '../../../api/listings/sortedEntries.js';
import { useFileSource } from '../../../api/sources/FileSource.js';
import { filterByLetter, type Rows, rowsOf } from '../list/rows.js';
import type { FolderLocation } from '../location/location.js';
import { refetchIntervalAfter } from './refreshPolicy.js';

export interface Listing {
	/** Undefined while they are loading, or if they can't be shown. */
	rows: Rows | undefined;
	/** The first rows while the others are loading, if they are known to stay the first. */
	firstRows?: Rows | undefined;
	/** The owner of a shared folder, and what the user may do in it, as far as that is known. */
	owner: string | undefined;
	role: MemberRole | undefined;
	/** Why there are none. */
	error: Error | null;
	/** Why the list on screen could not be refreshed, although the server responds. */
	refreshError: Error | null;
	/** The list on screen could not be refreshed, since the server does not respond. */
	isOffline: boolean;
	isTruncated: boolean;
	/** Files of an unavailable disk are missing. */
	isIncomplete: boolean;
	refresh: () => Promise<unknown>;
}

/** The rows of a folder or a search, sorted and filtered. Where there are events of it, its page listens to them (`useFolderEvents`). */
export function useListing(location: FolderLocation, letter: LetterFilter): Listing {
	const { directory, sort } = location;
	const source = useFileSource();
	const { data, error, refetch } = useQuery({
		...listingQuery(source, directory, location, sort),
		enabled: source.reader !== undefined,
		refetchOnWindowFocus: true,
		// However fresh, since change events may have been missed.
		refetchOnReconnect: 'always',
		refetchInterval: ({ state }) => refetchIntervalAfter(state.error, state.data !== undefined),
	});

	const entries = data?.entries;
	const sorted = useMemo(() => entries && sortedEntries(entries, sort), [entries, sort]);
	const rows = useMemo(
		() => sorted && rowsOf(filterByLetter(sorted, letter), directory !== ''),
		[sorted, letter, directory],
	);
	const { data: first } = useQuery(firstEntriesQuery(source, directory));
	const firstRows = useMemo(
		() => (first?.sorted === sort ? rowsOf(filterByLetter(first.entries, letter), directory !== '') : undefined),
		[first, sort, letter, directory],
	);

	// After a transient error the last rows stay; after any other, such as a removed folder, they do not.
	const isKept = rows !== undefined && (error === null || isTransient(error));
	const isOffline = isKept && error instanceof NetworkFailure;
	return {
		rows: isKept ? rows : undefined,
		firstRows: rows === undefined && error === null && !isSearch(location) ? firstRows : undefined,
		owner: isKept ? data?.owner : undefined,
		role: isKept ? data?.role : undefined,
		error: isKept ? null : error,
		refreshError: isKept && !isOffline ? error : null,
		isOffline,
		isTruncated: data?.truncated ?? false,
		isIncomplete: (data?.missing ?? []).length > 0,
		refresh: refetch,
	};
}
