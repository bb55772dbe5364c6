import { browse, browsePublic, capabilities, checkLoginStatus } from '@stowage/contract';
import { type Area, isFailure } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.js';
import { callListing } from './listings.js';

/** Who is signed in. */
export const sessionQuery = queryOptions({
	queryKey: ['session'],
	queryFn: ({ signal }) => call(checkLoginStatus, { signal }),
	staleTime: 60_000,
	retry: 1,
	refetchOnWindowFocus: true,
});

/** What the server offers. */
export const capabilitiesQuery = queryOptions({
	queryKey: ['capabilities'],
	queryFn: ({ signal }) => call(capabilities, { signal }),
	staleTime: 5 * 60_000,
	retry: false,
});

/** The key under which every listing of an area lies, or of one folder in it. */
export function listingKey(area: Area, directory?: string) {
	return directory === undefined ? ['listing', area] : ['listing', area, directory];
}

/**
 * What a folder holds, or what a search below it finds. `isSignedIn` is part of the key: a visitor's public view is
 * another one.
 */
export function listingQuery(area: Area, directory: string, search: string, isSignedIn: boolean) {
	return queryOptions({
		queryKey: [...listingKey(area, directory), search, isSignedIn ? 'user' : 'visitor'],
		queryFn: ({ signal }) => {
			const query = { directory, ...(search === '' ? {} : { search }) };
			return isSignedIn
				? callListing(browse, { ...query, type: area }, signal)
				: callListing(browsePublic, query, signal);
		},
		staleTime: 5_000,
		retry: (failures, error) => isFailure(error, 'unavailable') && failures < 2,
	});
}
