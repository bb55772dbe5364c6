import type { Area, Entry, StoragePath } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { hitsQuery } from '../../../api/listings/listingQuery.js';
import { noSearch, type Search } from '../../../api/listings/search.js';

export interface HitsPlace {
	area: Area;
	directory: StoragePath;
	/** Undefined until the session was checked. */
	isSignedIn: boolean | undefined;
}

export interface Hits {
	/** Undefined while the first ones are loading, or if they can't be. Until those of a longer term have come they are those of the shorter one. */
	hits: readonly Entry[] | undefined;
	isLoading: boolean;
	error: Error | null;
}

/** The best hits of a search, if they are wanted. As soon as they are not, the call that is under way is cancelled. */
export function useHits({ area, directory, isSignedIn }: HitsPlace, search: Search, isWanted: boolean): Hits {
	// A disabled query would go on to its end.
	const query = hitsQuery(area, directory, isWanted ? search : noSearch, isSignedIn ?? false);
	const place = JSON.stringify(query.queryKey.slice(0, -1));
	const { data, error, isFetching } = useQuery({
		...query,
		enabled: isWanted && isSignedIn !== undefined,
		placeholderData: (last, lastQuery) =>
			JSON.stringify(lastQuery?.queryKey.slice(0, -1)) === place ? last : undefined,
	});
	return { hits: data, isLoading: isFetching || isSignedIn === undefined, error };
}
