import type { Entry, StoragePath } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { hitsQuery } from '../../../api/listings/listingQuery.js';
import { noSearch, type Search } from '../../../api/listings/search.js';
import { useFileSource } from '../../../api/sources/FileSource.js';

export interface Hits {
	/**
	 * Undefined while the first ones are loading, or if they can't be. Until those of a longer term have come they are
	 * those of the shorter one.
	 */
	hits: readonly Entry[] | undefined;
	isLoading: boolean;
	error: Error | null;
}

/** The best hits of a search, if they are wanted. As soon as they are not, the call that is under way is cancelled. */
export function useHits(directory: StoragePath, search: Search, isWanted: boolean): Hits {
	const source = useFileSource();
	// A disabled query would go on to its end.
	const query = hitsQuery(source, directory, isWanted ? search : noSearch);
	const place = JSON.stringify(query.queryKey.slice(0, -1));
	const { data, error, isFetching } = useQuery({
		...query,
		enabled: isWanted && source.reader !== undefined,
		placeholderData: (last, lastQuery) =>
			JSON.stringify(lastQuery?.queryKey.slice(0, -1)) === place ? last : undefined,
	});
	return { hits: data, isLoading: isFetching || source.reader === undefined, error };
}
