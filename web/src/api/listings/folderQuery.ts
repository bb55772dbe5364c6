import type { Area } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { queryKeys } from '../queryKeys.js';
import type { Listing } from './ListingReader.js';

/** The query of `listingQuery` without a search, for pages that rarely need it: its code is loaded when it is first sent. */
export function folderQuery(area: Area, directory: string, isSignedIn: boolean) {
	return queryOptions({
		queryKey: queryKeys.listings.of(area, directory, {}, isSignedIn ? 'user' : 'visitor'),
		queryFn: async ({ signal }): Promise<Listing> => {
			const [{ fetchListing }, { areaSource }] = await Promise.all([
				import('./listingQuery.js'),
				import('../sources/areaSource.js'),
			]);
			return fetchListing(areaSource(area, isSignedIn), { directory }, signal);
		},
		staleTime: 5_000,
	});
}
